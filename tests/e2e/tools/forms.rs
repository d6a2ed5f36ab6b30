//! Forms, the cards of `space` tools: a run asks people, pauses, and continues with their answers.
//! [`answers`] tests who may answer, and answers that conflict. [`other_spaces`] tests forms in a
//! space other than the run's.

mod answers;
mod other_spaces;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::support::{
    client::{Client, Reply},
    model::{Answer, answer, call, say, stop},
    routes::woken,
    socket::Socket,
    stack::Stack,
    waiting::{SOON, wait_for},
};

/// A tool that asks people. The fields of `more` are added to its `execution`.
pub(crate) fn form_tool(name: &str, more: Value) -> Value {
    let mut execution = json!({"type": "space"});
    for (field, value) in more.as_object().unwrap() {
        execution[field] = value.clone();
    }
    json!({
        "name": name,
        "description": "Asks people.",
        "inputSchema": {"type": "object"},
        "execution": execution,
    })
}

fn approval() -> Value {
    form_tool("getApproval", json!({"ui": "buttons", "expiresAfter": "10 minutes"}))
}

fn amount(expires_after: &str) -> Value {
    form_tool("getAmount", json!({"resultSchema": amount_schema(), "expiresAfter": expires_after}))
}

fn amount_schema() -> Value {
    json!({
        "type": "object",
        "properties": {"amount": {"type": "integer", "minimum": 1}},
        "required": ["amount"],
    })
}

pub(crate) fn approval_call() -> Answer {
    answer([call(
        "getApproval",
        json!({"message": "Deploy to prod?", "options": ["Approve", "Reject"]}),
    )])
}

/// An agent with form tools that asks the model `ada`, and three people in the same space.
struct FormScene {
    stack: Stack,
    people: Vec<String>,
    agent: String,
    space: String,
    /// The first person's socket, subscribed to the space.
    socket: Socket,
}

impl FormScene {
    async fn on(stack: Stack, tools: Value, answers: impl IntoIterator<Item = Answer>) -> Self {
        stack.model.plays("ada", answers);
        let mut people = Vec::new();
        for name in ["Husam", "Sarah", "Ahmad"] {
            people.push(stack.person(name).await);
        }
        let model = json!({"provider": "openai", "name": stack.model.name("ada")});
        let agent = stack.agent_with("Ada", json!({"model": model, "tools": tools})).await;
        let members: Vec<&String> = people.iter().chain([&agent]).collect();
        let space = stack.space("Deployments", &members).await;
        let socket = stack.socket_of(&people[0]).await;
        socket.subscribe(&space, None).await;
        Self { stack, people, agent, space, socket }
    }

    async fn new(tools: Value, answers: impl IntoIterator<Item = Answer>) -> Self {
        let stack = Stack::with_secret(&[]).await.expect("a product that accepts tokens");
        Self::on(stack, tools, answers).await
    }

    /// Posts a message to the agent. Returns the run that it triggers.
    async fn wake(&self) -> String {
        let question = self.stack.post(&self.space, &self.people[0], "Deploy v2.1").await;
        woken(&question, &self.agent).unwrap()
    }

    /// Waits for the `tool.requested` frame of a form.
    async fn requested(&self, name: &str) -> Value {
        self.socket.frame("tool.requested", SOON, |frame| frame["name"] == name).await.body
    }

    /// Waits until a run has this status.
    async fn status(&self, run: &str, status: &str) {
        wait_for(&format!("{run} is {status}"), SOON, async || {
            (self.stack.run(run).await["status"] == status).then_some(())
        })
        .await;
    }

    /// Answers a form as one of the people.
    async fn answers(&self, person: usize, form: &Value, body: Value) -> Reply {
        answer_form(&self.stack.as_entity(&self.people[person]), form, body).await
    }

