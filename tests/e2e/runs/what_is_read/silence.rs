//! `skip_response` means silence only if the run has said nothing.

use serde_json::{Value, json};

use crate::support::{
    model::{Answer, Part, answer, call, say, stop},
    routes::triggered_run,
    stack::Stack,
    waiting::SOON,
};

/// The run of an agent that answers so. It is in the spaces Team, where it is asked, and Log.
async fn run_of(answers: impl IntoIterator<Item = Answer>) -> Value {
    let stack = Stack::start().await;
    let (person, agent, team) = stack.pair().await;
    stack.space("Log", &[&person, &agent]).await;
    stack.model.plays("ada", answers);
    let question = stack.post(&team, &person, "Is it done?").await;
    stack.ended(&triggered_run(&question, &agent).unwrap(), SOON).await
}

fn skip() -> Part {
    call("skip_response", json!({"reason": "it is answered"}))
}

#[tokio::test]
async fn a_run_that_has_spoken_in_any_step_or_space_is_done() {
    let elsewhere = [call("enter_space", json!({"spaceId": "Log"})), say("It is done.")];
    for answers in [
        vec![say("Yes.").into(), answer([skip()])],
        vec![say("Yes.").into(), call("get_memories", json!({})).into(), answer([skip()])],
        vec![answer(elsewhere), answer([skip()])],
    ] {
        let run = run_of(answers).await;
        assert_eq!((&run["endReason"], &run["reason"]), (&json!("done"), &Value::Null), "{run}");
        let last = run["steps"].as_array().unwrap().last().unwrap();
        assert_eq!(last["calls"][0]["input"]["reason"], "it is answered", "the step keeps it");
    }
}

#[tokio::test]
async fn a_run_whose_message_was_refused_has_said_nothing() {
    let refused = call("send_message", json!({"text": ""}));
    for answers in [
        vec![answer([skip()]), stop()],
        vec![answer([refused, skip()]), stop()],
        vec![call("get_memories", json!({})).into(), answer([skip()])],
    ] {
        let run = run_of(answers).await;
        let expected = (&json!("skipped"), &json!("it is answered"));
        assert_eq!((&run["endReason"], &run["reason"]), expected, "{run}");
    }
}
