//! Fallback to the model of another provider.

use std::{
    collections::BTreeSet,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    time::Duration,
};

use serde_json::{Value, json};

use crate::support::{
    model::{Answer, Api, Gate, answer, http, say, say_held, stop},
    routes::triggered_run,
    socket::Socket,
    stack::Stack,
    waiting::SOON,
};

/// The time limit of a run whose model fails. Each of the three retries waits longer than the one
/// before.
const RETRIES_WITHIN: Duration = Duration::from_mins(1);

/// A run of an agent whose model `ada` of Anthropic falls back to `bea` of `OpenAI`, and a person
/// who follows their space.
struct Scene {
    stack: Stack,
    space: String,
    socket: Socket,
    run: String,
}

impl Scene {
    /// Triggers the run. `ada` always gives the same answer, `bea` gives these answers.
    async fn new(
        ada: impl Fn() -> Answer + Send + Sync + 'static,
        bea: impl IntoIterator<Item = Answer>,
    ) -> Self {
        let stack = Stack::start().await;
        stack.model.answers("ada", move |_| ada());
        stack.model.plays("bea", bea);
        let person = stack.person("Husam").await;
        let fallback = json!({ "provider": "openai", "name": stack.model.name("bea") });
        let name = stack.model.name("ada");
        let model = json!({ "provider": "anthropic", "name": name, "fallback": [fallback] });
        let agent = stack.agent_with("Ada", json!({ "model": model })).await;
        let space = stack.space("Team", &[&person, &agent]).await;
        let socket = stack.socket_of(&person).await;
        socket.subscribe(&space, None).await;
        let question = stack.post(&space, &person, "Hello there.").await;
        Self { run: triggered_run(&question, &agent).unwrap(), stack, space, socket }
    }

    async fn ended(&self) -> Value {
        self.stack.ended(&self.run, RETRIES_WITHIN).await
    }

    /// The number of requests to a model.
    fn requests(&self, model: &str) -> usize {
        self.stack.model.requests(model).len()
    }
}

#[tokio::test]
async fn the_fallback_answers_after_a_lasting_overload() {
    let scene = Scene::new(|| http(529), [say("From the second.").into(), stop()]).await;
    let run = scene.ended().await;
    assert_eq!((run["status"].as_str(), &run["error"]), (Some("completed"), &Value::Null), "{run}");
    assert_eq!(scene.stack.texts(&scene.space).await, ["Hello there.", "From the second."]);
    let models: Vec<_> = run["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| step["model"].as_str().unwrap())
        .collect();
    assert_eq!(models, vec![format!("openai/{}", scene.stack.model.name("bea")); 2]);
    // Each of the two steps asks the first model four times, then the second one once.
    assert_eq!((scene.requests("ada"), scene.requests("bea")), (8, 2));
    let first = &scene.stack.model.requests("ada")[0];
    let second = &scene.stack.model.requests("bea")[0];
    assert_eq!((first.api, second.api), (Api::Anthropic, Api::OpenAi));
    assert_eq!(second.trigger_text(), "Hello there.");
    assert_eq!(second.tools(), first.tools());
}

#[tokio::test]
async fn an_error_without_retry_goes_to_the_fallback_at_once() {
    let scene = Scene::new(|| http(401), [say("From the second.").into(), stop()]).await;
    assert_eq!(scene.ended().await["status"], "completed");
    assert_eq!((scene.requests("ada"), scene.requests("bea")), (2, 2));
}

#[tokio::test]
async fn if_both_models_fail_the_run_fails_with_the_last_error_code() {
    let scene = Scene::new(|| http(529), [http(400)]).await;
    let run = scene.ended().await;
    assert_eq!(
        (run["status"].as_str(), run["error"]["code"].as_str()),
        (Some("failed"), Some("bad_request")),
        "{run}"
    );
    let message = run["error"]["message"].as_str().unwrap();
    for model in ["ada", "bea"] {
        assert!(message.contains(&format!("/{}: ", scene.stack.model.name(model))), "{message}");
    }
    assert_eq!((scene.requests("ada"), scene.requests("bea")), (4, 1));
    scene.socket.frame("run.failed", SOON, |frame| frame["run"]["id"] == scene.run.as_str()).await;
    assert_eq!(scene.stack.texts(&scene.space).await, ["Hello there."]);
}

#[tokio::test]
async fn a_later_step_continues_with_the_fallback() {
    let first = Gate::closed();
    let gate = Gate::closed();
    gate.open();
    let turn = AtomicBool::new(true);
    let ada = move || {
        let held = answer([say_held("From the fi", &gate, "rst.")]);
        if turn.swap(false, Ordering::Relaxed) { held } else { http(400) }
    };
    let scene = Scene::new(ada, [answer([say_held("From the sec", &first, "ond.")]), stop()]).await;
    first.reached(1).await;
    // The fallback gets the answers and results of the first model in its own API.
    let request = scene.stack.model.requests("bea").remove(0);
    assert_eq!((request.step(), &request.results()[0]["status"]), (1, &json!("delivered")));
    first.open();
    assert_eq!(scene.ended().await["status"], "completed");
    assert_eq!(
        scene.stack.texts(&scene.space).await,
        ["Hello there.", "From the first.", "From the second."]
    );
}

#[tokio::test]
async fn a_half_written_text_ends_in_the_browser_before_the_fallback_writes_its_own() {
    let half_written = Gate::closed();
    let gate = Gate::closed();
    let held = half_written.clone();
    // The model fails one piece after the gate, in all its tries of the first step.
    let tries = AtomicUsize::new(0);
    let half = move || match tries.fetch_add(1, Ordering::Relaxed) {
        0..4 => {
            answer([say_held("A text that never", &held, " comes to its end.")]).fails_after(10)
        }
        _ => stop(),
    };
    let scene = Scene::new(half, [answer([say_held("Whole ag", &gate, "ain.")]), stop()]).await;
    let socket = &scene.socket;
    let space = &scene.space;
    socket
        .shows(space, "half of the first text", SOON, |view| {
            view.live().iter().any(|text| text.starts_with("A text")).then_some(())
        })
        .await;
    half_written.open();
    socket
        .shows(space, "only the second text", RETRIES_WITHIN, |view| {
            (view.live() == ["Whole ag"]).then_some(())
        })
        .await;
    let failed = socket
        .frames()
        .iter()
        .filter(|frame| frame.kind == "stream.ended" && frame.body["reason"] == "failed")
        .count();
    // A deployed stack may lose a frame: it does not repeat a frame that takes longer than a
    // second.
    let all_of =
        |count: usize, tries: usize| count == tries || (!scene.stack.is_local() && count < tries);
    assert!(all_of(failed, 4), "{failed} streams failed, expected one for each of 4 attempts");
    gate.open();
    let shown = socket
        .shows(space, "the message", SOON, |view| (view.messages.len() == 2).then(|| view.clone()))
        .await;
    assert_eq!((shown.texts(), shown.live()), (vec!["Hello there.", "Whole again."], vec![]));
    assert_eq!(scene.ended().await["status"], "completed");
    assert_eq!(scene.stack.texts(space).await, ["Hello there.", "Whole again."]);
    let started = socket.frames().into_iter().filter(|frame| frame.kind == "stream.started");
    let tries: BTreeSet<_> = started.map(|frame| frame.body["streamId"].to_string()).collect();
    assert!(
        all_of(tries.len(), 5),
        "expected a separate stream for each of the five attempts: {tries:?}"
    );
}
