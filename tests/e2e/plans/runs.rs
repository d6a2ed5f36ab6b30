//! Runs that plans trigger. Such a run starts without an active space and enters the spaces that it
//! posts to. [`broken_off`] has the interruptions.

mod broken_off;
mod cards;
mod three_spaces;

use serde_json::{Value, json};

use crate::{
    plans::{
        operator::{daily, once},
        runs::three_spaces::Rounds,
    },
    support::{
        model::{Part, answer, call, say, stop},
        routes::{id, text, triggered_run},
        stack::Stack,
        waiting::SOON,
    },
};

fn enter(space: &str) -> Part {
    call("enter_space", json!({ "spaceId": space }))
}

/// A time as the prompt shows it.
fn in_seconds(time: &Value) -> String {
    format!("{}Z", &time.as_str().unwrap()[..19])
}

fn in_minutes(time: &Value) -> String {
    time.as_str().unwrap()[..16].replace('T', " ")
}

#[tokio::test]
async fn a_plan_triggers_a_run_without_an_active_space() {
    let stack = Stack::start().await;
    let (_, agent, space) = stack.pair().await;
    let entered = space.clone();
    stack.model.answers("ada", move |request| match request.step() {
        0 => answer([say("Too early."), call("read_messages", json!({}))]),
        1 => answer([enter(&entered), say("Hello.")]),
        _ => stop(),
    });
    let weekly = stack.plan(&agent, daily("Weekly \"numbers\"")).await;
    let paused = stack.plan(&agent, daily("Paused")).await;
    stack
        .put(&format!("/v1/agents/{agent}/plans/{}", id(&paused)), json!({ "status": "paused" }))
        .await
        .must_be(200);
    let later = stack.plan(&agent, once("Later", "2 hours")).await;
    let plan = stack.plan(&agent, once("Greeting", "1 second")).await;
    let fired = stack.fired(&agent, 1).await;
    let run = stack.ended(&id(&fired[0]), SOON).await;

    let requests = stack.model.requests("ada");
    let user = requests[0].user();
    assert_eq!(user.names(), ["PLANS", "ACTIVE SPACE", "TRIGGER", "NOW"]);
    let active = [
        "ACTIVE SPACE: none (call enter_space first)",
        "enter_space says whom a message wakes there.",
    ];
    assert_eq!(user.block("ACTIVE SPACE"), active);
    let trigger = [
        format!(
            "TRIGGER: plan \"Greeting\" ({}), scheduled for {}",
            id(&plan),
            in_seconds(&plan["nextRunAt"])
        ),
        "\"Say hello.\"".to_owned(),
    ];
    assert_eq!(user.block("TRIGGER"), trigger);
    assert_plans_block(user.block("PLANS"), &weekly, &later);
    let system = requests[0].system();
    assert!(system.block("YOUR SPACES")[1].contains(&space), "{system:?}");

    let results = requests[1].results();
    assert_eq!(results[0], json!({ "error": "no space is active; call enter_space first" }));
    assert!(results[1]["error"].is_string(), "{}", results[1]);
    assert_eq!(stack.texts(&space).await, ["Hello."]);
    assert_eq!((&run["status"], &run["activeSpaceId"]), (&json!("completed"), &json!(space)));
}

/// Checks that the block shows two active plans in the order of their times, and no other plan.
fn assert_plans_block(block: &[String], weekly: &Value, later: &Value) {
    let shown: Vec<&str> =
        block[1..].iter().map(|line| line.split(", in ").next().unwrap()).collect();
    let weekly_line = format!(
        "- \"Weekly \\\"numbers\\\"\" ({}, cron: 0 9 * * * Europe/Berlin, next: {}",
        id(weekly),
        in_minutes(&weekly["nextRunAt"])
    );
    let later_line =
        format!("- \"Later\" ({}, once: {}", id(later), in_minutes(&later["nextRunAt"]));
    let mut expected = [(&weekly["nextRunAt"], weekly_line), (&later["nextRunAt"], later_line)];
    expected.sort_by_key(|(next, _)| next.to_string());
    assert_eq!(
        shown,
        expected.each_ref().map(|(_, line)| line.as_str()),
        "paused and past plans are not shown"
    );
    let line = block.iter().find(|line| line.contains("Later")).unwrap();
    assert!(line.ends_with("[set via runAfter: \"2 hours\"]"), "{line}");
}

#[tokio::test]
async fn the_note_below_a_message_names_the_plan_and_the_used_tools() {
    let rounds = Rounds::with(json!([])).await;
    let run = rounds.run([answer([enter(&rounds.spaces[0]), say("Report")]), stop()]).await;
    rounds.stack.ended(&run, SOON).await;
    rounds.stack.model.replies("ada", |_| stop());
    let question = rounds.stack.post(&rounds.spaces[0], &rounds.people[0], "Thanks!").await;
    rounds.stack.ended(&triggered_run(&question, &rounds.agent).unwrap(), SOON).await;
    let own = rounds.stack.model.requests("ada").pop().unwrap().user().timeline().swap_remove(0);
    assert_eq!(
        own.note.as_deref(),
        Some("sent because plan \"Daily Report\" fired; used enter_space")
    );
}

#[tokio::test]
async fn a_run_of_a_plan_cannot_delegate() {
    let rounds = Rounds::with(json!([])).await;
    let Rounds { stack, spaces, .. } = &rounds;
    let other = stack.agent("Bea", &stack.model.name("bea")).await;
    stack.put(&format!("/v1/spaces/{}/members/{other}", spaces[0]), json!({})).await.must_be(200);
    let settings = json!({ "triggerPolicy": "admin", "adminAgentId": rounds.agent });
    stack.patch(&format!("/v1/spaces/{}", spaces[0]), settings).await.must_be(200);
    let run = rounds
        .run([answer([enter(&spaces[0]), call("delegate", json!({ "entityId": other }))]), stop()])
        .await;
    assert_eq!(stack.ended(&run, SOON).await["endReason"], "done");
    let results = stack.model.requests("ada").pop().unwrap().results();
    assert_eq!(
        results[1],
        json!({ "error": "no message of a space woke you: there is nothing to hand on" })
    );
    assert!(stack.model.requests("bea").is_empty());
}

#[tokio::test]
async fn messages_of_a_plans_run_trigger_others_one_deeper() {
    let rounds = Rounds::with(json!([])).await;
    let Rounds { stack, spaces, .. } = &rounds;
    let other = stack.agent("Bea", &stack.model.name("bea")).await;
    stack.model.replies("bea", |request| say(&format!("re: {}", request.trigger_text())));
    stack.put(&format!("/v1/spaces/{}/members/{other}", spaces[0]), json!({})).await.must_be(200);
    let run = rounds.run([answer([enter(&spaces[0]), say("Report")]), stop()]).await;
    stack.ended(&run, SOON).await;
    stack.quiet(&spaces[0]).await;
    let messages: Vec<_> = stack
        .messages(&spaces[0])
        .await
        .iter()
        .map(|message| (text(message).to_owned(), message["chainDepth"].clone()))
        .collect();
    let expected = [("Report".to_owned(), json!(1)), ("re: Report".to_owned(), json!(2))];
    assert_eq!(messages[..2], expected);
    assert_eq!(stack.run(&run).await["chainDepth"], 0);
}
