//! Questions that name nobody are not left to silence.

use std::{env, time::Duration};

use serde_json::{Value, json};
use tokio::time::sleep;

use crate::support::{
    model::{Answer, Gate, ModelRequest, answer, call, http, say, stop, think, wait},
    routes::text,
    stack::Stack,
    waiting::{SOON, wait_for},
};

const ONE_TO_ANSWER: &str = "You are the one to answer";

fn skip() -> Answer {
    call("skip_response", json!({"reason": "not my field"})).into()
}

/// Whether the run of a request is for a question that nobody has answered.
fn is_for_unanswered(request: &ModelRequest) -> bool {
    request.user().block("TRIGGER").join("\n").contains(ONE_TO_ANSWER)
}

/// A person and two agents that stay silent unless they are the one to answer.
struct Room {
    person: String,
    space: String,
}

impl Room {
    async fn new(stack: &Stack, settings: Value) -> Self {
        for name in ["Ada", "Bob"] {
            stack.model.answers(name, |request| match request.step() {
                0 if is_for_unanswered(request) => say("I do not know.").into(),
                0 => skip(),
                _ => stop(),
            });
        }
        let person = stack.person("Husam").await;
        let mut members = vec![person.clone()];
        for name in ["Ada", "Bob"] {
            members.push(stack.agent(name, &stack.model.name(name)).await);
        }
        let members: Vec<_> = members.iter().collect();
        let space = stack.space_with("Team", &members, settings).await;
        Self { person, space }
    }

    /// Waits for the run for a question that nobody has answered. Returns it with its steps.
    async fn last_run(&self, stack: &Stack) -> Value {
        let run = wait_for("the run for an unanswered question", SOON, async || {
            let runs = stack.runs_of(&self.space).await;
            runs.into_iter().find(|run| run["trigger"]["source"] == "unanswered")
        })
        .await;
        stack.ended(run["id"].as_str().unwrap(), SOON).await
    }
}

#[tokio::test]
async fn the_question_of_a_person_who_is_alone_with_silent_agents_is_answered_at_once() {
    let stack = Stack::start().await;
    let room = Room::new(&stack, json!({})).await;
    stack.post(&room.space, &room.person, "Good morning!").await;
    stack.quiet(&room.space).await;
    let question = stack.post(&room.space, &room.person, "Where is the report?").await;
    let run = room.last_run(&stack).await;
    assert_eq!((&run["status"], &run["endReason"]), (&json!("completed"), &json!("done")));
    assert_eq!(run["trigger"]["messageId"], question["id"]);
    assert_eq!(run["chainDepth"], question["chainDepth"]);
    stack.quiet(&room.space).await;
    let expected = ["Good morning!", "Where is the report?", "I do not know."];
    assert_eq!(stack.texts(&room.space).await, expected);
    let runs = stack.runs_of(&room.space).await;
    let answers: Vec<_> =
        runs.iter().filter(|run| run["trigger"]["source"] == "unanswered").collect();
    assert_eq!(answers.len(), 1, "{answers:?}");
    let asked = |model| stack.model.requests(model).into_iter().find(is_for_unanswered);
    let request = asked("Ada").or_else(|| asked("Bob")).unwrap();
    let head = request.user().block("TRIGGER")[0].clone();
    assert!(
        head.contains(
            "nobody has answered #2. You are the one to answer: say what you know, or that you do \
             not know"
        ),
        "{head}"
    );
    assert!(request.tools().contains(&"skip_response"), "{:?}", request.tools());
}

#[tokio::test]
async fn the_last_one_to_answer_cannot_skip_a_person_who_is_alone() {
    let stack = Stack::start().await;
    let room = Room::new(&stack, json!({})).await;
    for name in ["Ada", "Bob"] {
        stack.model.answers(name, |request| match request.step() {
            0 => skip(),
            1 if is_for_unanswered(request) => say("I have no idea.").into(),
            _ => stop(),
        });
    }
    stack.post(&room.space, &room.person, "Where is the report?").await;
    let run = room.last_run(&stack).await;
    let refused = &run["steps"][0]["calls"][0];
    assert_eq!(refused["name"], "skip_response");
    assert_eq!(
        refused["output"],
        json!({"error": "nobody else answers: say what you know, or that you do not know"})
    );
    assert_eq!(stack.texts(&room.space).await, ["Where is the report?", "I have no idea."]);
}

#[tokio::test]
async fn silence_stays_where_no_question_was_left() {
    let stack = Stack::start().await;
    let room = Room::new(&stack, json!({})).await;
    let off = Room::new(&stack, json!({"answerQuestions": false})).await;
    let named = Room::new(&stack, json!({"triggerPolicy": "mention"})).await;
    for text in ["Where is the report!", "`a?b`", "https://example.com/?a=b", "@Ada where is it?"] {
        stack.post(&room.space, &room.person, text).await;
        stack.quiet(&room.space).await;
    }
    for other in [&off, &named] {
        stack.post(&other.space, &other.person, "Where is the report?").await;
        stack.quiet(&other.space).await;
    }
    // A failure is shown, and nobody answers instead.
    stack.model.answers("Ada", |_| http(400));
    stack.post(&room.space, &room.person, "Where is the report?").await;
    for room in [&room, &off, &named] {
        stack.quiet(&room.space).await;
    }
    // This question is answered, so all that came before it was looked at.
    let last = Room::new(&stack, json!({})).await;
    stack.post(&last.space, &last.person, "Where is the report?").await;
    last.last_run(&stack).await;
    for room in [&room, &off, &named] {
        let runs = stack.runs_of(&room.space).await;
        assert!(runs.iter().all(|run| run["trigger"]["source"] != "unanswered"), "{runs:?}");
    }
}

