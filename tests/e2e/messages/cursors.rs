//! The `[SEEN]` and `[NEW]` marks, if runs of one agent overlap, end in another order, fail, or
//! read other spaces.

use serde_json::{Value, json};

use crate::support::{
    model::{Gate, Line, ModelRequest, Prompt, call, http, stop, wait},
    routes::triggered_run,
    stack::Stack,
    waiting::SOON,
};

/// The marks in the first prompt of the run that a text triggered: `s` for seen, `N` for new.
fn marks(stack: &Stack, trigger: &str) -> String {
    let requests: Vec<ModelRequest> = stack.model.requests("ada");
    let first = requests
        .iter()
        .find(|request| request.step() == 0 && request.trigger_text() == trigger)
        .unwrap();
    first.user().timeline().iter().map(|line: &Line| if line.seen { 's' } else { 'N' }).collect()
}

#[tokio::test]
async fn overlapping_runs_leave_new_the_messages_that_no_completed_run_has_read() {
    let stack = Stack::start().await;
    let slow = Gate::closed();
    let fails = Gate::closed();
    let slow_gate = slow.clone();
    let fails_gate = fails.clone();
    stack.model.answers("ada", move |request| {
        match (request.trigger_text().as_str(), request.step()) {
            ("1", 0) => wait(&slow_gate).into(),
            ("2", 0) => {
                if fails_gate.is_open() {
                    http(400)
                } else {
                    wait(&fails_gate).into()
                }
            }
            _ => stop(),
        }
    });
    let (person, agent, space) = stack.pair().await;
    stack.side_by_side(&agent).await;
    let first = stack.post(&space, &person, "1").await;
    slow.reached(1).await;
    // The second run has read both messages and fails, while the first one still works.
    fails.open();
    let second = stack.post(&space, &person, "2").await;
    assert_eq!(
        stack.ended(&triggered_run(&second, &agent).unwrap(), SOON).await["status"],
        "failed"
    );
    let third = stack.post(&space, &person, "3").await;
    let third = marks_once(&stack, &third, &agent, "3").await;
    assert_eq!(third, "NNN", "one run failed, the other has not completed");
    let fourth = stack.post(&space, &person, "4").await;
    assert_eq!(marks_once(&stack, &fourth, &agent, "4").await, "sssN");
    // The first run completes last. It has read only one message, but it does not move the cursor
    // back.
    slow.open();
    assert_eq!(
        stack.ended(&triggered_run(&first, &agent).unwrap(), SOON).await["status"],
        "completed"
    );
    let fifth = stack.post(&space, &person, "5").await;
    assert_eq!(marks_once(&stack, &fifth, &agent, "5").await, "ssssN");
}

async fn marks_once(
    stack: &Stack,
    message: &serde_json::Value,
    agent: &str,
    trigger: &str,
) -> String {
    stack.ended(&triggered_run(message, agent).unwrap(), SOON).await;
    marks(stack, trigger)
}

#[tokio::test]
async fn messages_that_a_run_reads_in_another_space_are_seen_once_it_completes() {
    read_elsewhere(false).await;
}

#[tokio::test]
async fn reading_pages_backwards_leaves_no_gap_below_the_cursor() {
    read_elsewhere(true).await;
}

async fn read_elsewhere(read_in_pages: bool) {
    let stack = Stack::start().await;
    let (person, agent, space) = stack.pair().await;
    let board =
        stack.space_with("Board", &[&person, &agent], json!({"triggerPolicy": "mention"})).await;
    let other = stack.person("Sarah").await;
    stack.put(&format!("/v1/spaces/{board}/members/{other}"), json!({})).await.must_be(200);
    for number in 1..=12 {
        stack.post(&board, &person, &format!("b{number}")).await;
    }
    let entered = board.clone();
    stack.model.answers("ada", move |request| {
        match (request.trigger_text().as_str(), request.step()) {
            ("back", 0) => call("read_messages", json!({"spaceId": entered, "limit": 3})).into(),
            ("enter and fail" | "enter", 0) => {
                call("enter_space", json!({"spaceId": entered, "limit": 2})).into()
            }
            ("enter and fail", 1) => http(400),
            // Read pages from the end to the beginning. The last page closes the gap.
            ("page", step) if step < 3 => call(
                "read_messages",
                json!({"spaceId": entered, "limit": 4, "before": 13 - 4 * step}),
            )
            .into(),
            _ => stop(),
        }
    });
    let run_on = async |text: &str| {
        let message = stack.post(&space, &person, text).await;
        stack.ended(&triggered_run(&message, &agent).unwrap(), SOON).await
    };
    // These runs read only the last messages. A gap remains below them, so all messages stay new.
    run_on("back").await;
    run_on("enter and fail").await;
    if read_in_pages {
        let run = run_on("page").await;
        let page = Prompt::of_result(&run["steps"][2]["calls"][0]["output"]);
        assert_eq!(page.timeline()[0].seq, 1);
        let run = run_on("enter").await;
        return assert_eq!(shown_at_entry(&run), (ALL_SEEN.to_owned(), vec![true, true]));
    }
    let run = run_on("enter").await;
    assert_eq!(
        shown_at_entry(&run),
        ("… 10 earlier messages, 10 of them [NEW]".to_owned(), vec![false, false]),
        "all messages are unread, and the hidden ones are counted"
    );
    let run = run_on("enter").await;
    assert_eq!(shown_at_entry(&run), (ALL_SEEN.to_owned(), vec![true, true]));
}

const ALL_SEEN: &str = "… 10 earlier messages";

/// What the first call of a run shows of the space that it has entered: how many messages precede
/// the shown ones, and which of these are seen.
fn shown_at_entry(run: &Value) -> (String, Vec<bool>) {
    let entered = Prompt::of_result(&run["steps"][0]["calls"][0]["output"]);
    let earlier = entered.block("SPACE HISTORY")[1].split(';').next().unwrap().to_owned();
    (earlier, entered.timeline().iter().map(|line| line.seen).collect())
}
