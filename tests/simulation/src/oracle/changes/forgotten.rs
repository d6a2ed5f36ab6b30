//! The texts and files of deleted messages, wherever they may be stored. The oracle finds a text by
//! its markers, also in what is compressed.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::Read,
};

use base64::{Engine, prelude::BASE64_STANDARD};
use flate2::read::ZlibDecoder;
use serde_json::Value;

use crate::{
    ledger::ModelRequest,
    markers,
    oracle::{Evidence, changes::deleted_at, prompts},
    storage::Shown,
};

/// The messages whose texts must be gone, by the markers of these texts.
type Gone = BTreeMap<String, String>;

/// Items that still have the text of a deleted message or of a deleted space, and items of spaces
/// that still have an old wording.
pub(super) fn deleted_texts_are_gone(evidence: &Evidence<'_>, shown: &Shown) -> Vec<String> {
    let gone = gone(evidence, shown);
    let old = old_wordings(evidence, shown);
    let mut found = Vec::new();
    for item in evidence.env.storage.items() {
        let pk = item["PK"].as_str().unwrap_or_default();
        let sk = item["SK"].as_str().unwrap_or_default();
        let text = markers::without_edits(&unpacked(&item));
        let markers = markers::all_in(&text);
        let left = markers.iter().filter_map(|marker| gone.get(*marker));
        if let Some(message) = left.into_iter().find(|message| !is_own(evidence, pk, message)) {
            found.push(format!("{pk}/{sk} still has the text of {message}, which was deleted"));
        }
        // A summary names edited messages until the next one, and runs keep what they have read.
        // The card of an edit shows its input, whatever the text is now.
        let is_of_space = pk.starts_with("SPACE#") && sk != "SUMMARY" && !is_edit(&item);
        let of_old = markers.iter().filter(|_| is_of_space).find_map(|marker| old.get(*marker));
        if let Some(message) = of_old {
            found.push(format!("{pk}/{sk} still has an old wording of {message}"));
        }
    }
    found
}

/// Whether an item is of the run that posted a message of a deleted space. What an agent wrote
/// itself stays if the run has read other spaces, too.
fn is_own(evidence: &Evidence<'_>, pk: &str, message: &str) -> bool {
    let stored = &evidence.stored;
    let Some((space, seq)) = message.split_once('#') else { return false };
    let Some(seq) = seq.parse::<u64>().ok().filter(|_| stored.is_deleted(space)) else {
        return false;
    };
    let posted = stored.messages.get(space).and_then(|messages| messages.get(&seq));
    let run = posted.and_then(|posted| posted["runId"].as_str());
    !stored.is_tombstone(space, seq) && run.is_some() && pk.strip_prefix("RUN#") == run
}

/// Prompts that were begun after a deletion and show the text.
pub(super) fn new_prompts_show_no_deleted_text(
    evidence: &Evidence<'_>,
    shown: &Shown,
) -> Vec<String> {
    let gone = gone(evidence, shown);
    let is_fork = |ask: &ModelRequest| {
        evidence.stored.runs.get(&ask.run_id).is_some_and(|run| !run["forkOf"].is_null())
    };
    let mut found = Vec::new();
    for ask in evidence.ledger.model_requests.iter().filter(|ask| ask.step == 0 && !is_fork(ask)) {
        let Some(begun) = prompts::begun(&evidence.ledger, ask) else { continue };
        let late = ask
            .markers
            .iter()
            .filter_map(|marker| gone.get(marker))
            .find(|message| deleted_at(shown, message).is_some_and(|deleted| deleted < begun));
        found.extend(late.map(|message| {
            format!(
                "the run of {} on {} began after {message} was deleted, and was shown its text",
                ask.agent, ask.trigger
            )
        }));
    }
    found
}

