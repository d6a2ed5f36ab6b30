//! Conversations between people and agents. No run waits for a reply. Each message triggers a new
//! run, which knows only its prompt.

mod approvals;
mod reports;

use serde_json::{Value, json};

use crate::support::{
    model::{Answer, Line, ModelRequest, answer, call, say, stop},
    stack::Stack,
};

/// The first request of each run, in the order of the messages.
fn prompts(stack: &Stack, model: &str) -> Vec<ModelRequest> {
    stack.model.requests(model).into_iter().filter(|request| request.step() == 0).collect()
}

fn lines(request: &ModelRequest) -> Vec<String> {
    request.user().timeline().iter().map(Line::short).collect()
}

/// Whether the agent itself has posted a message that contains `text`.
fn has_posted(request: &ModelRequest, text: &str) -> bool {
    request.user().timeline().iter().any(|line| line.sender == "You" && line.text.contains(text))
}

/// Posts `text`, unless the agent has posted it before.
fn say_once(request: &ModelRequest, text: &str) -> Answer {
    if has_posted(request, text) { stop() } else { say(text).into() }
}

/// Creates an agent that answers with `first` in the first step of a run, then ends the run.
async fn agent(
    stack: &Stack,
    name: &str,
    first: impl Fn(&ModelRequest) -> Answer + Send + Sync + 'static,
) -> String {
    stack
        .model
        .answers(name, move |request| if request.step() == 0 { first(request) } else { stop() });
    stack.agent(name, &stack.model.name(name)).await
}

/// Posts messages one after the other. Waits after each until its runs have ended.
async fn talk(stack: &Stack, space: &str, messages: &[(&String, &str)]) {
    for (sender, text) in messages {
        stack.post(space, sender, text).await;
        stack.quiet(space).await;
    }
}

async fn conversation(stack: &Stack, space: &str) -> Vec<String> {
    let line = |message: &Value| {
        format!(
            "{}: {}",
            message["sender"]["name"].as_str().unwrap(),
            message["parts"][0]["text"].as_str().unwrap()
        )
    };
    stack.messages(space).await.iter().map(line).collect()
}

#[tokio::test]
async fn a_negotiation_continues_over_three_runs() {
    let stack = Stack::start().await;
    let bot = agent(&stack, "Lawyer", |request| match request.trigger_text().as_str() {
        "Draft the contract" => say("Here's the contract draft.").into(),
        "Change to NET-30" if has_posted(request, "contract draft") => {
            say("Updated to NET-30. Anything else?").into()
        }
        "Add a termination clause" if has_posted(request, "Anything else?") => {
            say("Done. Final version attached.").into()
        }
        _ => stop(),
    })
    .await;
    let sarah = stack.person("Sarah").await;
    let space = stack.space("Contract", &[&sarah, &bot]).await;
    let asks = ["Draft the contract", "Change to NET-30", "Add a termination clause"];
    talk(&stack, &space, &asks.map(|text| (&sarah, text))).await;
    let expected = [
        "SEEN Sarah: Draft the contract",
        "SEEN You: Here's the contract draft.",
        "SEEN Sarah: Change to NET-30",
        "SEEN You: Updated to NET-30. Anything else?",
        "NEW Sarah: Add a termination clause ← TRIGGER",
    ];
    assert_eq!(lines(&prompts(&stack, "Lawyer")[2]), expected);
    assert_eq!(stack.texts(&space).await.last().unwrap(), "Done. Final version attached.");
}

