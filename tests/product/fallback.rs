//! Who is asked when a model does not answer: another provider's model.

use std::{collections::BTreeSet, time::Duration};

use serde_json::{Value, json};

use super::{
    model::{Answer, Api, Gate, answer, http, say, say_held, stop},
    routes::woken,
    socket::Socket,
    stack::Stack,
    waiting::SOON,
};

/// Three repetitions, each of which waits longer than the one before.
const PATIENT: Duration = Duration::from_mins(1);

/// An agent whose model `ada` of Anthropic is backed by `bea` of `OpenAI`, a person who follows their space, and what was asked.
struct Backed {
    stack: Stack,
    space: String,
    socket: Socket,
    run: String,
}

impl Backed {
    /// Where `ada` always answers so.
    async fn asked(ada: impl Fn() -> Answer + Send + Sync + 'static, bea: impl IntoIterator<Item = Answer>) -> Self {
        let stack = Stack::start().await;
        stack.model.answers("ada", move |_| ada());
        stack.model.plays("bea", bea);
        let person = stack.person("Husam").await;
        let (main, second) = (stack.model.name("ada"), stack.model.name("bea"));
        let model = json!({ "provider": "anthropic", "name": main, "fallback": [{ "provider": "openai", "name": second }] });
        let agent = stack.agent_with("Ada", json!({ "model": model })).await;
        let space = stack.space("Team", &[&person, &agent]).await;
        let socket = stack.socket_of(&person).await;
        socket.subscribe(&space, None).await;
        let question = stack.post(&space, &person, "Hello?").await;
        Self { run: woken(&question, &agent).unwrap(), stack, space, socket }
    }

    async fn ended(&self) -> Value {
        self.stack.ended(&self.run, PATIENT).await
    }

    fn times(&self, model: &str) -> usize {
        self.stack.model.asked(model).len()
    }
}

#[tokio::test]
async fn an_overload_that_lasts_is_answered_by_the_fallback() {
    let backed = Backed::asked(|| http(529), [say("From the second.").into(), stop()]).await;
    let run = backed.ended().await;
    assert_eq!((run["status"].as_str(), &run["error"]), (Some("completed"), &Value::Null), "{run}");
    assert_eq!(backed.stack.texts(&backed.space).await, ["Hello?", "From the second."]);
    let models: Vec<_> = run["steps"].as_array().unwrap().iter().map(|step| step["model"].as_str().unwrap()).collect();
    assert_eq!(models, vec![format!("openai/{}", backed.stack.model.name("bea")); 2]);
    // Each of the two steps asks the first model, three times again, then the second one once.
    assert_eq!((backed.times("ada"), backed.times("bea")), (8, 2));
    let (first, second) = (&backed.stack.model.asked("ada")[0], &backed.stack.model.asked("bea")[0]);
    assert_eq!((first.api, second.api), (Api::Anthropic, Api::OpenAi));
    assert_eq!(second.trigger_text(), "Hello?");
    assert_eq!(second.tools(), first.tools());
}

#[tokio::test]
async fn what_no_repetition_helps_against_goes_to_the_fallback_at_once() {
    let backed = Backed::asked(|| http(401), [say("From the second.").into(), stop()]).await;
    assert_eq!(backed.ended().await["status"], "completed");
    assert_eq!((backed.times("ada"), backed.times("bea")), (2, 2));
}

#[tokio::test]
async fn where_both_fail_the_run_fails_with_the_last_code() {
    let backed = Backed::asked(|| http(529), [http(400)]).await;
    let run = backed.ended().await;
    assert_eq!((run["status"].as_str(), run["error"]["code"].as_str()), (Some("failed"), Some("bad_request")), "{run}");
    assert_eq!((backed.times("ada"), backed.times("bea")), (4, 1));
    backed.socket.frame("run.failed", SOON, |frame| frame["run"]["id"] == backed.run.as_str()).await;
    assert_eq!(backed.stack.texts(&backed.space).await, ["Hello?"]);
}

#[tokio::test]
async fn a_step_of_one_model_goes_on_with_another() {
    let (first, gate) = (Gate::closed(), Gate::closed());
    gate.open();
    let turn = std::sync::atomic::AtomicBool::new(true);
    let ada = move || {
        let held = answer([say_held("From the fi", &gate, "rst.")]);
        if turn.swap(false, std::sync::atomic::Ordering::Relaxed) { held } else { http(400) }
    };
    let backed = Backed::asked(ada, [answer([say_held("From the sec", &first, "ond.")]), stop()]).await;
    first.reached(1).await;
    // It reads what the other one said and called, in its own language.
    let asked = backed.stack.model.asked("bea").remove(0);
    assert_eq!((asked.step(), &asked.results()[0]["status"]), (1, &json!("delivered")));
    first.open();
    assert_eq!(backed.ended().await["status"], "completed");
    assert_eq!(backed.stack.texts(&backed.space).await, ["Hello?", "From the first.", "From the second."]);
}

#[tokio::test]
async fn half_a_text_ends_in_the_browsers_before_the_fallback_says_its_own() {
    let (half_said, gate) = (Gate::closed(), Gate::closed());
    let held = half_said.clone();
    // It fails a piece behind the gate.
    let half = move || answer([say_held("A text that never", &held, " comes to its end.")]).fails_after(10);
    let backed = Backed::asked(half, [answer([say_held("Whole ag", &gate, "ain.")]), stop()]).await;
    let (socket, space) = (&backed.socket, &backed.space);
    socket
        .shows(space, "half of the first text", SOON, |view| view.live().iter().any(|text| text.starts_with("A text")).then_some(()))
        .await;
    half_said.open();
    socket.shows(space, "only the second text", PATIENT, |view| (view.live() == ["Whole ag"]).then_some(())).await;
    let failed = socket.frames().iter().filter(|frame| frame.kind == "stream.ended" && frame.body["reason"] == "failed").count();
    // Of a deployed stack's one may be lost: a frame that is not taken within a second is not sent again.
    let all_of = |count: usize, tries: usize| count == tries || (!backed.stack.is_local() && count < tries);
    assert!(all_of(failed, 4), "{failed}, not one for each of the four tries");
    gate.open();
    let shown = socket.shows(space, "the message", SOON, |view| (view.messages.len() == 2).then(|| view.clone())).await;
    assert_eq!((shown.texts(), shown.live()), (vec!["Hello?", "Whole again."], vec![]));
    assert_eq!(backed.ended().await["status"], "completed");
    let kept = backed.stack.texts(space).await;
    assert_eq!(kept, ["Hello?", "Whole again."]);
    // Those of the first answer: the second one may have begun to stream by now.
    let started: Vec<_> = socket.frames().into_iter().filter(|frame| frame.kind == "stream.started").map(|frame| frame.body).collect();
    let tries: BTreeSet<_> =
        started.iter().filter(|body| body["callId"] == started[0]["callId"]).map(|body| body["streamId"].as_str()).collect();
    assert!(all_of(tries.len(), 5), "{tries:?}, not a stream for each try: none is mixed with another");
}
