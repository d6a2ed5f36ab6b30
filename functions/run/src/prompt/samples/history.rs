//! The messages of the sample space.

use std::sync::Arc;

use serde_json::json;
use smartspace_domain::{
    dispatch::Source,
    entities::EntityType,
    ids::{CallId, MessageId, RunId},
    messages::{Origin, Sender},
    triggers::Trigger,
};
use smartspace_store::messages::MessageRecord;

use crate::prompt::samples::{SampleTexts, at, sender, space};

/// Returns the messages of the space, oldest first.
pub(super) fn messages(written: &SampleTexts<'_>) -> Vec<Arc<MessageRecord>> {
    let SampleTexts { texts, note, key, .. } = *written;
    let person = sender(1, written.person, EntityType::Human);
    let me = sender(2, written.agent, EntityType::Agent);
    let mut messages: Vec<_> =
        texts.iter().zip(1..).map(|(text, seq)| message(seq, person.clone(), text)).collect();
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
        let card = json!({
            "callId": CallId::of(RunId::new(at(0), 6), 0, 0),
            "name": key,
            "input": {"text": json!({"a": note}).to_string()},
            "output": {"text": json!([note]).to_string()},
            "status": "completed",
        });
        messages[2].sender = me;
        messages[2].card = Some(serde_json::from_value(card).unwrap());
    }
    messages.into_iter().map(Arc::new).collect()
}

fn message(seq: u64, sender: Sender, text: &str) -> MessageRecord {
    serde_json::from_value(json!({
        "id": MessageId::new(at(0), u128::from(seq)),
        "seq": seq,
        "rev": 1,
        "sender": sender,
        "text": text,
        "chainDepth": 0,
        "createdAt": at(seq as i64),
        "updatedAt": at(seq as i64),
        "dispatch": [],
    }))
    .unwrap()
}
