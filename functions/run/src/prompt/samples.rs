//! Sample sources of a prompt, for tests.

mod history;
mod prompts;

use std::{collections::HashMap, sync::Arc};

use serde_json::json;
use smartspace_domain::{
    Time,
    dispatch::Source,
    entities::{Entity, EntityType},
    goals::{Goal, GoalStatus},
    ids::{EntityId, LeaseId, MessageId, PlanId, RunId, SpaceId},
    jobs::MessageRef,
    memories::Memory,
    messages::{Sender, excerpt},
    plans::{Plan, PlanStatus, Schedule},
    runs::RunStatus,
};
use smartspace_store::{
    messages::MessageRecord,
    runs::{ActiveRecord, MessageTexts, RunRecord},
    spaces::{OverviewMember, SpaceOverview, rosters::MemberRecord},
};

use crate::prompt::{
    names::Names,
    reading::{PromptSources, SpaceContext},
    run_activity::{RunActivity, SentMessage, Waiting},
};
use history::messages;
pub(crate) use prompts::{
    message_trigger, news_of, other_triggers, prompt_of, text_of, tool_texts_of,
};

pub(crate) fn at(seconds: i64) -> Time {
    Time::from_millis(1_771_427_220_000 + seconds * 1_000)
}

fn id(number: u128) -> EntityId {
    EntityId::new(at(0), number)
}

pub(crate) fn space(number: u128) -> SpaceId {
    SpaceId::new(at(0), number)
}

fn sender(number: u128, name: &str, kind: EntityType) -> Sender {
    Sender { id: id(number), name: name.into(), kind, guest: false }
}

/// All names and texts in a prompt that its users choose.
#[derive(Clone, Debug)]
pub(crate) struct SampleTexts<'a> {
    /// The name of the person (entity 1), the sender of the messages.
    pub(crate) person: &'a str,
    /// The name of the agent (entity 2).
    pub(crate) agent: &'a str,
    /// The name of the space (1) that triggers the agent.
    pub(crate) space: &'a str,
    /// The name of another space (2) of both.
    pub(crate) other_space: &'a str,
    /// The content of memories, goals, plans, service calls, the summary and the card.
    pub(crate) note: &'a str,
    /// The key of the memory, the id of the goal and the name of the tool.
    pub(crate) key: &'a str,
    /// The texts of the messages. The last one triggers the agent. With more than two messages the
    /// agent sends the second; with more than three the third is a card.
    pub(crate) texts: &'a [&'a str],
}

/// Returns the agent's entity.
fn agent(name: &str) -> Entity {
    serde_json::from_value(json!({
        "id": id(2), "type": "agent", "name": name, "externalId": null, "createdAt": at(0),
        "agent": {"instructions": "You are kind.", "model": {"provider": "scripted", "name": "m"}},
    }))
    .unwrap()
}

/// Returns the sources of a prompt. The agent has no memories, goals or plans, and has read up to
/// `cursor`.
pub(crate) fn sources(written: &SampleTexts<'_>, cursor: u64) -> PromptSources {
    let SampleTexts { person: name, agent: me, space: space_name, other_space, .. } = *written;
    let messages = messages(written);
    let trigger = Arc::clone(messages.last().unwrap());
    let record =
        json!({"id": space(1), "settings": {"name": space_name}, "createdAt": at(0), "rev": 1});
    let active = |number: u128| {
        let run = RunRecord::triggered(
            RunId::new(at(0), number),
            id(2),
            space(1),
            &trigger,
            Source::Mention,
            at(9),
        );
        ActiveRecord::triggered(&run, space(1), space_name, &trigger)
    };
    let members = [sender(1, name, EntityType::Human), sender(2, me, EntityType::Agent)];
    let mut names = Names::new(id(2), &members);
    let cause = MessageRef { space_id: space(1), seq: trigger.seq };
    let text = excerpt(&trigger.text, 200).0.to_owned();
    names.add_texts(MessageTexts::from([(cause, Some(text))]));
    PromptSources {
        agent: agent(me),
        trigger_space: Some(SpaceContext {
            space: serde_json::from_value(record).unwrap(),
            member: agent_member(me, cursor),
            messages,
            trigger: Arc::clone(&trigger),
            changed: 0,
            joined: Vec::new(),
            summary: None,
            unlisted: Vec::new(),
            left: Vec::new(),
            older: Vec::new(),
            reactions: std::collections::BTreeMap::new(),
            pages: Vec::new(),
        }),
        cards: [
            (space(1), card(space_name, &members, 2)),
            (space(2), card(other_space, &members, 24)),
        ]
        .into(),
        space_count: 2,
        searches: false,
        active: vec![active(7), active(8)],
        active_count: 2,
        states: HashMap::from([(RunId::new(at(0), 8), RunStatus::Running)]),
        activities: HashMap::new(),
        memories: Vec::new(),
        goals: Vec::new(),
        plans: Vec::new(),
        names,
    }
}

