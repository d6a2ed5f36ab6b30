//! A prompt's sources, for tests and fuzz targets.
#![expect(clippy::unwrap_used, clippy::panic, reason = "what is made here is as it should be, or a test fails")]

use std::{collections::HashMap, sync::Arc};

use serde_json::json;
use smartspace_domain::{
    Time,
    dispatch::Source,
    entities::{Entity, EntityType},
    ids::{EntityId, MessageId, RunId, SpaceId},
    messages::{Origin, Sender},
    runs::RunStatus,
    triggers::Trigger,
};
use smartspace_models::port::Message;
use smartspace_store::{
    messages::MessageRecord,
    rosters::MemberRecord,
    runs::{ActiveRecord, RunRecord},
    spaces::Card,
};

use super::{prompt, reading::Gathered};

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
    /// What is said; the second of over two is the agent's own, the last wakes it.
    pub(crate) texts: &'a [&'a str],
}

/// What a prompt is made of, where the agent has read up to `cursor`.
pub(crate) fn gathered(written: &Written<'_>, cursor: u64) -> Gathered {
    let Written { person: name, agent: me, space: space_name, other_space, texts } = *written;
    let person = sender(1, name, EntityType::Human);
    let mut messages: Vec<_> = texts.iter().zip(1..).map(|(text, seq)| said(seq, person.clone(), text)).collect();
    if messages.len() > 2 {
        messages[1].sender = sender(2, me, EntityType::Agent);
        let trigger = Trigger::SpaceMessage {
            source: Source::Mention,
            space_id: space(1),
            space_name: space_name.into(),
            message_id: messages[0].id,
            seq: 1,
            sender: person.clone(),
            text: texts[0].into(),
            at: at(1),
        };
        messages[1].origin = Some(Origin { trigger, tools_used: vec!["read_messages".into()] });
    }
    let messages: Vec<_> = messages.into_iter().map(Arc::new).collect();
    let trigger = Arc::clone(messages.last().unwrap());
    let agent: Entity = serde_json::from_value(json!({
        "id": id(2), "type": "agent", "name": me, "externalId": null, "createdAt": at(0),
        "agent": {"instructions": "You are kind.", "model": {"provider": "scripted", "name": "m"}},
    }))
    .unwrap();
    let record = json!({"id": space(1), "settings": {"name": space_name}, "createdAt": at(0), "rev": 1});
    let member = MemberRecord {
        entity_id: id(2),
        name: me.into(),
        kind: EntityType::Agent,
        role: smartspace_domain::spaces::Role::Member,
        cursor,
        read_seq: 0,
        joined_at: at(0),
        left: false,
        g2pk: None,
        g2sk: None,
    };
    let active = |number: u128| {
        let run = RunRecord::queued(RunId::new(at(0), number), id(2), space(1), &trigger, Source::Mention, at(9));
        ActiveRecord::new(&run, space_name, &trigger)
    };
    let members = vec![person, sender(2, me, EntityType::Agent)];
    Gathered {
        agent,
        space: serde_json::from_value(record).unwrap(),
        member,
        messages: messages.clone(),
        trigger: Arc::clone(&trigger),
        cards: [
            (space(1), Card { name: space_name.into(), members: members.clone(), count: 2 }),
            (space(2), Card { name: other_space.into(), members, count: 24 }),
        ]
        .into(),
        space_count: 2,
        active: vec![active(7), active(8)],
        states: HashMap::from([(RunId::new(at(0), 8), RunStatus::Running)]),
    }
}

/// The prompt, with a line of dashes between its blocks.
pub(crate) fn text_of(gathered: &Gathered) -> String {
    let config = gathered.agent.agent.clone().unwrap();
    let (prompt, marks) = prompt(gathered, &config, RunId::new(at(0), 7), Source::Mention, at(60));
    assert_eq!(marks[&gathered.space.id], gathered.trigger.seq);
    let [Message::User { blocks }] = prompt.messages.as_slice() else { panic!("one message, in blocks") };
    format!("{}\n----\n{}", prompt.system.join("\n----\n"), blocks.join("----\n"))
}
