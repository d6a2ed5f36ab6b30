//! What is searched of a message.

use serde_json::{Value, json};

use super::query;
use crate::{messages::Message, search::Entry};

fn message(parts: Value) -> Message {
    serde_json::from_value(json!({
        "id": "msg_01KHRBA82G0000000000000000",
        "spaceId": "spc_01KHRBA82G0000000000000000",
        "seq": 7,
        "rev": 1,
        "sender": {
            "id": "ent_01KHRBA82G0000000000000000",
            "name": "Sara",
            "type": "human"
        },
        "parts": parts,
        "runId": null,
        "streamId": null,
        "chainDepth": 0,
        "createdAt": "2026-02-18T15:07:00.000Z",
        "updatedAt": "2026-02-18T15:07:00.000Z"
    }))
    .unwrap()
}

fn card(status: &str, output: Value) -> Value {
    json!({
        "type": "tool",
        "callId": "cal_01KHRBA82G0000000000000000",
        "name": "ask_people",
        "input": {"message": "Which harbour?", "options": ["Genoa", "Malmö"]},
        "output": output,
        "status": status,
        "ui": "form",
        "resultSchema": null,
        "resolvedBy": null,
        "expiresAt": null
    })
}

fn found(entry: &Entry, q: &str) -> bool {
    query(q).is_hit(entry)
}

#[test]
fn texts_files_and_cards_are_searched() {
    let file = json!({
        "type": "file",
        "attachmentId": "att_01KHRBA82G0000000000000000",
        "name": "rollback-plan.png",
        "contentType": "image/png",
        "bytes": 12
    });
    let text = json!({"type": "text", "text": "Look at www.example.com and `code`"});
    let entry = Entry::of(&message(json!([text, file]))).unwrap();
    let has = "has:file has:image has:link has:code";
    for q in ["rollback", "\"rollback plan png\"", "look", has, "example.com"] {
        assert!(found(&entry, q), "{q}");
    }
    for q in ["has:card", "has:reply", "\"code rollback\"", "image"] {
        assert!(!found(&entry, q), "{q}");
    }
    let entry =
        Entry::of(&message(json!([card("completed", json!({"choice": "Genoa"}))]))).unwrap();
    for q in ["\"which harbour\"", "malmo", "genoa", "ask_people", "has:card"] {
        assert!(found(&entry, q), "{q}");
    }
    assert!(!found(&entry, "options"));
    assert!(!entry.unsettled);
}

#[test]
fn a_card_without_a_result_is_unsettled() {
    let entry = Entry::of(&message(json!([card("pending", Value::Null)]))).unwrap();
    assert!(entry.unsettled);
    assert!(found(&entry, "harbour"));
}

#[test]
fn the_first_4000_characters_of_a_card_are_searched() {
    let answer = format!("{} needle", "x ".repeat(2_000));
    let entry = Entry::of(&message(json!([card("completed", json!(answer))]))).unwrap();
    assert!(found(&entry, "x"));
    assert!(!found(&entry, "needle"));
}

#[test]
fn a_deleted_message_has_no_entry() {
    let mut message = message(json!([]));
    message.deleted = serde_json::from_value(json!({
        "at": "2026-02-18T15:08:00.000Z",
        "by": "sender"
    }))
    .unwrap();
    assert_eq!(Entry::of(&message), None);
}

#[test]
fn marks_alone_are_neither_code_nor_links() {
    for text in ["a ~ b", "http:// is a scheme", "use `", "www."] {
        let entry = Entry::of(&message(json!([{"type": "text", "text": text}]))).unwrap();
        assert!(!found(&entry, "has:code") && !found(&entry, "has:link"), "{text}");
    }
}

#[test]
fn the_name_of_a_deleted_file_is_not_searched() {
    let file = json!({
        "type": "file",
        "attachmentId": "att_01KHRBA82G0000000000000000",
        "name": "rollback-plan.png",
        "contentType": "image/png",
        "bytes": 12,
        "deleted": true
    });
    let text = json!({"type": "text", "text": "see this"});
    let entry = Entry::of(&message(json!([text, file]))).unwrap();
    assert!(found(&entry, "see"));
    for q in ["rollback", "has:file", "has:image"] {
        assert!(!found(&entry, q), "{q}");
    }
}
