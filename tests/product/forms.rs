//! Forms: a run asks people, pauses, and goes on with what they answered.

use std::{collections::BTreeMap, time::Duration};

use futures::future::join_all;
use serde_json::{Value, json};

use super::{
    client::Reply,
    model::{Answer, Gate, answer, call, say, say_held, stop, wait},
    routes::woken,
    socket::Socket,
    stack::Stack,
    waiting::{SOON, is_ended, wait_for},
};

/// A tool that asks people.
pub(super) fn asking(name: &str, more: Value) -> Value {
    let mut execution = json!({"type": "space"});
    for (field, value) in more.as_object().unwrap() {
        execution[field] = value.clone();
    }
    json!({"name": name, "description": "Asks people.", "inputSchema": {"type": "object"}, "execution": execution})
}

fn approval() -> Value {
    asking("getApproval", json!({"ui": "buttons", "expiresAfter": "10 minutes"}))
}

fn amount(expires_after: &str) -> Value {
    let schema = json!({"type": "object", "properties": {"amount": {"type": "integer", "minimum": 1}}, "required": ["amount"]});
    asking("getAmount", json!({"resultSchema": schema, "expiresAfter": expires_after}))
}

pub(super) fn asks_approval() -> Answer {
    answer([call("getApproval", json!({"message": "Deploy to prod?", "options": ["Approve", "Reject"]}))])
}

/// An agent with these tools whose model is `ada`, and people with it in a space that one of them follows.
struct Asking {
    stack: Stack,
    people: Vec<String>,
    agent: String,
    space: String,
    socket: Socket,
}

impl Asking {
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
        Self::on(Stack::with_secret(&[]).await.expect("a product that believes tokens"), tools, answers).await
    }

    /// A run that waits for a form which another space shows: the board, where the first person and the agent are.
    async fn elsewhere() -> (Self, String, String) {
        let asking = Self::new(json!([approval()]), []).await;
        let board = asking.stack.space("Board", &[&asking.people[0], &asking.agent]).await;
        let input = json!({"targetSpaceId": board, "message": "Deploy?", "options": ["Yes"]});
        asking.stack.model.answers(
            "ada",
            move |asked| {
                if asked.step() == 0 { answer([call("getApproval", input.clone())]) } else { stop() }
            },
        );
        let run = asking.wake().await;
        asking.status(&run, "waiting_tool").await;
        (asking, board, run)
    }

    /// Says something to the agent; the run that it wakes.
    async fn wake(&self) -> String {
        let question = self.stack.post(&self.space, &self.people[0], "Deploy v2.1").await;
        woken(&question, &self.agent).unwrap()
    }

    /// The next form: its `tool.requested`.
    async fn requested(&self, name: &str) -> Value {
        self.socket.frame("tool.requested", SOON, |frame| frame["name"] == name).await.body
    }

    async fn status(&self, run: &str, status: &str) {
        wait_for(&format!("{run} is {status}"), SOON, async || (self.stack.run(run).await["status"] == status).then_some(())).await;
    }

    async fn answers(&self, person: usize, form: &Value, body: Value) -> Reply {
        result(&self.stack.as_entity(&self.people[person]), form, body).await
    }

    /// The card of a form, as it is now.
    async fn card(&self, form: &Value) -> Value {
        let messages = self.stack.messages(&self.space).await;
        messages.into_iter().find(|message| message["id"] == form["messageId"]).expect("a card")
    }

    /// What the model was given by its calls, when it was asked last.
    fn results(&self) -> Vec<Value> {
        self.stack.model.asked("ada").last().unwrap().results()
    }
}

/// Answers a form over HTTP.
pub(super) async fn result(caller: &super::client::Client, form: &Value, body: Value) -> Reply {
    let (run, call) = (form["runId"].as_str().unwrap(), form["callId"].as_str().unwrap());
    caller.create(&format!("/v1/runs/{run}/toolCalls/{call}/result"), body).await
}

