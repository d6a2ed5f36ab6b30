//! Edits and deletions: who makes them, what remains, and what agents read of them.

use std::{env, time::Duration};

use futures::future::join_all;
use serde_json::{Value, json};

use crate::support::{
    model::{Gate, answer, call, stop, think, wait},
    routes::{id, text, triggered_run},
    socket::Socket,
    stack::Stack,
    waiting::SOON,
};

fn path(space: &str, seq: u64) -> String {
    format!("/v1/spaces/{space}/messages/{seq}")
}

/// The lines of the history in the last request to `ada`.
fn history(stack: &Stack) -> Vec<String> {
    let request = stack.model.requests("ada").pop().unwrap();
    request.user().block("SPACE HISTORY").to_vec()
}

#[tokio::test]
async fn an_edit_replaces_the_text_and_wakes_nobody() {
    let stack = Stack::start().await;
    let (person, agent, space) = stack.pair().await;
    let watcher = stack.socket().await;
    watcher.subscribe(&space, None).await;
    let posted = stack.post(&space, &person, "Deploy v2.1, please.").await;
    stack.quiet(&space).await;
    let runs = stack.runs_of(&space).await.len();
    let new = json!({"text": "Deploy v2.2, @Ada.", "senderId": person, "rev": posted["rev"]});
    let edited = stack.edit(&space, 1, &new).await.must_be(200);
    assert_eq!(text(&edited), "Deploy v2.2, @Ada.");
    assert_eq!(edited["mentions"], json!([{"entityId": agent, "start": 13, "end": 17}]));
    assert_eq!(edited["rev"].as_u64(), posted["rev"].as_u64().map(|rev| rev + 1));
    assert!(edited["editedAt"].is_string());
    for field in ["id", "createdAt", "dispatch", "sender"] {
        assert_eq!(edited[field], posted[field], "{field}");
    }
    let is_edited = |frame: &Value| frame["message"]["editedAt"].is_string();
    let frame = watcher.frame("message.updated", SOON, is_edited).await;
    assert_eq!(frame.body["message"], edited);
    assert_eq!(stack.get(&path(&space, 1)).await.must_be(200), edited);
    // The same text again changes nothing, also if the request is repeated.
    for rev in [&Value::Null, &posted["rev"], &edited["rev"]] {
        let same = json!({"text": "Deploy v2.2, @Ada.", "senderId": person, "rev": rev});
        assert_eq!(stack.edit(&space, 1, &same).await.must_be(200), edited);
    }
    let old = json!({"text": "No.", "senderId": person, "rev": posted["rev"]});
    let refused = stack.edit(&space, 1, &old).await.must_be(409);
    assert_eq!(refused["detail"], format!("it has revision {} now", edited["rev"]));
    let empty = stack.edit(&space, 1, &json!({"text": "", "senderId": person})).await;
    assert_eq!(empty.must_be(422)["errors"][0]["pointer"], "/text");
    let none = stack.edit(&space, 1, &json!({"senderId": person})).await.must_be(422);
    let detail = "expected 1 to 32768 bytes of text, got none";
    assert_eq!(none["errors"], json!([{"pointer": "/text", "detail": detail}]));
    stack.quiet(&space).await;
    assert_eq!(stack.runs_of(&space).await.len(), runs);
    let frames = watcher.frames();
    let edits = frames.iter().filter(|it| it.kind == "message.updated" && is_edited(&it.body));
    assert_eq!(edits.count(), 1);
}

#[tokio::test]
async fn a_long_text_becomes_short_and_long_again() {
    let stack = Stack::start().await;
    let person = stack.person("Husam").await;
    let space = stack.space("Team", &[&person]).await;
    let long = "long ".repeat(1_000);
    stack.post(&space, &person, &long).await;
    for new in ["short", &long, "short again"] {
        let body = json!({"text": new, "senderId": person});
        assert_eq!(text(&stack.edit(&space, 1, &body).await.must_be(200)), new);
        assert_eq!(stack.texts(&space).await, [new]);
    }
}

