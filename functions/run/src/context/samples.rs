//! A prompt's sources, for tests and fuzz targets.
#![expect(clippy::unwrap_used, clippy::panic, reason = "what is made here is as it should be, or a test fails")]

use std::{collections::HashMap, sync::Arc};

use serde_json::json;
use smartspace_domain::{
    Time,
    dispatch::Source,
    entities::{Entity, EntityType},
    goals::{Goal, GoalStatus},
    ids::{CallId, DeliveryId, EntityId, LeaseId, MessageId, PlanId, RunId, SpaceId},
    memories::Memory,
    messages::{Origin, Sender},
    plans::{Plan, PlanStatus, Schedule},
    runs::RunStatus,
    triggers::Trigger,
};
use smartspace_models::port::Message;
use smartspace_store::{
    messages::MessageRecord,
    rosters::MemberRecord,
    runs::{ActiveRecord, RunRecord},
    spaces::Card,
    triggers,
};

use super::{
    Prompt,
    doing::{Doing, Sent},
    prompt,
    reading::{Gathered, Place},
};
use crate::news;

fn at(seconds: i64) -> Time {
    Time::from_millis(1_771_427_220_000 + seconds * 1_000)
}

fn id(number: u128) -> EntityId {
    EntityId::new(at(0), number)
}

fn space(number: u128) -> SpaceId {
    SpaceId::new(at(0), number)
}

fn sender(number: u128, name: &str, kind: EntityType) -> Sender {
    Sender { id: id(number), name: name.into(), kind }
}

fn said(seq: u64, sender: Sender, text: &str) -> MessageRecord {
    serde_json::from_value(json!({
        "id": MessageId::new(at(0), u128::from(seq)), "seq": seq, "rev": 1, "sender": sender, "text": text, "chainDepth": 0,
        "createdAt": at(seq as i64), "updatedAt": at(seq as i64), "dispatch": [],
    }))
    .unwrap()
}

/// Everything in a prompt that others wrote.
#[derive(Clone, Debug)]
pub(crate) struct Written<'a> {
    /// The person (1), who says the texts.
    pub(crate) person: &'a str,
    /// The agent (2).
    pub(crate) agent: &'a str,
    /// Their space (1).
    pub(crate) space: &'a str,
    /// Another one of theirs (2).
    pub(crate) other_space: &'a str,
    /// What is kept, planned, sent by services, summarised, and shown on a card.
    pub(crate) note: &'a str,
    /// The key of a memory, the id of a goal, the name of a tool.
    pub(crate) key: &'a str,
    /// What is said; the second of over two is the agent's own, the third of over three a card, the last wakes it.
    pub(crate) texts: &'a [&'a str],
}

/// The agent, without anything around it.
fn agent(name: &str) -> Entity {
    serde_json::from_value(json!({
        "id": id(2), "type": "agent", "name": name, "externalId": null, "createdAt": at(0),
        "agent": {"instructions": "You are kind.", "model": {"provider": "scripted", "name": "m"}},
    }))
    .unwrap()
}

/// The messages of the space, oldest first.
fn messages(written: &Written<'_>) -> Vec<Arc<MessageRecord>> {
    let Written { texts, note, key, .. } = *written;
    let person = sender(1, written.person, EntityType::Human);
    let me = sender(2, written.agent, EntityType::Agent);
    let mut messages: Vec<_> = texts.iter().zip(1..).map(|(text, seq)| said(seq, person.clone(), text)).collect();
    if messages.len() > 2 {
        messages[1].sender = me.clone();
        let trigger = Trigger::SpaceMessage {
            source: Source::Mention,
            space_id: space(1),
            space_name: written.space.into(),
            message_id: messages[0].id,
            seq: 1,
            sender: person.clone(),
            text: texts[0].into(),
            at: at(1),
            delegated_by: None,
            note: None,
        };
        messages[1].origin = Some(Origin { trigger, tools_used: vec![key.into()] });
    }
    if messages.len() > 3 {
        let card = json!({"callId": CallId::of(RunId::new(at(0), 6), 0, 0), "name": key, "input": {"text": json!({"a": note}).to_string()},
            "output": {"text": json!([note]).to_string()}, "status": "completed"});
        messages[2].sender = me;
        messages[2].card = Some(serde_json::from_value(card).unwrap());
    }
    messages.into_iter().map(Arc::new).collect()
}

/// What a prompt is made of, where the agent has read up to `cursor` and keeps nothing.
pub(crate) fn gathered(written: &Written<'_>, cursor: u64) -> Gathered {
    let Written { person: name, agent: me, space: space_name, other_space, .. } = *written;
    let messages = messages(written);
    let trigger = Arc::clone(messages.last().unwrap());
    let record = json!({"id": space(1), "settings": {"name": space_name}, "createdAt": at(0), "rev": 1});
    let member = MemberRecord {
        entity_id: id(2),
        name: me.into(),
        kind: EntityType::Agent,
        role: smartspace_domain::spaces::Role::Member,
        cursor,
        read_seq: 0,
        last_run_at: None,
        joined_at: at(0),
        left: false,
        g2pk: None,
        g2sk: None,
    };
    let active = |number: u128| {
        let run = RunRecord::woken(RunId::new(at(0), number), id(2), space(1), &trigger, Source::Mention, at(9));
        ActiveRecord::woken(&run, space(1), space_name, &trigger)
    };
    let members = vec![sender(1, name, EntityType::Human), sender(2, me, EntityType::Agent)];
    Gathered {
        agent: agent(me),
        place: Some(Place {
            space: serde_json::from_value(record).unwrap(),
            member,
            messages,
            trigger: Arc::clone(&trigger),
            summary: None,
        }),
        cards: [
            (space(1), Card { name: space_name.into(), members: members.clone(), count: 2 }),
            (space(2), Card { name: other_space.into(), members, count: 24 }),
        ]
        .into(),
        space_count: 2,
        active: vec![active(7), active(8)],
        active_count: 2,
        states: HashMap::from([(RunId::new(at(0), 8), RunStatus::Running)]),
        doings: HashMap::new(),
        memories: Vec::new(),
        goals: Vec::new(),
        plans: Vec::new(),
    }
}