fn part(message: &Value) -> &Value {
    &message["parts"][0]
}

#[tokio::test]
async fn an_approval_outlasts_a_kill_and_the_run_goes_on_once() {
    let Some(stack) = Stack::local().await else { return };
    let asking = Asking::on(stack, json!([approval()]), [asks_approval(), say("Deployment complete!").into(), stop()]).await;
    let run = asking.wake().await;
    let form = asking.requested("getApproval").await;
    let waiting = asking.socket.frame("run.waiting_tool", SOON, |frame| frame["run"]["id"] == run.as_str()).await.body;
    assert_eq!((&waiting["run"]["status"], &waiting["spaceId"]), (&json!("waiting_tool"), &json!(asking.space)));
    let schema = json!({
        "type": "object",
        "properties": {"choice": {"enum": ["Approve", "Reject"]}, "comment": {"type": "string"}},
        "required": ["choice"],
        "additionalProperties": false
    });
    assert_eq!(form["input"], json!({"message": "Deploy to prod?", "options": ["Approve", "Reject"]}));
    assert_eq!((&form["ui"], &form["answerBy"], &form["resultSchema"]), (&json!("buttons"), &json!("humans"), &schema));
    assert!(form["resolvedBy"].is_null() && form["expiresAt"].is_string() && form["runId"] == run.as_str(), "{form}");
    let shown = asking.socket.frame("message.created", SOON, |frame| frame["message"]["id"] == form["messageId"]).await.body;
    let card = part(&shown["message"]);
    assert_eq!((&card["status"], &card["output"], &card["resultSchema"]), (&json!("pending"), &Value::Null, &schema));
    assert_eq!(shown["message"]["dispatch"], json!([]), "cards wake nobody");
    assert!(shown["message"]["streamId"].is_string(), "its input was streamed");

    let Asking { mut stack, people, agent, space, .. } = asking;
    stack.kill9();
    stack.restart().await;
    let sarah = stack.socket_of(&people[1]).await;
    let subscribed = sarah.subscribe(&space, None).await;
    assert_eq!(subscribed["active"], json!([{"runId": run, "agentId": agent, "status": "waiting_tool"}]));
    let answer = json!({"action": "toolResult", "runId": run, "callId": form["callId"], "output": {"choice": "Approve"}});
    assert_eq!(sarah.request(answer.clone()).await["type"], "accepted");
    let resolved = sarah.frame("tool.resolved", SOON, |frame| frame["callId"] == form["callId"]).await.body;
    assert_eq!(resolved["resolvedBy"], people[1].as_str());
    sarah.frame("run.resumed", SOON, |frame| frame["run"]["id"] == run.as_str()).await;
    sarah.frame("run.completed", SOON, |frame| frame["run"]["id"] == run.as_str()).await;
    assert_eq!(sarah.request(answer).await["type"], "accepted", "the same answer again is fine");

    let messages = stack.messages(&space).await;
    let [_, card, said] = &messages[..] else { panic!("{messages:#?}") };
    assert_eq!((&part(card)["status"], &part(card)["output"]), (&json!("completed"), &json!({"choice": "Approve"})));
    assert_eq!((&part(card)["resolvedBy"], &card["rev"]), (&json!(people[1]), &json!(2)));
    assert_eq!(part(said)["text"], "Deployment complete!");
    let ended = stack.run(&run).await;
    assert_eq!((&ended["status"], &ended["attempt"]), (&json!("completed"), &json!(1)), "waiting is no attempt");
    assert_eq!(ended["steps"][0]["calls"][0]["output"], json!({"choice": "Approve"}));
    assert_eq!(stack.model.asked("ada")[1].results(), [json!({"choice": "Approve"})]);
}