/// Files that only deleted messages named.
pub(super) fn files_of_deleted_messages_are_gone(evidence: &Evidence<'_>) -> Vec<String> {
    let stored = &evidence.stored;
    let mut named = BTreeSet::new();
    let mut deleted = BTreeSet::new();
    for (space, message) in stored.all_messages().filter(|(space, _)| !stored.is_deleted(space)) {
        let is_deleted = stored.is_tombstone(space, message["seq"].as_u64().unwrap_or_default());
        let files = message["files"].as_array().into_iter().flatten();
        let ids = files.filter_map(|file| file["attachmentId"].as_str());
        if is_deleted {
            deleted.extend(ids);
        } else {
            named.extend(ids);
        }
    }
    let items = evidence.env.storage.items();
    let id = |item: &Value| item["SK"].as_str()?.strip_prefix("FILE#").map(str::to_owned);
    let known: BTreeSet<String> = items.iter().filter_map(id).collect();
    // A local host that dies forgets to look at an upload that ends after its deletion.
    let env = evidence.env;
    let objects = env.files.keys().into_iter().filter(|_| !env.parameters.local);
    let objects: BTreeSet<String> = objects.map(|key| key.file.to_string()).collect();
    let left = deleted.difference(&named);
    left.filter(|id| known.contains(**id) || objects.contains(**id))
        .map(|id| format!("the file {id} is left of deleted messages"))
        .collect()
}

/// The markers of all wordings of deleted messages, and of the messages of deleted spaces.
fn gone(evidence: &Evidence<'_>, shown: &Shown) -> Gone {
    let stored = &evidence.stored;
    let mut gone = Gone::new();
    for (space, message) in stored.all_messages() {
        let seq = message["seq"].as_u64().unwrap_or_default();
        if stored.is_deleted(space) || stored.is_tombstone(space, seq) {
            let name = format!("{space}#{seq}");
            for marker in wordings(shown, &name).into_iter().chain(markers_of(message)) {
                gone.insert(marker, name.clone());
            }
        }
    }
    gone
}

/// The markers of the wordings that edits have replaced.
fn old_wordings(evidence: &Evidence<'_>, shown: &Shown) -> Gone {
    let mut old = Gone::new();
    for ((space, seq), message) in &evidence.stored.changed {
        let name = format!("{space}#{seq}");
        let current = markers_of(message);
        let replaced = wordings(shown, &name).into_iter().filter(|it| !current.contains(it));
        old.extend(replaced.map(|marker| (marker, name.clone())));
    }
    old
}

/// The markers of all texts that a message has had.
fn wordings(shown: &Shown, name: &str) -> BTreeSet<String> {
    let states = shown.messages.get(name).map(Vec::as_slice).unwrap_or_default();
    states.iter().flat_map(|state| markers_of(&state.item)).collect()
}

/// The markers of a message's text, or of the input of its card. The input of an edit is the text
/// of another message.
fn markers_of(message: &Value) -> BTreeSet<String> {
    let input = Some(&message["card"]["input"]["text"]).filter(|_| !is_edit(message));
    let texts = [Some(&message["text"]), input].into_iter().flatten();
    let found = texts.filter_map(Value::as_str).flat_map(markers::all_in);
    found.map(str::to_owned).collect()
}

/// Whether a message is the card of an edit that people decide.
fn is_edit(message: &Value) -> bool {
    message["card"]["name"] == "edit_message"
}

/// All text of an item, also what is compressed in it.
fn unpacked(item: &Value) -> String {
    let mut text = item.to_string();
    unpack(item, &mut text);
    text
}

/// Adds what is compressed in a value, at any depth.
fn unpack(value: &Value, text: &mut String) {
    match value {
        Value::Object(fields) => fields.values().for_each(|value| unpack(value, text)),
        Value::Array(values) => values.iter().for_each(|value| unpack(value, text)),
        // The first byte of compressed bytes is 0x78.
        Value::String(bytes) if bytes.starts_with('e') => {
            let Ok(bytes) = BASE64_STANDARD.decode(bytes) else { return };
            let mut more = String::new();
            if ZlibDecoder::new(&bytes[..]).read_to_string(&mut more).is_ok() {
                text.push_str(&more);
            }
        }
        _ => {}
    }
}