#[tokio::test]
async fn a_question_for_which_a_router_chooses_nobody_wakes_the_best_agent() {
    let stack = Stack::start().await;
    let model = json!({"provider": "openai", "name": stack.model.name("router")});
    let settings = json!({
        "triggerPolicy": "router", "gate": {"mode": "off"}, "router": {"model": model},
    });
    let room = Room::new(&stack, settings).await;
    stack.model.answers("router", |_| {
        answer([think("Hm."), call("choose", json!({"agents": [], "others": []}))])
    });
    stack.post(&room.space, &room.person, "Where is the report!").await;
    stack.quiet(&room.space).await;
    let question = stack.post(&room.space, &room.person, "Where is the report?").await;
    let run = room.last_run(&stack).await;
    assert_eq!(run["trigger"]["messageId"], question["id"]);
    let messages = stack.messages(&room.space).await;
    let woken = |message: &Value| -> Vec<String> {
        let entries = message["dispatch"].as_array().unwrap().iter();
        let woken = entries.filter(|entry| entry["source"] == "router");
        woken.map(|entry| entry["reasonText"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(woken(&messages[0]), [""; 0]);
    let words = woken(&messages[1]);
    assert!(words.len() == 1 && words[0].contains("; best is 0."), "{words:?}");
    assert_eq!(text(messages.last().unwrap()), "I do not know.");
}

#[tokio::test]
async fn a_run_that_ends_with_nothing_said_was_silent() {
    let stack = Stack::start().await;
    let room = Room::new(&stack, json!({})).await;
    stack.model.answers("Ada", |request| match request.step() {
        0 if is_for_unanswered(request) => say("I do not know.").into(),
        0 => answer([think("It is on the desk.")]),
        _ => stop(),
    });
    let question = stack.post(&room.space, &room.person, "Where is the report?").await;
    let run = room.last_run(&stack).await;
    assert_eq!(run["trigger"]["messageId"], question["id"]);
    stack.quiet(&room.space).await;
    let texts = stack.texts(&room.space).await;
    assert_eq!(texts, ["Where is the report?", "I do not know."]);
}

#[tokio::test]
async fn the_question_of_a_run_that_was_replaced_is_left_to_the_newer_run() {
    let stack = Stack::start().await;
    let room = Room::new(&stack, json!({})).await;
    let gate = Gate::closed();
    let held = gate.clone();
    stack.model.answers("Kim", move |request| match request.step() {
        0 if is_for_unanswered(request) => say("I do not know.").into(),
        0 if request.trigger_text().contains("Where") => answer([wait(&held), say("Here.")]),
        0 => skip(),
        _ => stop(),
    });
    let model = json!({"provider": "openai", "name": stack.model.name("Kim")});
    let config = json!({"model": model, "concurrency": {"mode": "latest"}});
    let kim = stack.agent_with("Kim", config).await;
    let space = stack.space("Latest", &[&room.person, &kim]).await;
    let question = stack.post(&space, &room.person, "Where is the report?").await;
    stack.model.nth_request("Kim", 1).await;
    stack.post(&space, &room.person, "I need it.").await;
    let run = Room { space: space.clone(), ..room }.last_run(&stack).await;
    assert_eq!(run["trigger"]["messageId"], question["id"]);
    gate.open();
    stack.quiet(&space).await;
    let texts = stack.texts(&space).await;
    assert_eq!(texts, ["Where is the report?", "I need it.", "I do not know."]);
}

/// How often the process is killed, by default and with `SMARTSPACE_QUESTION_KILLS`.
const KILLS: u64 = 3;

#[tokio::test]
async fn a_process_that_dies_after_a_silent_run_leaves_no_question() {
    let Some(mut stack) = Stack::local().await else { return };
    let kills = env::var("SMARTSPACE_QUESTION_KILLS").map_or(KILLS, |text| text.parse().unwrap());
    let room = Room::new(&stack, json!({})).await;
    for number in 0..kills {
        let asked = stack.model.requests("Ada").len() + 1;
        let text = format!("Where is report {number}?");
        stack.post(&room.space, &room.person, &text).await;
        stack.model.nth_request("Ada", asked).await;
        // Somewhere between the silent answers and the end of the run that answers.
        sleep(Duration::from_millis(number * 7 % 50)).await;
        stack.kill9();
        stack.restart().await;
        wait_for("the answer", SOON, async || {
            let answers = stack.texts(&room.space).await.len() as u64;
            (answers == 2 * (number + 1)).then_some(())
        })
        .await;
        stack.quiet(&room.space).await;
    }
    let answers = stack.texts(&room.space).await;
    let answers = answers.iter().filter(|text| *text == "I do not know.").count() as u64;
    assert_eq!(answers, kills);
}