#[tokio::test]
async fn of_ten_answers_at_once_one_counts() {
    let asking = Asking::new(json!([approval()]), [asks_approval(), say("Done.").into(), stop()]).await;
    let run = asking.wake().await;
    let form = asking.requested("getApproval").await;
    let bodies: Vec<_> =
        (0..10).map(|index| (index % 3, json!({"output": {"choice": if index % 2 == 0 { "Approve" } else { "Reject" }}}))).collect();
    let replies = join_all(bodies.iter().map(|(person, body)| asking.answers(*person, &form, body.clone()))).await;
    let ended = asking.stack.ended(&run, SOON).await;
    let card = asking.card(&form).await;
    let won = (part(&card)["resolvedBy"].clone(), part(&card)["output"].clone());
    for ((person, body), reply) in bodies.iter().zip(&replies) {
        let is_it = (json!(asking.people[*person]), body["output"].clone()) == won;
        assert_eq!(reply.status, if is_it { 202 } else { 409 }, "{person} {body}: {}", reply.text);
    }
    assert_eq!(ended["steps"][0]["calls"][0]["output"], won.1);
    assert_eq!((asking.stack.model.asked("ada").len(), card["rev"].as_u64()), (3, Some(2)), "the run went on once");
    assert_eq!(asking.socket.frames().iter().filter(|frame| frame.kind == "tool.resolved").count(), 1);
}

#[tokio::test]
async fn who_may_answer_and_what() {
    let stack = Stack::with_secret(&[]).await.expect("a product that believes tokens");
    let (sarah, stranger) = (stack.person("Only Sarah").await, stack.person("Stranger").await);
    let schema = json!({"type": "object", "properties": {"amount": {"type": "integer", "minimum": 1}}, "required": ["amount"]});
    let tool = asking("getAmount", json!({"resultSchema": schema, "answerBy": [sarah]}));
    let asking = Asking::on(stack, json!([tool]), [answer([call("getAmount", json!({"title": "How much?"}))]), stop()]).await;
    asking.stack.put(&format!("/v1/spaces/{}/members/{sarah}", asking.space), json!({})).await.must_be(200);
    asking.wake().await;
    let form = asking.requested("getAmount").await;
    assert_eq!(form["answerBy"], json!([sarah]));
    let by = |entity: &str| asking.stack.as_entity(entity);
    let fine = json!({"output": {"amount": 3}});
    assert_eq!(result(&by(&stranger), &form, fine.clone()).await.status, 404);
    assert_eq!(asking.answers(0, &form, fine.clone()).await.status, 403);
    assert_eq!(result(&by(&asking.agent), &form, fine.clone()).await.status, 403);
    let (run, call) = (form["runId"].as_str().unwrap(), form["callId"].as_str().unwrap());
    for (run, call) in [(run, "cal_01ARZ3NDEKTSV4RRFFQ69G5FAV"), ("run_01ARZ3NDEKTSV4RRFFQ69G5FAV", call), (run, "nonsense")] {
        let reply = by(&sarah).create(&format!("/v1/runs/{run}/toolCalls/{call}/result"), fine.clone()).await;
        assert_eq!(reply.status, 404, "{}", reply.text);
    }
    let bad = [
        (json!({"output": {"amount": 0}}), "/output/amount"),
        (json!({"output": {"amount": "3"}}), "/output/amount"),
        (json!({"output": {}}), "/output/amount"),
        (json!({"output": null}), "/output"),
        (json!({}), ""),
        (json!({"output": {"amount": 3}, "declined": true}), "/declined"),
        (json!({"output": {"amount": 3}, "reason": "why"}), "/reason"),
        (json!({"declined": true, "reason": "x".repeat(1_001)}), "/reason"),
    ];
    for (body, pointer) in bad {
        let problem = result(&by(&sarah), &form, body.clone()).await.must_be(422);
        assert_eq!(problem["errors"][0]["pointer"], pointer, "{body}: {problem}");
    }
    assert_eq!(result(&by(&sarah), &form, json!({"output": {"amount": 3}, "more": 1})).await.status, 422);
    result(&by(&sarah), &form, fine.clone()).await.must_be(202);
    result(&by(&sarah), &form, fine.clone()).await.must_be(202);
    assert_eq!(result(&by(&sarah), &form, json!({"output": {"amount": 4}})).await.status, 409);
    assert_eq!(result(&asking.stack, &form, fine.clone()).await.status, 409, "the operator is another one");
    let as_someone = |id: &str| json!({"output": {"amount": 3}, "senderId": id});
    result(&asking.stack, &form, as_someone(&sarah)).await.must_be(202);
    assert_eq!(result(&asking.stack, &form, as_someone(&asking.people[0])).await.status, 403, "who is not asked");
    assert_eq!(result(&asking.stack, &form, as_someone(&stranger)).await.status, 404, "who is not there");
    assert_eq!(result(&by(&sarah), &form, as_someone(&asking.people[0])).await.status, 403, "in another's name");
    asking.stack.quiet(&asking.space).await;
    assert_eq!(asking.results(), [json!({"amount": 3})]);
}