#[tokio::test]
async fn a_tombstone_has_no_content_and_stays() {
    let stack = Stack::start().await;
    let (person, agent, space) = stack.pair().await;
    let watcher = stack.socket().await;
    watcher.subscribe(&space, None).await;
    let secret = "The secret is 4711, @Ada.";
    let posted = stack.post_with_key(&space, &person, secret, "once").await.must_be(201);
    stack.quiet(&space).await;
    let run = triggered_run(&posted, &agent).unwrap();
    stack.put(&format!("/v1/spaces/{space}/pins/1"), json!({})).await.must_be(200);
    let thumb = json!({"emoji": "👍", "senderId": person});
    stack.put(&format!("{}/reactions", path(&space, 1)), thumb).await.must_be(200);
    for _ in 0..2 {
        stack.delete_message(&space, 1).await.must_be(204);
    }
    let tombstone = stack.get(&path(&space, 1)).await.must_be(200);
    assert_eq!(tombstone["parts"], json!([]));
    assert_eq!(tombstone["deleted"]["by"], "operator");
    for field in ["id", "seq", "sender", "createdAt"] {
        assert_eq!(tombstone[field], posted[field], "{field}");
    }
    for gone in ["mentions", "reactions", "reactionsRev", "router", "gate"] {
        assert_eq!(tombstone.get(gone), None, "{gone}");
    }
    assert_eq!(triggered_run(&tombstone, &agent).as_ref(), Some(&run));
    assert_eq!(stack.messages(&space).await[0], tombstone);
    let is_deleted = |frame: &Value| frame["message"]["deleted"].is_object();
    let frame = watcher.frame("message.updated", SOON, is_deleted).await;
    assert_eq!(frame.body["message"], tombstone);
    let is_unpinned = |frame: &Value| frame["space"].get("pins").is_none();
    watcher.frame("space.updated", SOON, is_unpinned).await;
    let pins = stack.get(&format!("/v1/spaces/{space}/pins")).await.must_be(200);
    assert_eq!(pins["items"], json!([]));
    // Its key comes again.
    let again = stack.post_with_key(&space, &person, secret, "once").await.must_be(201);
    assert_eq!(again, tombstone);
    let late = json!({"text": "Never mind.", "senderId": person});
    let refused = stack.edit(&space, 1, &late).await.must_be(409);
    assert_eq!(refused["detail"], "the message was deleted");
    stack.retry(&run).await.must_be(409);
}

#[tokio::test]
async fn a_deletion_cancels_the_runs_that_answer_nothing_else() {
    let stack = Stack::start().await;
    let long = "The secret is 4711. ".repeat(20);
    stack.model.answers("ada", move |_| {
        answer([call("send_message", json!({"text": long}))]).slow(10, Duration::from_millis(100))
    });
    let (person, agent, space) = stack.pair().await;
    let watcher = stack.socket().await;
    watcher.subscribe(&space, None).await;
    let question = stack.post(&space, &person, "What is the secret?").await;
    watcher.frame("stream.delta", SOON, |_| true).await;
    stack.delete_message(&space, 1).await.must_be(204);
    let run = stack.ended(&triggered_run(&question, &agent).unwrap(), SOON).await;
    assert_eq!((&run["status"], &run["endReason"]), (&json!("canceled"), &json!("deleted")));
    let ended = watcher.frame("stream.ended", SOON, |_| true).await;
    assert_eq!(ended.body.get("messageId"), None);
    stack.quiet(&space).await;
    assert_eq!(stack.messages(&space).await.len(), 1, "what was not finished is dropped");
}

#[tokio::test]
async fn a_run_that_starts_later_reads_the_new_text_with_warm_caches() {
    let stack = Stack::start().await;
    let (person, _, space) = stack.pair().await;
    stack.post(&space, &person, "v0").await;
    stack.quiet(&space).await;
    for round in 1..=20 {
        let new = format!("v{round}");
        let body = json!({"text": new, "senderId": person});
        stack.edit(&space, 1, &body).await.must_be(200);
        stack.post(&space, &person, "And now?").await;
        stack.quiet(&space).await;
        let history = history(&stack);
        let line = history.iter().find(|line| line.starts_with("#1 ")).unwrap();
        assert!(line.ends_with(&format!("\"{new}\" (edited)")), "{round}: {line}");
    }
    stack.delete_message(&space, 1).await.must_be(204);
    stack.post(&space, &person, "And now?").await;
    stack.quiet(&space).await;
    assert!(history(&stack).contains(&"#1 [deleted]".to_owned()));
}