    /// The current message of a form.
    async fn card(&self, form: &Value) -> Value {
        let messages = self.stack.messages(&self.space).await;
        let is_card = |message: &Value| message["id"] == form["messageId"];
        messages.into_iter().find(is_card).expect("the space has a card for the form")
    }

    /// The tool results in the last request to the model.
    fn results(&self) -> Vec<Value> {
        self.stack.model.requests("ada").last().unwrap().results()
    }
}

/// Answers a form with the API.
pub(crate) async fn answer_form(caller: &Client, form: &Value, body: Value) -> Reply {
    let run = form["runId"].as_str().unwrap();
    let call = form["callId"].as_str().unwrap();
    caller.create(&format!("/v1/runs/{run}/toolCalls/{call}/result"), body).await
}

fn part(message: &Value) -> &Value {
    &message["parts"][0]
}

#[tokio::test]
async fn an_approval_survives_a_kill_and_its_run_resumes_once() {
    let Some(stack) = Stack::local().await else { return };
    let answers = [approval_call(), say("Deployment complete!").into(), stop()];
    let scene = FormScene::on(stack, json!([approval()]), answers).await;
    let run = scene.wake().await;
    let form = scene.requested("getApproval").await;
    assert_approval_is_shown(&scene, &run, &form).await;

    let FormScene { mut stack, people, agent, space, .. } = scene;
    stack.kill9();
    stack.restart().await;
    let sarah = stack.socket_of(&people[1]).await;
    let subscribed = sarah.subscribe(&space, None).await;
    assert_eq!(
        subscribed["active"],
        json!([{"runId": run, "agentId": agent, "status": "waiting_tool"}])
    );
    let answer = json!({
        "action": "toolResult",
        "runId": run,
        "callId": form["callId"],
        "output": {"choice": "Approve"},
    });
    assert_eq!(sarah.request(answer.clone()).await["type"], "accepted");
    let resolved =
        sarah.frame("tool.resolved", SOON, |frame| frame["callId"] == form["callId"]).await.body;
    assert_eq!(resolved["resolvedBy"], people[1].as_str());
    sarah.frame("run.resumed", SOON, |frame| frame["run"]["id"] == run.as_str()).await;
    sarah.frame("run.completed", SOON, |frame| frame["run"]["id"] == run.as_str()).await;
    assert_eq!(sarah.request(answer).await["type"], "accepted", "a repeated answer");

    let messages = stack.messages(&space).await;
    let [_, card, reply] = &messages[..] else { panic!("{messages:#?}") };
    assert_eq!(
        (&part(card)["status"], &part(card)["output"]),
        (&json!("completed"), &json!({"choice": "Approve"}))
    );
    assert_eq!((&part(card)["resolvedBy"], &card["rev"]), (&json!(people[1]), &json!(2)));
    assert_eq!(part(reply)["text"], "Deployment complete!");
    let ended = stack.run(&run).await;
    assert_eq!(
        (&ended["status"], &ended["attempt"]),
        (&json!("completed"), &json!(1)),
        "a pause is not another attempt"
    );
    assert_eq!(ended["steps"][0]["calls"][0]["output"], json!({"choice": "Approve"}));
    assert_eq!(stack.model.requests("ada")[1].results(), [json!({"choice": "Approve"})]);
}