#[tokio::test]
async fn three_forms_at_once_and_the_run_goes_on_once() {
    let ask = |title: &str| call("getAmount", json!({"title": title}));
    let late = asking("getOpinion", json!({"expiresAfter": "12 seconds"}));
    let forms = answer([ask("First"), call("getOpinion", json!({})), ask("Third"), say("I have asked you three things.")]);
    let asking = Asking::new(json!([amount("10 minutes"), late]), [forms, say("Thanks.").into(), stop()]).await;
    let run = asking.wake().await;
    asking.status(&run, "waiting_tool").await;
    let requested: BTreeMap<String, Value> = asking
        .socket
        .frames()
        .into_iter()
        .filter(|frame| frame.kind == "tool.requested" && frame.body["name"] == "getAmount")
        .map(|frame| (frame.body["input"]["title"].as_str().unwrap().to_owned(), frame.body))
        .collect();
    let texts: Vec<_> = asking.stack.messages(&asking.space).await.iter().map(|message| part(message)["text"].clone()).collect();
    assert_eq!(texts, [json!("Deploy v2.1"), Value::Null, Value::Null, Value::Null, json!("I have asked you three things.")]);

    asking.answers(2, &requested["Third"], json!({"output": {"amount": 3}})).await.must_be(202);
    asking.answers(1, &requested["First"], json!({"declined": true, "reason": "no money"})).await.must_be(202);
    assert_eq!(asking.stack.run(&run).await["status"], "waiting_tool", "one is open");
    asking.stack.quiet(&asking.space).await;
    let results = asking.results();
    let expected = [json!({"declined": true, "reason": "no money"}), json!({"error": "expired"}), json!({"amount": 3})];
    assert_eq!(results[..3], expected);
    assert_eq!((results.len(), asking.stack.model.asked("ada").len()), (5, 3), "two of send_message, and it went on once");
    let run = asking.stack.run(&run).await;
    let statuses: Vec<_> = run["steps"][0]["calls"].as_array().unwrap().iter().map(|call| call["status"].as_str().unwrap()).collect();
    assert_eq!(statuses, ["completed", "expired", "completed", "completed"]);
    let resumed = asking.socket.frames().iter().filter(|frame| frame.kind == "run.resumed").count();
    assert_eq!(resumed, 1);
}

#[tokio::test]
async fn an_answer_before_the_run_has_paused_is_not_slept_on() {
    let gate = Gate::closed();
    let forms = answer([call("getAmount", json!({"title": "How much?"})), say_held("Wait for", &gate, " it.")]);
    let asking = Asking::new(json!([amount("10 minutes")]), [forms, stop()]).await;
    let run = asking.wake().await;
    gate.reached(1).await;
    assert!(asking.socket.frames().iter().all(|frame| frame.kind != "tool.requested"), "an answer is kept before its calls are made");
    gate.open();
    let form = asking.requested("getAmount").await;
    // As early as can be: the run makes its other call, and pauses, at this moment.
    asking.answers(1, &form, json!({"output": {"amount": 1}})).await.must_be(202);
    let ended = asking.stack.ended(&run, SOON).await;
    assert_eq!((&ended["status"], asking.results().len()), (&json!("completed"), 2));
}