fn agent_member(name: &str, cursor: u64) -> MemberRecord {
    MemberRecord {
        entity_id: id(2),
        name: name.into(),
        kind: EntityType::Agent,
        about: None,
        chain_limit: None,
        role: smartspace_domain::spaces::Role::Member,
        cursor,
        read_seq: 0,
        last_run_at: None,
        joined_at: at(0),
        owner_since: None,
        guest_by: None,
        g2pk: None,
        g2sk: None,
    }
}

fn card(name: &str, members: &[Sender], count: usize) -> SpaceOverview {
    let members = members.iter().cloned().map(|sender| OverviewMember {
        sender,
        about: None,
        chain_limit: None,
    });
    SpaceOverview {
        name: name.into(),
        members: members.collect(),
        count,
        admin: None,
        changed: None,
    }
}

/// Returns the same as [`sources`], with all that a prompt can show.
pub(crate) fn full_sources(written: &SampleTexts<'_>, cursor: u64) -> PromptSources {
    let SampleTexts { note, key, .. } = *written;
    let mut all = sources(written, cursor);
    summarize(&mut all, note);
    all.memories = vec![Memory { key: key.into(), value: note.into(), updated_at: at(0) }];
    all.goals = vec![
        goal(key, note, GoalStatus::Active, Some(at(864_000))),
        goal("done", note, GoalStatus::Completed, None),
    ];
    let daily = Schedule::Cron { cron: "0 9 * * *".into(), timezone: "Europe/Berlin".into() };
    all.plans = vec![
        plan(1, note, daily, 64_440),
        plan(2, note, Schedule::Once { run_after: Some("2 hours".into()) }, 7_260),
    ];
    let sent = SentMessage {
        space: Some(space(2)),
        message: MessageId::new(at(0), 99),
        place: None,
        text: note.into(),
    };
    let activity = RunActivity {
        active_space: Some(space(2)),
        tools_used: vec![key.into()],
        sent: vec![sent],
        waiting: Some(Waiting {
            tool: key.into(),
            space: space(2),
            seq: 3,
            question: Some(note.into()),
            is_approval: false,
        }),
    };
    all.activities = HashMap::from([(RunId::new(at(0), 8), activity)]);
    all.states.insert(RunId::new(at(0), 8), RunStatus::WaitingTool);
    let other = sender(4, key, EntityType::Agent);
    let left = sender(3, written.space, EntityType::Human);
    all.names.add([&other, &left]);
    let card = all.cards.get_mut(&space(1)).unwrap();
    let about = Some(note.into());
    card.members.push(OverviewMember { sender: other, about, chain_limit: None });
    card.count += 1;
    all.trigger_space.as_mut().unwrap().left.push(left);
    all
}

/// Adds a summary of 1,200 messages. All messages of the space follow it.
fn summarize(sources: &mut PromptSources, text: &str) {
    let summary = json!({
        "from": 1,
        "to": 1_200,
        "text": text,
        "agentId": id(2),
        "updatedAt": at(0),
        "by": LeaseId::new(1),
    });
    let trigger_space = sources.trigger_space.as_mut().unwrap();
    trigger_space.summary = Some(serde_json::from_value(summary).unwrap());
    let later = |message: &MessageRecord| {
        Arc::new(MessageRecord { seq: message.seq + 1_200, ..message.clone() })
    };
    trigger_space.messages = trigger_space.messages.iter().map(|message| later(message)).collect();
    trigger_space.trigger = later(&trigger_space.trigger);
    trigger_space.member.cursor += 1_200;
}

fn goal(id: &str, description: &str, status: GoalStatus, due_at: Option<Time>) -> Goal {
    Goal {
        id: id.into(),
        description: description.into(),
        status,
        priority: 2,
        long_term: true,
        due_at,
        created_at: at(0),
        updated_at: at(0),
    }
}

fn plan(number: u128, note: &str, schedule: Schedule, next: i64) -> Plan {
    Plan {
        id: PlanId::new(at(0), number),
        name: note.into(),
        instruction: note.into(),
        schedule,
        status: PlanStatus::Active,
        next_run_at: Some(at(next)),
        last_run_at: None,
        managed_by: None,
        created_at: at(0),
        updated_at: at(0),
    }
}
