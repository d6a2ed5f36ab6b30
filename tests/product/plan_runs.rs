//! What a plan wakes: a run without a space, which goes where it has to speak. [`broken_off`] has what comes between.

mod broken_off;

use serde_json::{Value, json};

use super::{
    model::{Answer, Gate, Part, answer, call, say, stop, wait},
    plans::{daily, once},
    routes::{id, text, woken},
    socket::Socket,
    stack::Stack,
    waiting::SOON,
};

fn enter(space: &str) -> Part {
    call("enter_space", json!({ "spaceId": space }))
}

/// An agent with a plan, and three spaces with it; in each is a person who is in no other one, and follows it.
struct Rounds {
    stack: Stack,
    agent: String,
    plan: Value,
    people: Vec<String>,
    spaces: Vec<String>,
    sockets: Vec<Socket>,
    operator: Socket,
}

impl Rounds {
    async fn with(tools: Value) -> Self {
        Self::on(Stack::with_secret(&[]).await.expect("a product that believes tokens"), tools).await
    }

    async fn on(stack: Stack, tools: Value) -> Self {
        let model = json!({ "provider": "openai", "name": stack.model.name("ada") });
        let agent = stack.agent_with("Ada", json!({ "model": model, "tools": tools })).await;
        let (operator, plan) = (stack.socket().await, stack.plan(&agent, daily("Daily Report")).await);
        let (mut people, mut spaces, mut sockets) = (Vec::new(), Vec::new(), Vec::new());
        for (person, name) in [("Husam", "Team"), ("Sarah", "Board"), ("Ahmad", "Lobby")] {
            let person = stack.person(person).await;
            let space = stack.space(name, &[&person, &agent]).await;
            let socket = stack.socket_of(&person).await;
            socket.subscribe(&space, None).await;
            operator.subscribe(&space, None).await;
            people.push(person);
            spaces.push(space);
            sockets.push(socket);
        }
        Self { stack, agent, plan, people, spaces, sockets, operator }
    }

    /// Runs the plan; its model gives these answers.
    async fn run(&self, answers: impl IntoIterator<Item = Answer>) -> String {
        self.stack.model.plays("ada", answers);
        self.stack.run_plan(&self.agent, &self.plan).await
    }

    /// What woke the run, as the operator is told.
    async fn trigger(&self, run: &str) -> Value {
        self.stack.run(run).await["trigger"].clone()
    }
}

/// What woke a run, as members are told.
fn hidden() -> Value {
    json!({ "type": "plan" })
}

/// The frame of a kind that tells of a run.
async fn told(socket: &Socket, kind: &str, run: &str) -> Value {
    socket.frame(kind, SOON, |frame| frame["run"]["id"] == run).await.body
}

#[tokio::test]
async fn a_plan_wakes_a_run_that_is_nowhere_yet() {
    let stack = Stack::start().await;
    let (_, agent, space) = stack.pair().await;
    let entered = space.clone();
    stack.model.answers("ada", move |asked| match asked.step() {
        0 => answer([say("Too early."), call("read_messages", json!({}))]),
        1 => answer([enter(&entered), say("Hello.")]),
        _ => stop(),
    });
    let other = stack.plan(&agent, daily("Weekly \"numbers\"")).await;
    let paused = stack.plan(&agent, daily("Paused")).await;
    stack.put(&format!("/v1/agents/{agent}/plans/{}", id(&paused)), json!({ "status": "paused" })).await.must_be(200);
    let later = stack.plan(&agent, once("Later", "2 hours")).await;
    let plan = stack.plan(&agent, once("Greeting", "1 second")).await;
    let fired = stack.fired(&agent, 1).await;
    let run = stack.ended(&id(&fired[0]), SOON).await;

    let asked = stack.model.asked("ada");
    let user = asked[0].user();
    assert_eq!(user.names(), ["PLANS", "ACTIVE RUNS", "ACTIVE SPACE", "TRIGGER", "NOW"]);
    assert_eq!(user.block("ACTIVE SPACE"), ["ACTIVE SPACE: none (call enter_space first)"]);
    let seconds = |time: &Value| format!("{}Z", &time.as_str().unwrap()[..19]);
    let trigger = [
        "TRIGGER:".to_owned(),
        "  type: plan".to_owned(),
        format!("  plan: \"Greeting\" (id: {})", id(&plan)),
        "  instruction: \"Say hello.\"".to_owned(),
        format!("  scheduledAt: {}", seconds(&plan["nextRunAt"])),
    ];
    assert_eq!(user.block("TRIGGER"), trigger);
    assert_eq!(user.block("ACTIVE RUNS")[1..], [format!("  - {} (this run) — plan \"Greeting\"", id(&run))]);
    let shown: Vec<&str> = user.block("PLANS")[1..].iter().map(|line| line.split(", in ").next().unwrap()).collect();
    let mut expected = [
        (
            &other["nextRunAt"],
            format!(
                "  - \"Weekly \\\"numbers\\\"\" (id: {}, cron: 0 9 * * * Europe/Berlin, next: {}",
                id(&other),
                seconds(&other["nextRunAt"])
            ),
        ),
        (&later["nextRunAt"], format!("  - \"Later\" (id: {}, once: {}", id(&later), seconds(&later["nextRunAt"]))),
    ];
    expected.sort_by_key(|(next, _)| next.to_string());
    assert_eq!(shown, expected.each_ref().map(|(_, line)| line.as_str()), "neither what is paused nor what is over");
    let said = user.block("PLANS").iter().find(|line| line.contains("Later")).unwrap();
    assert!(said.ends_with("[set via runAfter: \"2 hours\"]"), "{said}");
    let spaces = asked[0].system();
    assert!(spaces.block("YOUR SPACES")[1].contains(&space), "{spaces:?}");

    let results = asked[1].results();
    assert_eq!(results[0], json!({ "error": "no space is active; call enter_space first" }));
    assert!(results[1]["error"].is_string(), "{}", results[1]);
    assert_eq!(stack.texts(&space).await, ["Hello."]);
    assert_eq!((&run["status"], &run["activeSpaceId"]), (&json!("completed"), &json!(space)));
}