#[tokio::test]
async fn votes_are_counted_in_the_history() {
    let stack = Stack::start().await;
    let bot = agent(&stack, "Chair", |request| {
        if request.trigger_text().starts_with("@Chair") {
            let total = json!({"memories": [{"key": "vote_total", "value": "3 members"}]});
            return answer([
                say("Team vote: A or B? Everyone please reply."),
                call("set_memories", total),
            ]);
        }
        let votes: Vec<String> = request
            .user()
            .timeline()
            .into_iter()
            .map(|line| line.text)
            .filter(|text| ["A", "B"].contains(&text.as_str()))
            .collect();
        let total = request.user().block("MEMORIES")[1].clone();
        if total != "- [vote_total] \"3 members\"" || votes.len() < 3 {
            return stop();
        }
        let for_a = votes.iter().filter(|vote| *vote == "A").count();
        say(&format!("Option {} wins {for_a}-{}.", if for_a > 1 { "A" } else { "B" }, 3 - for_a))
            .into()
    })
    .await;
    let ahmad = stack.person("Ahmad").await;
    let sarah = stack.person("Sarah").await;
    let husam = stack.person("Husam").await;
    let space = stack.space("Team", &[&ahmad, &sarah, &husam, &bot]).await;
    talk(&stack, &space, &[(&husam, "@Chair team vote: A or B?"), (&ahmad, "A"), (&sarah, "B")])
        .await;
    let count = stack.messages(&space).await.len();
    assert_eq!(count, 4, "the agent stays silent until all have voted");
    talk(&stack, &space, &[(&husam, "A")]).await;
    let expected = [
        "SEEN Husam: @Chair team vote: A or B?",
        "SEEN You: Team vote: A or B? Everyone please reply.",
        "SEEN Ahmad: A",
        "SEEN Sarah: B",
        "NEW Husam: A ← TRIGGER",
    ];
    assert_eq!(lines(prompts(&stack, "Chair").last().unwrap()), expected);
    assert_eq!(stack.texts(&space).await.last().unwrap(), "Option A wins 2-1.");
}

#[tokio::test]
async fn three_agents_talk_until_they_have_nothing_to_add() {
    let stack = Stack::start().await;
    let architect = agent(&stack, "Architect", |request| match request.trigger_text() {
        text if text.contains("redesign") => say("I'd suggest OAuth2 with JWT.").into(),
        text if text.contains("PKCE") => say_once(request, "Great alignment. I'll draft the doc."),
        _ => stop(),
    })
    .await;
    let security = agent(&stack, "SecurityBot", |request| match request.trigger_text() {
        text if text.contains("redesign") => say("Use short-lived tokens.").into(),
        text if text.contains("OAuth2 with JWT") => say_once(request, "OAuth2 is good. Add PKCE."),
        _ => stop(),
    })
    .await;
    let devops = agent(&stack, "DevOps", |request| match request.trigger_text() {
        text if text.contains("PKCE") => say_once(request, "I can set up Keycloak. ETA: 2 days."),
        _ => stop(),
    })
    .await;
    let husam = stack.person("Husam").await;
    let space = stack.space("Architecture", &[&husam, &architect, &security, &devops]).await;
    talk(&stack, &space, &[(&husam, "We need to redesign the auth system")]).await;
    let mut said = conversation(&stack, &space).await;
    said.sort();
    let expected = [
        "Architect: Great alignment. I'll draft the doc.",
        "Architect: I'd suggest OAuth2 with JWT.",
        "DevOps: I can set up Keycloak. ETA: 2 days.",
        "Husam: We need to redesign the auth system",
        "SecurityBot: OAuth2 is good. Add PKCE.",
        "SecurityBot: Use short-lived tokens.",
    ];
    assert_eq!(said, expected);
    let prompts = prompts(&stack, "DevOps");
    let on_pkce = prompts.iter().find(|request| request.trigger_text().contains("PKCE")).unwrap();
    let timeline = on_pkce.user().timeline();
    let shows = |text: &str| timeline.iter().any(|line| line.text.contains(text));
    assert!(
        shows("redesign") && shows("OAuth2 with JWT") && shows("Add PKCE"),
        "the timeline shows the discussion so far: {timeline:#?}"
    );
    let system = on_pkce.system();
    let roster = &system.block("YOUR SPACES")[1];
    assert!(
        timeline.iter().all(|line| line.sender == "You"
            || roster.contains(&format!("{} (human)", line.sender))
            || roster.contains(&format!("{} (agent", line.sender))),
        "the roster has the types of the others: {roster}"
    );
}