#[tokio::test]
async fn what_ends_a_run_closes_its_forms() {
    let asking = Asking::new(json!([approval()]), [asks_approval(), stop()]).await;
    let run = asking.wake().await;
    let form = asking.requested("getApproval").await;
    asking.status(&run, "waiting_tool").await;
    asking.stack.cancel(&run).await.must_be(202);
    let resolved = asking.socket.frame("tool.resolved", SOON, |frame| frame["callId"] == form["callId"]).await.body;
    assert!(resolved["resolvedBy"].is_null());
    let card = asking.card(&form).await;
    assert_eq!((&part(&card)["status"], &card["rev"]), (&json!("canceled"), &json!(2)));
    assert_eq!(asking.answers(1, &form, json!({"output": {"choice": "Approve"}})).await.status, 409);
    assert_eq!(asking.stack.run(&run).await["steps"][0]["calls"][0]["status"], "canceled");
    assert_eq!(asking.stack.model.asked("ada").len(), 1, "it does not go on");
}

#[tokio::test]
async fn an_answer_and_a_cancel_at_once_have_one_outcome() {
    for round in 0..8_u64 {
        let asking = Asking::new(json!([approval()]), [asks_approval(), stop()]).await;
        let run = asking.wake().await;
        let form = asking.requested("getApproval").await;
        let canceled = async {
            tokio::time::sleep(Duration::from_millis(round % 4)).await;
            asking.stack.cancel(&run).await
        };
        let (answered, canceled) = tokio::join!(asking.answers(1, &form, json!({"output": {"choice": "Approve"}})), canceled);
        asking.stack.quiet(&asking.space).await;
        let card = asking.card(&form).await;
        let status = asking.stack.run(&run).await["status"].clone();
        let outcome = (answered.status, canceled.status, status.as_str().unwrap(), part(&card)["status"].as_str().unwrap());
        let possible = [(202, 202, "canceled", "completed"), (202, 409, "completed", "completed"), (409, 202, "canceled", "canceled")];
        assert!(possible.contains(&outcome), "{outcome:?}");
    }
}

#[tokio::test]
async fn at_the_end_of_its_time_a_form_has_one_outcome() {
    let asking = Asking::new(
        json!([amount("6 seconds")]),
        std::iter::repeat_with(|| answer([call("getAmount", json!({"title": "?"}))])).take(1).chain([stop()]),
    )
    .await;
    let run = asking.wake().await;
    let form = asking.requested("getAmount").await;
    // On a slow machine its time may be up already.
    wait_for("the run waits", SOON, async || {
        let run = asking.stack.run(&run).await;
        (run["status"] == "waiting_tool" || is_ended(&run)).then_some(())
    })
    .await;
    let until: jiff::Timestamp = form["expiresAt"].as_str().unwrap().parse().unwrap();
    let left = Duration::try_from(until.duration_since(jiff::Timestamp::now())).unwrap_or_default();
    // Just before, at, and behind its end.
    let tries = (-3_i32..=3).map(|step| {
        let (asking, form) = (&asking, &form);
        async move {
            let at = left.saturating_sub(Duration::from_millis(60)) + Duration::from_millis(20) * u32::try_from(step + 3).unwrap();
            tokio::time::sleep(at).await;
            asking.answers(usize::try_from(step + 3).unwrap() % 3, form, json!({"output": {"amount": step + 10}})).await
        }
    });
    let replies = join_all(tries).await;
    let ended = asking.stack.ended(&run, SOON).await;
    let taken = replies.iter().filter(|reply| reply.status == 202).count();
    let status = ended["steps"][0]["calls"][0]["status"].as_str().unwrap().to_owned();
    assert!(replies.iter().all(|reply| [202, 409].contains(&reply.status)));
    assert_eq!((taken, status.as_str()), if taken == 1 { (1, "completed") } else { (0, "expired") });
    assert_eq!(part(&asking.card(&form).await)["status"], status.as_str());
}

