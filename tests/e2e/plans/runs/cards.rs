//! A run of a plan that shows cards in spaces that it does not enter. It is shown there, too.

use serde_json::{Value, json};

use crate::{
    plans::runs::{
        enter,
        three_spaces::{Rounds, hidden, run_frame},
    },
    support::{
        model::{answer, call, stop},
        waiting::SOON,
    },
};

/// A form, and a visible tool whose result is known at once.
fn tools() -> Value {
    json!([
        {
            "name": "getApproval",
            "description": "Asks people.",
            "inputSchema": { "type": "object" },
            "execution": { "type": "space", "ui": "buttons" },
        },
        {
            "name": "lookUp",
            "description": "Looks it up.",
            "inputSchema": { "type": "object" },
            "visible": true,
            "execution": { "type": "static", "output": { "found": 3 } },
        },
    ])
}

impl Rounds {
    /// The status of the run in the list of active runs that a new subscription gets.
    async fn listed(&self, number: usize, run: &str) -> Value {
        let socket = self.stack.socket_of(&self.people[number]).await;
        let active = socket.subscribe(&self.spaces[number], None).await["active"].clone();
        let runs = active.as_array().unwrap();
        let own: Vec<_> = runs.iter().filter(|listed| listed["runId"] == run).collect();
        assert!(own.len() <= 1, "{active}");
        own.first().map_or(Value::Null, |listed| listed["status"].clone())
    }
}

#[tokio::test]
async fn a_run_of_a_plan_is_shown_in_the_spaces_of_its_cards() {
    let rounds = Rounds::with(tools()).await;
    let Rounds { stack, spaces, people, sockets, .. } = &rounds;
    let asks = json!({
        "targetSpaceId": spaces[1],
        "message": "Publish?",
        "options": ["Yes", "No"],
    });
    let first = [
        enter(&spaces[0]),
        call("getApproval", asks),
        call("lookUp", json!({ "targetSpaceId": spaces[2] })),
    ];
    let run = rounds.run([answer(first), stop()]).await;

    let asked = sockets[1].frame("tool.requested", SOON, |frame| frame["runId"] == run).await.body;
    for (number, socket) in sockets.iter().enumerate() {
        let started = run_frame(socket, "run.started", &run).await;
        let active = if number == 0 { json!(spaces[0]) } else { Value::Null };
        assert_eq!(
            (&started["run"]["trigger"], &started["run"]["activeSpaceId"]),
            (&hidden(), &active),
            "the member of space {number} knows no other space"
        );
        run_frame(socket, "run.waiting_tool", &run).await;
        assert_eq!(rounds.listed(number, &run).await, "waiting_tool", "space {number}");
    }

    let answers = json!({ "output": { "choice": "Yes" } });
    let call_id = asked["callId"].as_str().unwrap();
    stack
        .as_entity(&people[1])
        .create(&format!("/v1/runs/{run}/toolCalls/{call_id}/result"), answers)
        .await
        .must_be(202);
    assert_eq!(stack.ended(&run, SOON).await["status"], "completed");
    for (number, socket) in sockets.iter().enumerate() {
        run_frame(socket, "run.completed", &run).await;
        for kind in ["run.started", "run.resumed", "run.completed"] {
            let frames = socket.frames();
            let is_it = |body: &Value| body["type"] == kind && body["run"]["id"] == run;
            let seen = frames.iter().filter(|frame| is_it(&frame.body)).count();
            assert_eq!(seen, 1, "{kind} in space {number}");
        }
        assert_eq!(rounds.listed(number, &run).await, Value::Null, "space {number}");
        // Neither a list of runs nor the run itself is open to a member: no space triggered it.
        let member = stack.as_entity(&people[number]);
        assert_eq!(member.get(&format!("/v1/runs/{run}")).await.status, 404);
    }
}
