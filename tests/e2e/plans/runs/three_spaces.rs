//! A run of a plan that posts into three spaces, and what the members of each space see.

use serde_json::{Value, json};

use crate::{
    plans::{operator::daily, runs::enter},
    support::{
        model::{Answer, Gate, Prompt, answer, call, say, stop, wait},
        routes::{text, triggered_run},
        socket::Socket,
        stack::Stack,
        waiting::SOON,
    },
};

/// An agent with a plan, and three spaces with it. Each space has its own person, who follows it.
pub(crate) struct Rounds {
    pub(crate) stack: Stack,
    pub(crate) agent: String,
    pub(crate) plan: Value,
    pub(crate) people: Vec<String>,
    pub(crate) spaces: Vec<String>,
    pub(crate) sockets: Vec<Socket>,
    pub(crate) operator: Socket,
}

impl Rounds {
    pub(crate) async fn with(tools: Value) -> Self {
        Self::on(Stack::with_secret(&[]).await.expect("a product that accepts tokens"), tools).await
    }

    pub(crate) async fn on(stack: Stack, tools: Value) -> Self {
        let model = json!({ "provider": "openai", "name": stack.model.name("ada") });
        let agent = stack.agent_with("Ada", json!({ "model": model, "tools": tools })).await;
        let operator = stack.socket().await;
        let plan = stack.plan(&agent, daily("Daily Report")).await;
        let mut people = Vec::new();
        let mut spaces = Vec::new();
        let mut sockets = Vec::new();
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

    /// Runs the plan by hand with these answers of the model. Returns the run.
    pub(crate) async fn run(&self, answers: impl IntoIterator<Item = Answer>) -> String {
        self.stack.model.plays("ada", answers);
        self.stack.run_plan(&self.agent, &self.plan).await
    }

    /// The trigger of the run as the operator sees it.
    pub(crate) async fn trigger(&self, run: &str) -> Value {
        self.stack.run(run).await["trigger"].clone()
    }
}

/// The trigger of the run as members see it.
pub(crate) fn hidden() -> Value {
    json!({ "type": "plan" })
}

/// Waits for a frame of this kind about a run.
pub(crate) async fn run_frame(socket: &Socket, kind: &str, run: &str) -> Value {
    socket.frame(kind, SOON, |frame| frame["run"]["id"] == run).await.body
}

#[tokio::test]
async fn a_run_of_a_plan_posts_into_three_spaces_and_members_see_only_their_own() {
    let rounds = Rounds::with(json!([])).await;
    let Rounds { stack, agent, spaces, people, .. } = &rounds;
    let first_space = format!("/v1/spaces/{}", spaces[0]);
    stack.patch(&first_space, json!({ "paused": true })).await.must_be(200);
    stack.post(&spaces[0], &people[0], "Numbers, please.").await;
    stack.patch(&first_space, json!({ "paused": false })).await.must_be(200);
    let gate = Gate::closed();
    let first = answer([enter(&spaces[0]), call("read_messages", json!({})), say("Report 0")]);
    let second = answer([enter(&spaces[1]), say("Report 1")]);
    let last = answer([wait(&gate), enter(&spaces[2]), say("Report 2")]);
    let run = rounds.run([first, second, last, stop()]).await;
    gate.reached(1).await;
    assert_active_in_second_space(&rounds, &run).await;
    gate.open();
    stack.ended(&run, SOON).await;

    let trigger = rounds.trigger(&run).await;
    assert_eq!(trigger["planId"], rounds.plan["id"]);
    let results = stack.model.requests("ada")[1].results();
    for result in &results[..2] {
        assert_eq!(Prompt::of_result(result).timeline()[0].text, "Numbers, please.");
    }
    for number in 0..spaces.len() {
        rounds.assert_run_frames(number, &run).await;
        rounds.assert_report(number, &run, &trigger).await;
        rounds.assert_nothing_leaks(number, &run).await;
    }

    // The note in the next prompt names the plan.
    stack.model.replies("ada", |_| stop());
    let question = stack.post(&spaces[1], &people[1], "Thanks!").await;
    stack.ended(&triggered_run(&question, agent).unwrap(), SOON).await;
    let timeline = stack.model.requests("ada").pop().unwrap().user().timeline();
    let own = timeline.iter().find(|line| line.text == "Report 1").unwrap();
    let note = own.note.as_deref().unwrap();
    assert!(own.seen && note.starts_with("sent because plan \"Daily Report\" fired"), "{own:?}");
}

/// Checks that only subscribers of the second space are notified that the run is active there.
async fn assert_active_in_second_space(rounds: &Rounds, run: &str) {
    let Rounds { stack, agent, spaces, people, sockets, operator, .. } = rounds;
    run_frame(&sockets[1], "run.started", run).await;
    let active = json!([{ "runId": run, "agentId": agent, "status": "running" }]);
    let second = stack.socket_of(&people[1]).await;
    assert_eq!(second.subscribe(&spaces[1], None).await["active"], active);
    let third = stack.socket_of(&people[2]).await;
    assert_eq!(third.subscribe(&spaces[2], None).await["active"], json!([]));
    let subscribe = json!({ "action": "subscribe", "spaceId": spaces[1] });
    assert_eq!(operator.request(subscribe).await["active"], active);
}

impl Rounds {
    /// The trigger of a run of the plan, without its texts.
    pub(crate) fn reference(&self) -> Value {
        json!({ "type": "plan", "planId": self.plan["id"] })
    }