#[tokio::test]
async fn one_report_goes_into_three_spaces() {
    let rounds = Rounds::with(json!([])).await;
    let Rounds { stack, agent, spaces, people, sockets, .. } = &rounds;
    stack.patch(&format!("/v1/spaces/{}", spaces[0]), json!({ "paused": true })).await.must_be(200);
    stack.post(&spaces[0], &people[0], "Numbers, please.").await;
    stack.patch(&format!("/v1/spaces/{}", spaces[0]), json!({ "paused": false })).await.must_be(200);
    let gate = Gate::closed();
    let report = |space: usize| answer([enter(&spaces[space]), say(&format!("Report {space}"))]);
    let first = answer([enter(&spaces[0]), call("read_messages", json!({})), say("Report 0")]);
    let last = answer([wait(&gate), enter(&spaces[2]), say("Report 2")]);
    let run = rounds.run([first, report(1), last, stop()]).await;
    gate.reached(1).await;
    told(&sockets[1], "run.started", &run).await;
    // Where it is, who comes by is told so.
    let here = stack.socket_of(&people[1]).await;
    let active = json!([{ "runId": run, "agentId": agent, "status": "running" }]);
    assert_eq!(here.subscribe(&spaces[1], None).await["active"], active);
    assert_eq!(stack.socket_of(&people[2]).await.subscribe(&spaces[2], None).await["active"], json!([]));
    assert_eq!(rounds.operator.request(json!({ "action": "subscribe", "spaceId": spaces[1] })).await["active"], active);
    gate.open();
    stack.ended(&run, SOON).await;

    let (trigger, asked) = (rounds.trigger(&run).await, stack.model.asked("ada"));
    assert_eq!(trigger["planId"], rounds.plan["id"]);
    let history = asked[1].results()[0]["history"].clone();
    assert_eq!(
        (history[0]["text"].as_str(), asked[1].results()[1]["messages"][0]["text"].as_str()),
        (Some("Numbers, please."), Some("Numbers, please."))
    );
    for (number, (space, socket)) in spaces.iter().zip(sockets).enumerate() {
        for listener in [socket, &rounds.operator] {
            let here = |frame: &Value| frame["run"]["id"] == run.as_str() && frame["spaceId"] == space.as_str();
            let started = listener.frame("run.started", SOON, here).await.body;
            assert_eq!((&started["run"]["trigger"], &started["run"]["activeSpaceId"]), (&hidden(), &json!(space)));
            let ended = listener.frame("run.completed", SOON, here).await.body;
            let last = if number == 2 || std::ptr::eq(listener, &raw const rounds.operator) { json!(spaces[2]) } else { Value::Null };
            assert_eq!((&ended["run"]["trigger"], &ended["run"]["activeSpaceId"]), (&hidden(), &last), "{ended}");
            let many = |kind: &str| listener.frames().iter().filter(|frame| frame.kind == kind && here(&frame.body)).count();
            assert_eq!((many("run.started"), many("run.completed")), (1, 1));
        }
        let member = stack.as_entity(&people[number]);
        let whole = stack.messages(space).await.pop().unwrap();
        let cut = member.messages(space).await.pop().unwrap();
        assert_eq!((text(&whole), whole["chainDepth"].as_u64()), (format!("Report {number}").as_str(), Some(1)));
        for (field, value) in trigger.as_object().unwrap() {
            assert_eq!(&whole["origin"][field], value, "{field} of {whole}");
        }
        assert_eq!(cut["origin"], hidden(), "{cut}");
        let is_it = |frame: &Value| frame["message"]["id"] == whole["id"];
        let live = socket.frame("message.created", SOON, is_it).await.body;
        let late = stack.socket_of(&people[number]).await;
        late.subscribe(space, Some(0)).await;
        let replayed = late.frame("message.created", SOON, is_it).await.body;
        assert_eq!((&live["message"]["origin"], &replayed["message"]["origin"]), (&hidden(), &hidden()));
        let operators = rounds.operator.frame("message.created", SOON, is_it).await.body;
        assert_eq!(operators["message"]["origin"], whole["origin"]);
        assert_eq!(member.get(&format!("/v1/runs/{run}")).await.status, 404);
        assert_eq!(member.cancel(&run).await.status, 404);
        assert!(member.runs_of(space).await.iter().chain(&stack.runs_of(space).await).all(|other| other["id"] != run.as_str()));
        for frame in socket.frames() {
            let body = frame.body.to_string();
            let others = spaces.iter().filter(|other| *other != space);
            assert!(!body.contains("Daily Report") && !others.into_iter().any(|other| body.contains(other)), "{body}");
        }
    }

    // Its own line says why, in the next prompt.
    stack.model.replies("ada", |_| stop());
    let question = stack.post(&spaces[1], &people[1], "Thanks!").await;
    stack.ended(&woken(&question, agent).unwrap(), SOON).await;
    let timeline = stack.model.asked("ada").pop().unwrap().user().timeline();
    let own = timeline.iter().find(|line| line.text == "Report 1").unwrap();
    let note = own.note.as_deref().unwrap();
    assert!(own.seen && note.starts_with("sent because plan \"Daily Report\" fired"), "{own:?}");
}