#[tokio::test]
async fn what_was_said_meanwhile_stands_before_the_next_step() {
    let asking = Asking::new(json!([approval()]), [asks_approval(), stop()]).await;
    let run = asking.wake().await;
    let form = asking.requested("getApproval").await;
    asking.status(&run, "waiting_tool").await;
    // It says something to the others; the agent's run on it says nothing.
    asking.stack.model.plays("ada", [stop()]);
    asking.stack.post(&asking.space, &asking.people[2], "Only the API, please").await;
    wait_for("the second run's end", SOON, async || (asking.stack.model.asked("ada").len() == 2).then_some(())).await;
    asking.stack.model.plays("ada", [stop()]);
    asking.answers(1, &form, json!({"output": {"choice": "Approve"}})).await.must_be(202);
    asking.stack.ended(&run, SOON).await;
    let asked = asking.stack.model.asked("ada");
    let told = asked.last().unwrap().told().concat();
    assert!(told.contains("Only the API, please"), "{told}");
    let other = asked[1].user();
    let lines = other.block("ACTIVE RUNS");
    assert!(lines.iter().any(|line| line.contains(&format!("{run} (waiting_tool)"))), "{lines:?}");
}

#[tokio::test]
async fn a_form_needs_a_space_and_what_its_buttons_need() {
    let bad = [
        call("getApproval", json!({"message": "?"})),
        call("getApproval", json!({"message": "?", "options": []})),
        call("getApproval", json!({"options": ["a"]})),
        call("getApproval", json!({"targetSpaceId": "nonsense", "message": "?", "options": ["a"]})),
        call("getApproval", json!({"targetSpaceId": "spc_01ARZ3NDEKTSV4RRFFQ69G5FAV", "message": "?", "options": ["a"]})),
    ];
    let asking = Asking::new(json!([approval()]), [answer(bad), stop()]).await;
    let run = asking.wake().await;
    asking.stack.ended(&run, SOON).await;
    let errors: Vec<_> = asking.results().iter().map(|result| result["error"].as_str().unwrap_or_default().to_owned()).collect();
    let expected = ["expected options", "expected options", "expected message", "expected an id like spc_", "you are not a member of"];
    for (error, expected) in errors.iter().zip(expected) {
        assert!(error.contains(expected), "{error} does not say {expected}");
    }
    assert_eq!(asking.stack.messages(&asking.space).await.len(), 1, "none of them is shown");
}

#[tokio::test]
async fn while_it_waits_a_runs_time_stands_still() {
    let stack = Stack::start().await;
    stack.model.plays("ada", [answer([call("getAmount", json!({"title": "?"}))]), say("Nobody said.").into(), stop()]);
    let person = stack.person("Husam").await;
    let model = json!({"provider": "openai", "name": stack.model.name("ada")});
    let limits = json!({"model": model, "tools": [amount("12 seconds")], "loop": {"timeLimit": "10 seconds", "continueOn": "writes"}});
    let agent = stack.agent_with("Ada", limits).await;
    let space = stack.space("Team", &[&person, &agent]).await;
    stack.post(&space, &person, "How much?").await;
    stack.quiet(&space).await;
    let run = &stack.runs_of(&space).await[0];
    assert_eq!((&run["status"], &run["endReason"], &run["stepCount"]), (&json!("completed"), &json!("done"), &json!(3)), "{run}");
}