/// Checks the frames of the paused run, and the card with its form.
async fn assert_approval_is_shown(scene: &FormScene, run: &str, form: &Value) {
    let waiting =
        scene.socket.frame("run.waiting_tool", SOON, |frame| frame["run"]["id"] == run).await.body;
    assert_eq!(
        (&waiting["run"]["status"], &waiting["spaceId"]),
        (&json!("waiting_tool"), &json!(scene.space))
    );
    let schema = json!({
        "type": "object",
        "properties": {"choice": {"enum": ["Approve", "Reject"]}, "comment": {"type": "string"}},
        "required": ["choice"],
        "additionalProperties": false
    });
    assert_eq!(
        form["input"],
        json!({"message": "Deploy to prod?", "options": ["Approve", "Reject"]})
    );
    assert_eq!(
        (&form["ui"], &form["answerBy"], &form["resultSchema"]),
        (&json!("buttons"), &json!("humans"), &schema)
    );
    assert!(
        form["resolvedBy"].is_null() && form["expiresAt"].is_string() && form["runId"] == run,
        "{form}"
    );
    let shown = scene
        .socket
        .frame("message.created", SOON, |frame| frame["message"]["id"] == form["messageId"])
        .await
        .body;
    let card = part(&shown["message"]);
    assert_eq!(
        (&card["status"], &card["output"], &card["resultSchema"]),
        (&json!("pending"), &Value::Null, &schema)
    );
    assert_eq!(shown["message"]["dispatch"], json!([]), "a card woke an agent");
    assert!(shown["message"]["streamId"].is_string(), "the input was not streamed");
}

