//! What is `[SEEN]` and what is `[NEW]` where runs of one agent go side by side, end in another order, fail, and read elsewhere.

use serde_json::json;

use super::{
    model::{Asked, Gate, Line, call, http, stop, wait},
    routes::woken,
    stack::Stack,
    waiting::SOON,
};

/// The first step of the run that a text woke: for each message whether it was seen.
fn marks(stack: &Stack, trigger: &str) -> String {
    let asked: Vec<Asked> = stack.model.asked("ada");
    let first = asked.iter().find(|asked| asked.step() == 0 && asked.trigger_text() == trigger).unwrap();
    first.user().timeline().iter().map(|line: &Line| if line.seen { 's' } else { 'N' }).collect()
}

#[tokio::test]
async fn runs_side_by_side_leave_new_what_no_completed_run_was_shown() {
    let stack = Stack::start().await;
    let (slow, fails) = (Gate::closed(), Gate::closed());
    let gates = (slow.clone(), fails.clone());
    stack.model.answers("ada", move |asked| match (asked.trigger_text().as_str(), asked.step()) {
        ("1", 0) => wait(&gates.0).into(),
        ("2", 0) => {
            if gates.1.is_open() {
                http(400)
            } else {
                wait(&gates.1).into()
            }
        }
        _ => stop(),
    });
    let (person, agent, space) = stack.pair().await;
    let first = stack.post(&space, &person, "1").await;
    slow.reached(1).await;
    // The second run has read both and fails, while the first is still at work.
    fails.open();
    let second = stack.post(&space, &person, "2").await;
    assert_eq!(stack.ended(&woken(&second, &agent).unwrap(), SOON).await["status"], "failed");
    let third = stack.post(&space, &person, "3").await;
    assert_eq!(marks_once(&stack, &third, &agent, "3").await, "NNN", "one failed, one is not done");
    let fourth = stack.post(&space, &person, "4").await;
    assert_eq!(marks_once(&stack, &fourth, &agent, "4").await, "sssN");
    // The first completes last: it had read one message, and takes nothing back.
    slow.open();
    assert_eq!(stack.ended(&woken(&first, &agent).unwrap(), SOON).await["status"], "completed");
    let fifth = stack.post(&space, &person, "5").await;
    assert_eq!(marks_once(&stack, &fifth, &agent, "5").await, "ssssN");
}

async fn marks_once(stack: &Stack, message: &serde_json::Value, agent: &str, trigger: &str) -> String {
    stack.ended(&woken(message, agent).unwrap(), SOON).await;
    marks(stack, trigger)
}

#[tokio::test]
async fn what_a_run_reads_elsewhere_is_seen_there_once_it_has_completed() {
    read_elsewhere(false).await;
}

#[tokio::test]
async fn pages_that_are_read_backwards_leave_no_gap() {
    read_elsewhere(true).await;
}

async fn read_elsewhere(read_in_pages: bool) {
    let stack = Stack::start().await;
    let (person, agent, space) = stack.pair().await;
    let board = stack.space_with("Board", &[&person, &agent], json!({"triggerPolicy": "mention"})).await;
    let other = stack.person("Sarah").await;
    stack.put(&format!("/v1/spaces/{board}/members/{other}"), json!({})).await.must_be(200);
    for number in 1..=12 {
        stack.post(&board, &person, &format!("b{number}")).await;
    }
    let entered = board.clone();
    stack.model.answers("ada", move |asked| match (asked.trigger_text().as_str(), asked.step()) {
        ("back", 0) => call("read_messages", json!({"spaceId": entered, "limit": 3})).into(),
        ("enter and fail" | "enter", 0) => call("enter_space", json!({"spaceId": entered, "limit": 2})).into(),
        ("enter and fail", 1) => http(400),
        // Backwards, in pages, from the end to the beginning: the last of them closes the gap.
        ("page", step) if step < 3 => call("read_messages", json!({"spaceId": entered, "limit": 4, "before": 13 - 4 * step})).into(),
        _ => stop(),
    });
    let unread = async |text: &str| {
        let message = stack.post(&space, &person, text).await;
        stack.ended(&woken(&message, &agent).unwrap(), SOON).await
    };
    // The last three, with a gap below them: all of it stays new.
    unread("back").await;
    unread("enter and fail").await;
    if read_in_pages {
        let run = unread("page").await;
        assert_eq!(run["steps"][2]["calls"][0]["output"]["messages"][0]["seq"], 1);
        let run = unread("enter").await;
        let output = &run["steps"][0]["calls"][0]["output"];
        return assert_eq!((&output["unreadBefore"], &output["history"][0]["seen"]), (&json!(0), &json!(true)));
    }
    let run = unread("enter").await;
    let output = &run["steps"][0]["calls"][0]["output"];
    assert_eq!(
        (&output["unreadBefore"], &output["totalMessages"]),
        (&json!(10), &json!(12)),
        "nothing was read, and what is not shown is counted"
    );
    assert_eq!(output["history"][0]["seen"], false);
    let run = unread("enter").await;
    let output = &run["steps"][0]["calls"][0]["output"];
    assert_eq!((&output["unreadBefore"], &output["history"][1]["seen"]), (&json!(0), &json!(true)));
}
