//! One line of a prompt, and the message that it shows.

use serde_json::{Deserializer, Value};
use smartspace_domain::quoting::escaped;

use crate::{
    ledger::Line,
    oracle::{prompts::Span, stored::parsed},
    storage::Shown,
};

/// What is wrong with a line that the agent was shown.
pub(super) fn wrong_line(shown: &Shown, line: &Line, agent: &str, span: Span) -> Option<String> {
    let Some(states) = shown.messages.get(&line.message) else {
        return Some(format!("was shown {}, which was never stored", line.message));
    };
    let states: Vec<&Value> = span.states(states).collect();
    let shows = |message: &&Value| is_of(line, message, agent) && shows_content(line, message);
    if states.iter().any(shows) {
        return None;
    }
    let was = states.iter().map(|it| {
        let card = &it["card"];
        format!("{} {:.60} {} {}", it["sender"]["name"], it["text"], card["status"], card["output"])
    });
    let was: Vec<_> = was.collect();
    let Line { message, sender, content, .. } = line;
    Some(format!("was shown {message} of {sender} as {content:.90}, but it was {was:?} then"))
}

/// Whether a line has the time and the sender of a message.
fn is_of(line: &Line, message: &Value, agent: &str) -> bool {
    // The line of a tombstone says nothing else.
    if line.is_deleted() || !message["deleted"].is_null() {
        return line.is_deleted() && !message["deleted"].is_null();
    }
    if !line.is_apart && line.parent != message["replyTo"]["seq"].as_u64() {
        return false;
    }
    let sender = &message["sender"];
    let minutes = message["createdAt"].as_str().and_then(|time| time.get(11..16));
    (minutes == Some(&line.time) || line.is_apart && line.time.is_empty())
        && line.own == (sender["id"] == agent)
        && (line.own || is_name(&line.sender, &sender["name"]))
}

/// Whether a prompt calls somebody by this name: `Olga`, `"Olga!"`, or among namesakes
/// `"Olga"~7K2P`.
fn is_name(shown: &str, name: &Value) -> bool {
    let (quoted, _) = shown.rsplit_once('~').unwrap_or((shown, ""));
    name == shown || serde_json::from_str::<Value>(quoted).is_ok_and(|quoted| quoted == *name)
}

fn shows_content(line: &Line, message: &Value) -> bool {
    if line.is_deleted() {
        return true;
    }
    if message["card"].is_null() {
        return shows_text(&line.content, message);
    }
    let card = &message["card"];
    let name = card["name"].as_str().unwrap_or_default();
    let call = format!("[tool {name}] input={}", json_of(&card["input"]));
    let Some(outcome) = line.content.strip_prefix(&call) else { return false };
    if !card["asks"]["approval"].is_null() {
        return outcome.strip_prefix(' ').is_some_and(|rest| shows_approval(rest, card));
    }
    if card["output"].is_null() {
        return outcome == format!(" ({})", card["status"].as_str().unwrap_or_default());
    }
    let output = format!(" output={} (", json_of(&card["output"]));
    let end = outcome.strip_prefix(&output).and_then(|rest| rest.strip_suffix(')'));
    end.is_some_and(|end| is_resolution(end, card))
}

/// Whether a line ends as its card: `completed`, or for an answered form `completed by Olga`.
fn is_resolution(end: &str, card: &Value) -> bool {
    let status = card["status"].as_str().unwrap_or_default();
    if card["asks"].is_null() || status != "completed" {
        return end == status;
    }
    let declined = parsed(&card["output"]["text"])["declined"] == true;
    let by = if declined { "declined by " } else { "completed by " };
    end.strip_prefix(by).is_some_and(|name| is_name(name, &card["asks"]["resolvedName"]))
}

/// Whether a line ends as the card of a call that people decide: `(waits for approval by owners)`,
/// or `output={"paid":true} (approved by Olga, Max)`.
fn shows_approval(rest: &str, card: &Value) -> bool {
    let approval = &card["asks"]["approval"];
    let status = card["status"].as_str().unwrap_or_default();
    let decisions = approval["decisions"].as_array().map(Vec::as_slice).unwrap_or_default();
    let last = decisions.last().map(|made| (made["action"].as_str(), &made["name"]));
    let output = format!("output={} ", json_of(&card["output"]));
    let hides_output = card["output"].is_null()
        || approval["state"] == "declined" && !matches!(last, Some((Some("respond"), _)));
    let rest = if hides_output { Some(rest) } else { rest.strip_prefix(&output) };
    let inside = rest.and_then(|rest| rest.strip_prefix('(')?.strip_suffix(')'));
    let Some(inside) = inside else { return false };
    let are_approvers = |names: &str| {
        let names: Vec<_> = names.split(", ").collect();
        names.len() == decisions.len()
            && names.iter().zip(decisions).all(|(name, made)| is_name(name, &made["name"]))
    };
    match (approval["state"].as_str().unwrap_or_default(), last) {
        ("open", None) if status == "pending" => inside.starts_with("waits for approval by "),
        ("open", Some(_)) if status == "pending" => {
            let waits = inside.split_once("; approved by ");
            waits.is_some_and(|(waits, names)| {
                waits.starts_with("waits for approval by ") && are_approvers(names)
            })
        }
        ("approved", _) => {
            let is_shown = matches!(status, "pending" | "completed");
            let before = if is_shown { String::new() } else { format!("{status}; ") };
            let names = inside.strip_prefix(&format!("{before}approved by "));
            names.is_some_and(are_approvers)
        }
        ("declined", Some((action, name))) => {
            let (verb, end) = match action {
                Some("respond") => ("answered by ", ""),
                Some("end") => ("declined by ", ", and the run ended"),
                _ => ("declined by ", ""),
            };
            let shown = inside.strip_prefix(verb).and_then(|rest| rest.strip_suffix(end));
            shown.is_some_and(|shown| is_name(shown, name))
        }
        _ => inside == status,
    }
}

/// The JSON of a card on one line.
fn json_of(json: &Value) -> String {
    let text = escaped(json["text"].as_str().unwrap_or_default());
    match json["more"].as_u64().unwrap_or(0) {
        0 => text,
        more => text + &more_characters(more),
    }
}

/// Whether a line shows the text of a message, or its beginning and how much follows.
fn shows_text(content: &str, message: &Value) -> bool {
    let mut texts = Deserializer::from_str(content).into_iter::<String>();
    let Some(Ok(shown)) = texts.next() else { return false };
    let rest = &content[texts.byte_offset()..];
    let text = message["text"].as_str().unwrap_or_default();
    // The result of a call shows a long text whole, and the item has its beginning.
    if !text.starts_with(&shown) && !shown.starts_with(text) {
        return false;
    }
    let count = |text: &str| text.chars().count() as u64;
    let all = count(text) + message["moreChars"].as_u64().unwrap_or(0);
    let Some(more) = all.checked_sub(count(&shown)) else { return false };
    let stopped = if message["partial"] == true { " (stopped)" } else { "" };
    let edited = if message["editedAt"].is_null() { "" } else { " (edited)" };
    let cut = if more > 0 { more_characters(more) } else { String::new() };
    rest == cut + stopped + edited
}

fn more_characters(more: u64) -> String {
    let thousands = if more < 1_000 {
        more.to_string()
    } else {
        format!("{},{:03}", more / 1_000, more % 1_000)
    };
    format!(" … ({thousands} more characters; read_messages shows all)")
}