#[tokio::test]
async fn nobody_is_asked_what_nobody_would_read() {
    let stack = Stack::start().await;
    stack.model.plays("ada", [answer([call("getAmount", json!({}))]), stop()]);
    let person = stack.person("Husam").await;
    let model = json!({"provider": "openai", "name": stack.model.name("ada")});
    let agent = stack.agent_with("Ada", json!({"model": model, "tools": [amount("1 day")], "loop": {"maxSteps": 1}})).await;
    let space = stack.space("Team", &[&person, &agent]).await;
    let question = stack.post(&space, &person, "How much?").await;
    let run = stack.ended(&woken(&question, &agent).unwrap(), SOON).await;
    assert_eq!((&run["endReason"], stack.messages(&space).await.len()), (&json!("max_steps"), 1), "{run}");
    assert!(run["steps"][0]["calls"][0]["output"]["error"].as_str().unwrap().contains("last step"), "{run}");
}

#[tokio::test]
async fn who_leaves_the_space_that_shows_its_form_is_told_so() {
    let (asking, board, run) = Asking::elsewhere().await;
    asking.stack.delete(&format!("/v1/spaces/{board}/members/{}", asking.agent)).await.must_be(204);
    asking.stack.ended(&run, SOON).await;
    assert_eq!(asking.results(), [json!({"error": "you are not a member of the space that showed this any more"})]);
    let card = asking.stack.messages(&board).await.pop().unwrap();
    assert_eq!(part(&card)["status"], "failed");
}

#[tokio::test]
async fn a_run_does_not_wait_for_a_space_that_is_gone() {
    let (asking, board, run) = Asking::elsewhere().await;
    asking.stack.delete(&format!("/v1/spaces/{board}")).await.must_be(204);
    let ended = asking.stack.ended(&run, SOON).await;
    assert_eq!(ended["status"], "completed", "{ended}");
    assert_eq!(asking.results(), [json!({"error": "the space that showed this was deleted"})]);
}

#[tokio::test]
async fn a_target_sends_a_form_to_another_space() {
    let stack = Stack::with_secret(&[]).await.expect("a product that believes tokens");
    let gate = Gate::closed();
    let (scripted, told) = (gate.clone(), std::sync::Arc::new(std::sync::Mutex::new(String::new())));
    let target = std::sync::Arc::clone(&told);
    let asking = Asking::on(stack, json!([approval()]), []).await;
    let boss = asking.stack.person("Boss").await;
    let board = asking.stack.space("Board", &[&boss, &asking.agent]).await;
    target.lock().unwrap().clone_from(&board);
    asking.stack.model.answers("ada", move |asked| {
        if asked.step() > 0 || asked.trigger_text() != "Deploy v2.1" {
            return stop();
        }
        let input = json!({"targetSpaceId": told.lock().unwrap().clone(), "zmessage": 1, "message": "Deploy?", "options": ["Yes"]});
        answer([call("getApproval", input), wait(&scripted)])
    });
    let bosses = asking.stack.socket_of(&boss).await;
    bosses.subscribe(&board, None).await;
    let run = asking.wake().await;
    gate.open();
    let form = bosses.frame("tool.requested", SOON, |frame| frame["name"] == "getApproval").await.body;
    assert_eq!((&form["spaceId"], &form["input"].get("targetSpaceId")), (&json!(board), &None));
    asking.status(&run, "waiting_tool").await;
    let here = json!({"output": {"choice": "Yes"}});
    assert_eq!(asking.answers(0, &form, here.clone()).await.status, 404, "it is shown where this person is not");
    result(&asking.stack.as_entity(&boss), &form, here).await.must_be(202);
    asking.stack.ended(&run, SOON).await;
    assert_eq!(asking.stack.messages(&asking.space).await.len(), 1, "nothing of it here");
    let of_it = |frame: &super::socket::Frame| frame.kind.starts_with("stream.") || frame.kind.starts_with("tool.");
    assert!(!asking.socket.frames().iter().any(of_it), "neither while it was written");
    let active = asking.stack.run(&run).await["activeSpaceId"].clone();
    assert_eq!(active, asking.space.as_str(), "a card does not move the run");
}
