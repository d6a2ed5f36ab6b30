//! Slow calls: adjacent calls run concurrently, and each call gets a final status. [`cards`] has
//! visible calls.

mod cards;

use serde_json::{Value, json};

use crate::support::{
    model::{answer, call, say, stop},
    routes::triggered_run,
    socket::Socket,
    tool_scene::{ToolScene, but, http_tool},
    waiting::{SOON, wait_for},
};

/// The error of a call whose run ended before the call did.
const ENDED: &str = "the run ended while this was under way; whether it took effect is not known";

fn tools(url: &str) -> Value {
    let slow =
        |name: &str| http_tool(name, "POST", &format!("{url}/slow?n={{{{input.n}}}}"), json!({}));
    json!([
        slow("slow"),
        but(slow("shown"), json!({"visible": true})),
        http_tool("echo", "POST", &format!("{url}/echo?n={{{{input.n}}}}"), json!({})),
        but(
            http_tool("refused", "POST", &format!("{url}/status/403"), json!({})),
            json!({"visible": true})
        ),
    ])
}

impl ToolScene {
    /// Opens a socket of the person that is subscribed to the space.
    async fn follow(&self) -> Socket {
        let socket = self.stack.socket_of(&self.person).await;
        socket.subscribe(&self.space, None).await;
        socket
    }
}

#[tokio::test]
async fn adjacent_calls_run_concurrently_and_their_results_keep_the_order() {
    let Some(scene) = ToolScene::with(tools).await else { return };
    let calls =
        ["slow", "echo", "slow"].into_iter().zip(1..).map(|(tool, n)| call(tool, json!({"n": n})));
    let run = scene
        .begin(calls.chain([say("After them."), call("echo", json!({"n": 4}))]).collect())
        .await;
    scene.server.gate.reached(2).await;
    wait_for("all three at the server", SOON, async || {
        (scene.server.requests().len() == 3).then_some(())
    })
    .await;
    let steps = scene.stack.run(&run).await["steps"].clone();
    let status = |index: usize| steps[0]["calls"][index]["status"].clone();
    assert_eq!(
        [status(0), status(2), status(3), status(4)],
        ["pending"; 4].map(Value::from),
        "{steps:.1000}"
    );
    assert_eq!(
        scene.stack.texts(&scene.space).await,
        ["Go on."],
        "a message after the calls waits for them"
    );
    scene.server.gate.open();
    let run = scene.stack.ended(&run, SOON).await;
    let calls = run["steps"][0]["calls"].as_array().unwrap();
    let targets: Vec<_> =
        calls.iter().map(|call| call["output"]["target"].as_str().unwrap_or_default()).collect();
    assert_eq!(targets, ["/slow?n=1", "/echo?n=2", "/slow?n=3", "", "/echo?n=4"]);
    assert_eq!(
        scene.results(),
        calls.iter().map(|call| call["output"].clone()).collect::<Vec<_>>()
    );
    assert_eq!(scene.stack.texts(&scene.space).await, ["Go on.", "After them."]);
}

#[tokio::test]
async fn of_many_calls_eight_run_concurrently() {
    let Some(scene) = ToolScene::with(tools).await else { return };
    let run = scene.begin((0..12).map(|n| call("shown", json!({"n": n}))).collect()).await;
    scene.server.gate.reached(8).await;
    // Calls that run concurrently show their cards before the first of them is made.
    assert_eq!(scene.cards().await.len(), 8);
    scene.server.gate.open();
    scene.stack.ended(&run, SOON).await;
    let numbers: Vec<_> =
        scene.cards().await.iter().map(|card| card["input"]["n"].clone()).collect();
    assert_eq!(numbers, (0..12).map(Value::from).collect::<Vec<_>>());
}

#[tokio::test]
async fn an_agent_answers_other_messages_during_a_slow_call() {
    let Some(scene) = ToolScene::with(tools).await else { return };
    scene.stack.model.answers("ada", |request| {
        match (request.trigger_text().as_str(), request.step()) {
            ("Go on.", 0) => answer([call("slow", json!({"n": 1}))]),
            ("And me?", 0) => say("I work on it.").into(),
            _ => stop(),
        }
    });
    scene.stack.side_by_side(&scene.agent).await;
    let run = scene.trigger().await;
    scene.server.gate.reached(1).await;
    let message = scene.stack.post(&scene.space, &scene.person, "And me?").await;
    scene.stack.ended(&triggered_run(&message, &scene.agent).unwrap(), SOON).await;
    assert_eq!(scene.stack.texts(&scene.space).await, ["Go on.", "And me?", "I work on it."]);
    assert_eq!(scene.stack.run(&run).await["status"], "running");
    scene.server.gate.open();
    scene.stack.quiet(&scene.space).await;
}
