//! One handle per aggregate. A handle is a reference to the [`Store`]. The aggregate's own file
//! implements its methods. They take the handle by value, so that their futures own it.

use crate::Store;

macro_rules! handles {
    ($($accessor:ident: $handle:ident, $doc:literal;)*) => {
        $(
            #[doc = $doc]
            #[derive(Clone, Copy, Debug)]
            pub struct $handle<'a> {
                pub(crate) store: &'a Store,
            }
        )*

        impl Store {
            $(
                #[doc = $doc]
                pub fn $accessor(&self) -> $handle<'_> {
                    $handle { store: self }
                }
            )*
        }
    };
}

handles! {
    agent_state: AgentState, "The state of an agent as a whole: its memories, goals and plans.";
    allowances: Allowances, "Remembered approvals of the calls of agents.";
    attachments: Attachments, "The files of spaces.";
    blocks: Blocks, "The blocks of words that searches read instead of messages.";
    budgets: Budgets, "What was spent of the budgets of a day.";
    calls: Calls, "Calls of runs that are shown as cards.";
    connections: Connections, "WebSocket connections, their tickets and their subscriptions.";
    deliveries: Deliveries, "Deliveries: the webhook requests of services.";
    due: Due, "Due items: the items that the sweep must act on.";
    entities: Entities, "People and agents.";
    forms: Forms, "Forms: calls that people answer.";
    goals: Goals, "The goals of agents.";
    inbox: Inbox, "The cards that wait for people or agents, of all spaces.";
    idempotency: Idempotency, "Idempotency keys.";
    invites: Invites, "Invites to spaces, and the guests who came by them.";
    members: Members, "The members of spaces.";
    memories: Memories, "The memories of agents.";
    mentions: Mentions, "The lists of messages that name people.";
    messages: Messages, "The messages of spaces, in order.";
    plans: Plans, "The plans of agents.";
    projects: Projects, "Projects, and what was applied last of their objects.";
    prompts: Prompts, "The first prompts of runs, in parts that runs share.";
    quota: Quota, "Runs per minute, by agent.";
    rates: Rates, "How often each caller sends requests.";
    relationships: Relationships, "Which entities know each other.";
    runs: Runs, "Runs, from queued to ended.";
    spaces: Spaces, "Spaces and their settings.";
    steps: Steps, "The steps of runs: model answers and calls.";
    summaries: Summaries, "Summaries of the older history of spaces.";
    triggers: Triggers, "The triggers of runs.";
    usage: UsageRows, "The tokens and the cost of models, by day.";
}