#[tokio::test]
async fn a_run_with_three_forms_resumes_once_all_are_answered_or_expired() {
    let ask = |title: &str| call("getAmount", json!({"title": title}));
    let late = form_tool("getOpinion", json!({"expiresAfter": "12 seconds"}));
    let forms = answer([
        ask("First"),
        call("getOpinion", json!({})),
        ask("Third"),
        say("I have asked you three things."),
    ]);
    let tools = json!([amount("10 minutes"), late]);
    let scene = FormScene::new(tools, [forms, say("Thanks.").into(), stop()]).await;
    let run = scene.wake().await;
    scene.status(&run, "waiting_tool").await;
    let requested = amount_forms_by_title(&scene);
    let messages = scene.stack.messages(&scene.space).await;
    let texts: Vec<_> = messages.iter().map(|message| part(message)["text"].clone()).collect();
    let last = json!("I have asked you three things.");
    assert_eq!(texts, [json!("Deploy v2.1"), Value::Null, Value::Null, Value::Null, last]);

    scene.answers(2, &requested["Third"], json!({"output": {"amount": 3}})).await.must_be(202);
    let declined = json!({"declined": true, "reason": "no money"});
    scene.answers(1, &requested["First"], declined.clone()).await.must_be(202);
    assert_eq!(scene.stack.run(&run).await["status"], "waiting_tool", "one form is open");
    scene.stack.quiet(&scene.space).await;
    let results = scene.results();
    let expected = [declined, json!({"error": "expired"}), json!({"amount": 3})];
    assert_eq!(results[..3], expected);
    // The run resumed once: the other two results are of `send_message`.
    assert_eq!((results.len(), scene.stack.model.requests("ada").len()), (5, 3));
    let run = scene.stack.run(&run).await;
    let statuses: Vec<_> = run["steps"][0]["calls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|call| call["status"].as_str().unwrap())
        .collect();
    assert_eq!(statuses, ["completed", "expired", "completed", "completed"]);
    let resumed = scene.socket.frames().iter().filter(|frame| frame.kind == "run.resumed").count();
    assert_eq!(resumed, 1);
}

/// The `tool.requested` frames of the `getAmount` forms so far, by the form's title.
fn amount_forms_by_title(scene: &FormScene) -> BTreeMap<String, Value> {
    scene
        .socket
        .frames()
        .into_iter()
        .filter(|frame| frame.kind == "tool.requested" && frame.body["name"] == "getAmount")
        .map(|frame| (frame.body["input"]["title"].as_str().unwrap().to_owned(), frame.body))
        .collect()
}

#[tokio::test]
async fn canceling_a_run_closes_its_forms() {
    let scene = FormScene::new(json!([approval()]), [approval_call(), stop()]).await;
    let run = scene.wake().await;
    let form = scene.requested("getApproval").await;
    scene.status(&run, "waiting_tool").await;
    scene.stack.cancel(&run).await.must_be(202);
    let resolved = scene
        .socket
        .frame("tool.resolved", SOON, |frame| frame["callId"] == form["callId"])
        .await
        .body;
    assert!(resolved["resolvedBy"].is_null());
    let card = scene.card(&form).await;
    assert_eq!((&part(&card)["status"], &card["rev"]), (&json!("canceled"), &json!(2)));
    assert_eq!(scene.answers(1, &form, json!({"output": {"choice": "Approve"}})).await.status, 409);
    assert_eq!(scene.stack.run(&run).await["steps"][0]["calls"][0]["status"], "canceled");
    assert_eq!(scene.stack.model.requests("ada").len(), 1, "the canceled run resumed");
}

#[tokio::test]
async fn messages_posted_during_a_pause_reach_the_model_when_the_run_resumes() {
    let scene = FormScene::new(json!([approval()]), [approval_call(), stop()]).await;
    let run = scene.wake().await;
    let form = scene.requested("getApproval").await;
    scene.status(&run, "waiting_tool").await;
    // The run that this message triggers posts nothing.
    scene.stack.model.plays("ada", [stop()]);
    scene.stack.post(&scene.space, &scene.people[2], "Only the API, please").await;
    wait_for("the second run to ask the model", SOON, async || {
        (scene.stack.model.requests("ada").len() == 2).then_some(())
    })
    .await;
    scene.stack.model.plays("ada", [stop()]);
    scene.answers(1, &form, json!({"output": {"choice": "Approve"}})).await.must_be(202);
    scene.stack.ended(&run, SOON).await;
    let requests = scene.stack.model.requests("ada");
    let notes = requests.last().unwrap().system_notes().concat();
    assert!(notes.contains("Only the API, please"), "{notes}");
    let other = requests[1].user();
    let lines = other.block("ACTIVE RUNS");
    assert!(lines.iter().any(|line| line.contains(&format!("{run} (waiting_tool)"))), "{lines:?}");
}

#[tokio::test]
async fn waiting_for_a_form_does_not_count_towards_the_time_limit() {
    let stack = Stack::start().await;
    stack.model.plays(
        "ada",
        [answer([call("getAmount", json!({"title": "?"}))]), say("Nobody said.").into(), stop()],
    );
    let person = stack.person("Husam").await;
    let model = json!({"provider": "openai", "name": stack.model.name("ada")});
    let settings = json!({
        "model": model,
        "tools": [amount("12 seconds")],
        "loop": {"timeLimit": "10 seconds", "continueOn": "writes"},
    });
    let agent = stack.agent_with("Ada", settings).await;
    let space = stack.space("Team", &[&person, &agent]).await;
    stack.post(&space, &person, "How much?").await;
    stack.quiet(&space).await;
    let run = &stack.runs_of(&space).await[0];
    assert_eq!(
        (&run["status"], &run["endReason"], &run["stepCount"]),
        (&json!("completed"), &json!("done"), &json!(3)),
        "{run}"
    );
}

#[tokio::test]
async fn a_form_in_the_last_step_is_refused() {
    let stack = Stack::start().await;
    stack.model.plays("ada", [answer([call("getAmount", json!({}))]), stop()]);
    let person = stack.person("Husam").await;
    let model = json!({"provider": "openai", "name": stack.model.name("ada")});
    let settings = json!({"model": model, "tools": [amount("1 day")], "loop": {"maxSteps": 1}});
    let agent = stack.agent_with("Ada", settings).await;
    let space = stack.space("Team", &[&person, &agent]).await;
    let question = stack.post(&space, &person, "How much?").await;
    let run = stack.ended(&woken(&question, &agent).unwrap(), SOON).await;
    assert_eq!(
        (&run["endReason"], stack.messages(&space).await.len()),
        (&json!("max_steps"), 1),
        "{run}"
    );
    assert!(
        run["steps"][0]["calls"][0]["output"]["error"].as_str().unwrap().contains("last step"),
        "{run}"
    );
}