/// The same with everything that a prompt may hold.
pub(crate) fn all_of_it(written: &Written<'_>, cursor: u64) -> Gathered {
    let Written { note, key, .. } = *written;
    let mut all = gathered(written, cursor);
    let summary = json!({"from": 1, "to": 1_200, "text": note, "agentId": id(2), "updatedAt": at(0), "by": LeaseId::new(1)});
    let place = all.place.as_mut().unwrap();
    place.summary = Some(serde_json::from_value(summary).unwrap());
    // All of it was said behind what the summary covers.
    let later = |message: &MessageRecord| Arc::new(MessageRecord { seq: message.seq + 1_200, ..message.clone() });
    place.messages = place.messages.iter().map(|message| later(message)).collect();
    place.trigger = later(&place.trigger);
    place.member.cursor += 1_200;
    all.memories = vec![Memory { key: key.into(), value: note.into(), updated_at: at(0) }];
    let goal = |id: &str, status, due_at| Goal {
        id: id.into(),
        description: note.into(),
        status,
        priority: 2,
        long_term: true,
        due_at,
        created_at: at(0),
        updated_at: at(0),
    };
    all.goals = vec![goal(key, GoalStatus::Active, Some(at(864_000))), goal("done", GoalStatus::Completed, None)];
    let plan = |number: u128, schedule, next: i64| Plan {
        id: PlanId::new(at(0), number),
        name: note.into(),
        instruction: note.into(),
        schedule,
        status: PlanStatus::Active,
        next_run_at: Some(at(next)),
        last_run_at: None,
        created_at: at(0),
        updated_at: at(0),
    };
    let daily = Schedule::Cron { cron: "0 9 * * *".into(), timezone: "Europe/Berlin".into() };
    all.plans = vec![plan(1, daily, 64_440), plan(2, Schedule::Once { run_after: Some("2 hours".into()) }, 7_260)];
    let sent = Sent { space: Some(space(2)), message: MessageId::new(at(0), 99), text: note.into() };
    let doing = Doing { active_space: Some(space(2)), tools_used: vec![key.into()], sent: vec![sent] };
    all.doings = HashMap::from([(RunId::new(at(0), 8), doing)]);
    all
}

/// Why a run was woken that no message woke.
pub(crate) fn elsewhere(written: &Written<'_>) -> [Trigger; 2] {
    let note = written.note.to_owned();
    [
        Trigger::Plan { plan_id: PlanId::new(at(0), 1), name: note.clone(), instruction: note.clone(), scheduled_at: at(30), missed: 2 },
        Trigger::Service { service: note, payload: json!({"a": [written.note]}), delivery_id: DeliveryId::new(at(0), 1), at: at(30) },
    ]
}

/// The trigger of the space's last message.
pub(crate) fn by_message(gathered: &Gathered) -> Trigger {
    let place = gathered.place.as_ref().unwrap();
    let run = RunRecord::woken(RunId::new(at(0), 7), id(2), place.space.id, &place.trigger, Source::Mention, at(9));
    triggers::of_message(&run, &place.space.settings.name, &place.trigger, None)
}

/// The prompt of a run with this trigger.
pub(crate) fn prompt_of(gathered: &Gathered, trigger: &Trigger) -> Prompt {
    prompt(gathered, gathered.agent.agent.as_ref().unwrap(), RunId::new(at(0), 7), trigger, at(60))
}

/// What a run would be told of the space's messages as news.
pub(crate) fn news_of(gathered: &Gathered) -> Option<String> {
    let place = gathered.place.as_ref().unwrap();
    let messages: Vec<MessageRecord> = place.messages.iter().map(|message| MessageRecord::clone(message)).collect();
    news::told(&place.space.settings.name, place.space.id, &place.member, RunId::new(at(0), 7), 0, &messages).text
}

/// A prompt's text, with a line of dashes between its blocks, and the role before each message after the first.
pub(crate) fn text_of(prompt: &Prompt) -> String {
    let mut text = prompt.system.join("\n----\n");
    for (index, message) in prompt.rest.messages.iter().enumerate() {
        let (role, blocks) = match message {
            Message::User { blocks } => ("---- user\n", blocks.join("----\n")),
            Message::Assistant { text, .. } => ("---- assistant\n", format!("{text}\n")),
            other => panic!("{other:?} at the beginning"),
        };
        text.push_str(if index == 0 { "\n----\n" } else { role });
        text.push_str(&blocks);
    }
    text
}