    /// Checks that the start and the end of the run are sent once to the member of a space and once
    /// to the operator, who also learns which plan triggered it.
    async fn assert_run_frames(&self, number: usize, run: &str) {
        let space = &self.spaces[number];
        for listener in [&self.sockets[number], &self.operator] {
            let is_operator = std::ptr::eq(listener, &raw const self.operator);
            let trigger = if is_operator { self.reference() } else { hidden() };
            let here =
                |frame: &Value| frame["run"]["id"] == run && frame["spaceId"] == space.as_str();
            let started = listener.frame("run.started", SOON, here).await.body;
            assert_eq!(
                (&started["run"]["trigger"], &started["run"]["activeSpaceId"]),
                (&trigger, &json!(space))
            );
            let ended = listener.frame("run.completed", SOON, here).await.body;
            let last = if number == 2 || is_operator { json!(self.spaces[2]) } else { Value::Null };
            assert_eq!(
                (&ended["run"]["trigger"], &ended["run"]["activeSpaceId"]),
                (&trigger, &last),
                "{ended}"
            );
            let member = ended["run"]["agentId"].as_str().unwrap();
            let shown = self.stack.get(&format!("/v1/spaces/{space}")).await.must_be(200);
            let members = shown["members"].as_array().unwrap();
            let agent = members.iter().find(|each| each["id"] == member).unwrap();
            assert_eq!(ended["readSeq"], agent["readSeq"], "{ended}");
            let count = |kind: &str| {
                let frames = listener.frames();
                frames.iter().filter(|frame| frame.kind == kind && here(&frame.body)).count()
            };
            assert_eq!((count("run.started"), count("run.completed")), (1, 1));
        }
    }

    /// Checks that the operator sees the whole origin of the report in a space, and its member only
    /// the type.
    async fn assert_report(&self, number: usize, _run: &str, trigger: &Value) {
        let Self { stack, people, spaces, sockets, operator, .. } = self;
        let space = &spaces[number];
        let member = stack.as_entity(&people[number]);
        let whole = stack.messages(space).await.pop().unwrap();
        let cut = member.messages(space).await.pop().unwrap();
        assert_eq!(
            (text(&whole), whole["chainDepth"].as_u64()),
            (format!("Report {number}").as_str(), Some(1))
        );
        for (field, value) in trigger.as_object().unwrap() {
            assert_eq!(&whole["origin"][field], value, "{field} of {whole}");
        }
        assert_eq!(cut["origin"], hidden(), "{cut}");
        let is_it = |frame: &Value| frame["message"]["id"] == whole["id"];
        let live = sockets[number].frame("message.created", SOON, is_it).await.body;
        let late = stack.socket_of(&people[number]).await;
        late.subscribe(space, Some(0)).await;
        let replayed = late.frame("message.created", SOON, is_it).await.body;
        assert_eq!(
            (&live["message"]["origin"], &replayed["message"]["origin"]),
            (&hidden(), &hidden())
        );
        let operators = operator.frame("message.created", SOON, is_it).await.body;
        assert_eq!(operators["message"]["origin"], whole["origin"]);
    }

    /// Checks that the member of a space cannot access the run, and that no frame names the plan or
    /// another space.
    async fn assert_nothing_leaks(&self, number: usize, run: &str) {
        let Self { stack, people, spaces, sockets, .. } = self;
        let space = &spaces[number];
        let member = stack.as_entity(&people[number]);
        assert_eq!(member.get(&format!("/v1/runs/{run}")).await.status, 404);
        assert_eq!(member.cancel(run).await.status, 404);
        let listed = [member.runs_of(space).await, stack.runs_of(space).await].concat();
        assert!(listed.iter().all(|other| other["id"] != run));
        for frame in sockets[number].frames() {
            let body = frame.body.to_string();
            let mut others = spaces.iter().filter(|other| *other != space);
            assert!(
                !body.contains("Daily Report") && !others.any(|other| body.contains(other)),
                "{body}"
            );
        }
    }
}