#[tokio::test]
async fn a_run_at_work_hears_of_changes_before_its_next_step() {
    let stack = Stack::start().await;
    let gate = Gate::closed();
    let held = gate.clone();
    stack.model.answers("ada", move |request| match (&*request.trigger_text(), request.step()) {
        ("Begin.", 0) => answer([wait(&held), call("get_goals", json!({}))]),
        ("Begin.", 1) => answer([call("get_memories", json!({}))]),
        _ => stop(),
    });
    let (person, agent, space) = stack.pair().await;
    for early in ["One.", "Two."] {
        stack.post(&space, &person, early).await;
        stack.quiet(&space).await;
    }
    let begin = stack.post(&space, &person, "Begin.").await;
    gate.reached(1).await;
    stack.edit(&space, 1, &json!({"text": "Uno.", "senderId": person})).await.must_be(200);
    stack.delete_message(&space, 2).await.must_be(204);
    gate.open();
    stack.ended(&triggered_run(&begin, &agent).unwrap(), SOON).await;
    let requests = stack.model.requests("ada");
    let of_run: Vec<_> = requests.iter().filter(|it| it.trigger_text() == "Begin.").collect();
    assert_eq!(of_run.len(), 3);
    let notes = of_run[1].system_notes();
    assert_eq!(notes.len(), 1, "{notes:?}");
    let lines: Vec<&str> = notes[0].lines().collect();
    let title = format!("Edited or deleted in \"Team\" ({space}) since you read it:");
    assert_eq!(lines[0], title);
    assert!(
        lines.iter().any(|line| line.starts_with("#1 ") && line.ends_with("\"Uno.\" (edited)"))
    );
    assert!(lines.contains(&"#2 [deleted]"), "{lines:?}");
    assert_eq!(of_run[2].system_notes(), notes, "nothing has changed since");
}

#[tokio::test]
async fn an_agent_edits_and_deletes_its_messages_and_no_others() {
    let stack = Stack::start().await;
    let (person, agent, space) = stack.pair().await;
    let edits = |seq: u64, text: &str| call("edit_message", json!({"seq": seq, "text": text}));
    stack.model.plays(
        "ada",
        [
            answer([call("send_message", json!({"text": "50 %"}))]),
            answer([edits(2, "100 %")]),
            answer([edits(1, "Mine.")]),
            answer([edits(1, "")]),
            answer([edits(9, "None.")]),
            stop(),
        ],
    );
    let message = stack.post(&space, &person, "How far are you?").await;
    let run = stack.ended(&triggered_run(&message, &agent).unwrap(), SOON).await;
    assert_eq!(run["status"], "completed", "{run}");
    assert_eq!(stack.texts(&space).await, ["How far are you?", "100 %"]);
    let last = stack.model.requests("ada").pop().unwrap();
    let results = last.results();
    let [_, edited, foreign, deleted, none] = &results[..] else { panic!("{results:?}") };
    assert_eq!(edited, &json!({"success": true}));
    assert_eq!(foreign, &json!({"error": "only its sender edits a message"}));
    assert_eq!(deleted, &json!({"error": "it is not your message"}));
    assert_eq!(none, &json!({"error": "this space has no message 9"}));
    assert_eq!(last.system_notes(), [""; 0], "its own edit is no news");
}

/// How many messages are edited, deleted and reacted to at once, by default and with
/// `SMARTSPACE_CHANGE_ROUNDS`.
const ROUNDS: u64 = 60;
/// How many rounds later every other message is changed. A summary covers it then.
const LATER: u64 = 28;
/// The beginning of a word of each text. It is so long that no compressed item, which is stored as
/// Base64, has it by chance.
const WORD: &str = "zqxjwvkpt";

/// A space with two people and an agent, whose summaries repeat what they cover.
struct Crowd {
    stack: Stack,
    husam: String,
    sara: String,
    space: String,
}

impl Crowd {
    /// Returns `None` if the test is skipped.
    async fn new() -> Option<Self> {
        let stack = Stack::local().await?;
        stack.model.answers("ada", |request| {
            if !request.tools().is_empty() {
                return stop();
            }
            let read = request.body["messages"].to_string();
            let words = read.split(|char: char| !char.is_ascii_alphanumeric());
            let words: Vec<_> = words.filter(|word| word.starts_with(WORD)).collect();
            let summary = think(&format!("They said {}.", words.join(", ")));
            answer([summary]).slow(8, Duration::from_millis(20))
        });
        let husam = stack.person("Husam").await;
        let sara = stack.person("Sara").await;
        let model = json!({"provider": "openai", "name": stack.model.name("ada")});
        let ada = json!({"model": model, "context": {"window": 2}});
        let ada = stack.agent_with("Ada", ada).await;
        let space = stack.space("Team", &[&husam, &sara, &ada]).await;
        Some(Self { stack, husam, sara, space })
    }