#[tokio::test]
async fn its_line_names_the_plan_and_what_it_used() {
    let rounds = Rounds::with(json!([])).await;
    let run = rounds.run([answer([enter(&rounds.spaces[0]), say("Report")]), stop()]).await;
    rounds.stack.ended(&run, SOON).await;
    rounds.stack.model.replies("ada", |_| stop());
    let question = rounds.stack.post(&rounds.spaces[0], &rounds.people[0], "Thanks!").await;
    rounds.stack.ended(&woken(&question, &rounds.agent).unwrap(), SOON).await;
    let own = rounds.stack.model.asked("ada").pop().unwrap().user().timeline().swap_remove(0);
    assert_eq!(own.note.as_deref(), Some("sent because plan \"Daily Report\" fired; used enter_space"));
}

#[tokio::test]
async fn a_plans_run_has_nothing_to_hand_on() {
    let rounds = Rounds::with(json!([])).await;
    let Rounds { stack, spaces, .. } = &rounds;
    let other = stack.agent("Bea", &stack.model.name("bea")).await;
    stack.put(&format!("/v1/spaces/{}/members/{other}", spaces[0]), json!({})).await.must_be(200);
    let settings = json!({ "triggerPolicy": "admin", "adminAgentId": rounds.agent });
    stack.patch(&format!("/v1/spaces/{}", spaces[0]), settings).await.must_be(200);
    let run = rounds.run([answer([enter(&spaces[0]), call("delegate", json!({ "entityId": other }))]), stop()]).await;
    assert_eq!(stack.ended(&run, SOON).await["endReason"], "done");
    let results = stack.model.asked("ada").pop().unwrap().results();
    assert_eq!(results[1], json!({ "error": "no message of a space woke you: there is nothing to hand on" }));
    assert!(stack.model.asked("bea").is_empty());
}

#[tokio::test]
async fn its_messages_wake_others_one_deeper() {
    let rounds = Rounds::with(json!([])).await;
    let Rounds { stack, spaces, .. } = &rounds;
    let other = stack.agent("Bea", &stack.model.name("bea")).await;
    stack.model.replies("bea", |asked| say(&format!("re: {}", asked.trigger_text())));
    stack.put(&format!("/v1/spaces/{}/members/{other}", spaces[0]), json!({})).await.must_be(200);
    let run = rounds.run([answer([enter(&spaces[0]), say("Report")]), stop()]).await;
    stack.ended(&run, SOON).await;
    stack.quiet(&spaces[0]).await;
    let said: Vec<_> =
        stack.messages(&spaces[0]).await.iter().map(|message| (text(message).to_owned(), message["chainDepth"].clone())).collect();
    assert_eq!(said[..2], [("Report".to_owned(), json!(1)), ("re: Report".to_owned(), json!(2))]);
    assert_eq!(stack.run(&run).await["chainDepth"], 0);
}
