//! Promise 1 for the gate: every stored score equals the one that follows from the messages below
//! the message's number.

use std::collections::BTreeMap;

use serde_json::Value;
use smartspace_domain::{
    Time,
    gate::{self, Line, Member, Talk},
    ids::EntityId,
    limits::TIMELINE_CHARS,
    messages::excerpt,
};

use crate::oracle::{Evidence, Stored};

pub(super) fn scores_follow_from_the_messages_before(evidence: &mut Evidence<'_>) {
    let mut found = Vec::new();
    for (space, messages) in &evidence.stored.messages {
        let Some(members) = members_of(&evidence.stored, space) else { continue };
        let newest = members.iter().filter_map(|member| time(&member["joinedAt"])).max();
        for (seq, message) in messages {
            // The members of that moment are not known if one has joined since.
            let is_later = time(&message["createdAt"]).is_some_and(|at| newest < Some(at));
            // Nor is it known which texts were edited before that moment.
            let mut window = messages.range(..=*seq).rev().take(gate::WINDOW + 1);
            let is_known = window.all(|(seq, _)| !evidence.stored.is_changed(space, *seq));
            if is_later
                && is_known
                && let Some(text) = wrong_score(messages, *seq, message, &members)
            {
                found.push(text);
            }
        }
    }
    for text in found {
        evidence.report(1, text);
    }
}

/// The members of a space in the order in which they joined. `None` if one has left.
fn members_of<'a>(stored: &'a Stored, space: &str) -> Option<Vec<&'a Value>> {
    let of_space = stored.members.iter().filter(|((its, _), _)| its == space);
    let mut members: Vec<&Value> = of_space.map(|(_, member)| member).collect();
    members.sort_by_key(|member| (time(&member["joinedAt"]), member["entityId"].to_string()));
    let has_left = members.iter().any(|member| member["left"] == true);
    (!has_left && !stored.is_deleted(space)).then_some(members)
}

/// A score of a message that does not follow from the messages before it.
fn wrong_score(
    messages: &BTreeMap<u64, Value>,
    seq: u64,
    message: &Value,
    members: &[&Value],
) -> Option<String> {
    let stored = message["gate"]["scores"].as_array().filter(|scores| !scores.is_empty())?;
    let mut before: Vec<_> = messages
        .range(..seq)
        .rev()
        .take(gate::WINDOW)
        .map(|(seq, message)| line(*seq, message, members))
        .collect();
    before.reverse();
    // A reply to a message of its own sender is for nobody.
    let last = line(seq, message, members);
    let reply_to = last.reply_to.filter(|id| *id != last.sender);
    let talk = Talk {
        before: &before,
        message: &Line { reply_to, ..last },
        members: &members.iter().map(|member| seen(member)).collect::<Vec<_>>(),
    };
    let agents: Vec<EntityId> = stored.iter().map(|score| entity(&score["agentId"])).collect();
    let expected = gate::scores(&talk, &agents);
    let is_wrong = |(stored, expected): &(&Value, &gate::Score)| {
        stored["score"].as_f64() != Some(expected.score)
    };
    let (stored, expected) = stored.iter().zip(&expected).find(is_wrong)?;
    Some(format!("{} has the score {stored}, but {expected:?} follows", message["id"]))
}

fn line<'a>(seq: u64, message: &'a Value, members: &[&Value]) -> Line<'a> {
    let text = if message["card"].is_null() { text(&message["text"]) } else { "" };
    let (text, _) = excerpt(text, TIMELINE_CHARS);
    let mentions: Vec<&Value> = message["mentions"].as_array().into_iter().flatten().collect();
    let is_named = |id: &&Value| mentions.iter().any(|mention| mention["entityId"] == **id);
    let named = members.iter().map(|member| &member["entityId"]).filter(is_named);
    let origin = &message["origin"];
    let answers = (origin["type"] == "space_message").then(|| entity(&origin["sender"]["id"]));
    Line {
        seq,
        at: time(&message["createdAt"]).unwrap_or_default(),
        sender: entity(&message["sender"]["id"]),
        text,
        named: named.map(entity).collect(),
        reply_to: message["replyTo"]["senderId"].as_str().and_then(|id| id.parse().ok()),
        answers,
        has_file: message["files"].as_array().is_some_and(|files| !files.is_empty()),
    }
}

fn seen(member: &Value) -> Member<'_> {
    Member {
        id: entity(&member["entityId"]),
        name: text(&member["name"]),
        description: member["about"].as_str(),
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn time(value: &Value) -> Option<Time> {
    value.as_str()?.parse().ok()
}

/// The id of an entity, or one that nobody has.
fn entity(value: &Value) -> EntityId {
    text(value).parse().unwrap_or_else(|_| EntityId::new(Time::default(), 0))
}