    /// Edits and deletes a message and reacts to it, at once with what runs and summaries claim.
    async fn change(&self, seq: u64) {
        let Self { stack, husam, sara, space } = self;
        let edits = async {
            let body = json!({"text": format!("{WORD}e{seq} is new"), "senderId": husam});
            stack.edit(space, seq, &body).await.status
        };
        let deletes = async { stack.delete_message(space, seq).await.status };
        let reacts = async {
            let body = json!({"emoji": "👍", "senderId": sara});
            stack.put(&format!("{}/reactions", path(space, seq)), body).await.status
        };
        let (edited, deleted, reacted) = tokio::join!(edits, deletes, reacts);
        assert!([200, 409].contains(&edited) && [200, 409].contains(&reacted));
        assert_eq!(deleted, 204);
    }
}

#[tokio::test]
async fn nothing_follows_a_tombstone_whatever_happens_at_once() {
    let Some(mut crowd) = Crowd::new().await else { return };
    let Crowd { stack, husam, space, .. } = &crowd;
    let watcher = stack.socket().await;
    watcher.subscribe(space, None).await;
    let rounds = env::var("SMARTSPACE_CHANGE_ROUNDS").map_or(ROUNDS, |text| text.parse().unwrap());
    // An odd message waits until a summary may cover it.
    for round in 1..=rounds + LATER {
        if round <= rounds {
            stack.post(space, husam, &format!("{WORD}t{round} is old")).await;
        }
        if round % 2 == 0 && round <= rounds {
            crowd.change(round).await;
        }
        if let Some(odd) = round.checked_sub(LATER).filter(|seq| seq % 2 == 1) {
            crowd.change(odd).await;
        }
    }
    stack.quiet(space).await;
    let messages = stack.messages(space).await;
    for message in &messages {
        assert_eq!((&message["parts"], message.get("reactions")), (&json!([]), None), "{message}");
    }
    assert_tombstones_are_last(&watcher, &messages).await;
    let runs = stack.runs_of(space).await.iter().map(id).collect();
    stack.forgotten(WORD, runs, rounds).await;
    crowd.stack.kill9();
    let items = crowd.stack.items().await;
    let left = items.iter().filter(|item| item.text.contains(WORD)).map(|item| &item.name);
    assert_eq!(left.collect::<Vec<_>>(), [""; 0], "items with a deleted text");
}

/// Checks that the highest revision of each message in the frames is its tombstone.
async fn assert_tombstones_are_last(watcher: &Socket, messages: &[Value]) {
    for message in messages {
        let is_tombstone = |frame: &Value| {
            frame["message"]["id"] == message["id"] && frame["message"]["deleted"].is_object()
        };
        watcher.frame("message.updated", SOON, is_tombstone).await;
    }
    let frames = watcher.frames();
    for message in messages {
        let states = frames.iter().filter(|it| it.kind.starts_with("message."));
        let states = states.map(|frame| &frame.body["message"]);
        let newest = states
            .filter(|state| state["id"] == message["id"])
            .max_by_key(|state| state["rev"].as_u64())
            .unwrap();
        assert_eq!(newest["parts"], json!([]), "the highest revision is the tombstone");
    }
}

#[tokio::test]
async fn owners_delete_what_others_wrote_and_members_only_their_own() {
    let Some(stack) = Stack::with_secret(&[]).await else { return };
    let people = ["Husam", "Sara", "Noor"].map(|name| stack.person(name));
    let people = join_all(people).await;
    let [owner, sara, noor] = &people[..] else { unreachable!() };
    let space = stack.as_entity(owner).space("Team", &[sara, noor]).await;
    for _ in 0..2 {
        stack.post(&space, sara, "Hello.").await;
    }
    let text = json!({"text": "Hello again."});
    for other in [owner, noor] {
        let refused = stack.as_entity(other).edit(&space, 1, &text).await.must_be(403);
        assert_eq!(refused["detail"], "only its sender edits a message");
    }
    stack.as_entity(sara).edit(&space, 1, &text).await.must_be(200);
    stack.as_entity(noor).delete_message(&space, 1).await.must_be(403);
    for (caller, seq, by) in [(sara, 1, "sender"), (owner, 2, "owner")] {
        stack.as_entity(caller).delete_message(&space, seq).await.must_be(204);
        let tombstone = stack.get(&path(&space, seq)).await.must_be(200);
        assert_eq!(tombstone["deleted"]["by"], by);
    }
    let of_sara = format!("/v1/spaces/{space}/members/{sara}");
    stack.as_entity(sara).delete(&of_sara).await.must_be(204);
    let former = stack.as_entity(sara).delete_message(&space, 1).await.must_be(404);
    assert_eq!(former["detail"], "there is no such space");
}
