//! Runs that read and post outside of their prompt: other spaces, and older messages.

use serde_json::{Value, json};

use crate::support::{
    model::{Gate, Line, Prompt, answer, call, say, say_held, stop},
    routes::{text, triggered_run},
    socket::Frame,
    stack::Stack,
    waiting::SOON,
};

/// The numbers of the messages that a result shows.
fn seqs(result: &Value) -> Vec<u64> {
    Prompt::of_result(result).timeline().iter().map(|line| line.seq).collect()
}

#[tokio::test]
async fn a_run_enters_another_space_and_reads_and_posts_there() {
    let stack = Stack::start().await;
    let (person, agent, team) = stack.pair().await;
    let sarah = stack.person("Sarah").await;
    let reports = stack.space_with("Reports", &[&sarah, &agent], json!({ "paused": true })).await;
    for number in 1..=4 {
        stack.post(&reports, &sarah, &format!("report {number}")).await;
    }
    let enter = call("enter_space", json!({ "spaceId": reports, "limit": 3 }));
    stack.model.plays("ada", [answer([enter, say("Thank you, Sarah.")]), stop()]);
    let question = stack.post(&team, &person, "Thank Sarah, please.").await;
    stack.quiet(&team).await;

    assert_eq!(stack.texts(&team).await, ["Thank Sarah, please."]);
    let messages = stack.messages(&reports).await;
    let thanks = messages.last().unwrap();
    assert_eq!((text(thanks), thanks["chainDepth"].as_u64()), ("Thank you, Sarah.", Some(1)));
    assert_eq!(
        (&thanks["sender"]["id"], &thanks["runId"]),
        (&json!(agent), &question["dispatch"][0]["runId"])
    );
    assert_eq!(
        (&thanks["origin"]["type"], &thanks["origin"]["spaceId"]),
        (&json!("space_message"), &json!(team))
    );

    let results = stack.model.requests("ada")[1].results();
    let entered = Prompt::of_result(&results[0]);
    assert_eq!(
        entered.block("ACTIVE SPACE"),
        [
            format!("ACTIVE SPACE: \"Reports\" ({reports}) — Sarah (human), You"),
            "No other agent is here: your message wakes nobody.".into(),
        ]
    );
    let history = entered.timeline();
    let shown: Vec<String> = history.iter().map(Line::short).collect();
    assert_eq!(shown, ["NEW Sarah: report 2", "NEW Sarah: report 3", "NEW Sarah: report 4"]);
    assert_eq!(
        entered.block("SPACE HISTORY")[1],
        "… 1 earlier messages, 1 of them [NEW]; read_messages({\"before\":2}) shows them"
    );
    assert!(!results[0].to_string().contains("msg_"), "{}", results[0]);
    assert_eq!((&results[1]["success"], &results[1]["messageId"]), (&json!(true), &thanks["id"]));
    assert_eq!((&results[1]["status"], &results[1]["wakes"]), (&json!("delivered"), &json!([])));
    assert_eq!(results[1]["why"], "no other agent is here");
    let run = stack.run(&triggered_run(&question, &agent).unwrap()).await;
    assert_eq!((&run["status"], &run["activeSpaceId"]), (&json!("completed"), &json!(reports)));
}

#[tokio::test]
async fn a_message_streams_in_the_space_that_the_same_answer_has_entered() {
    for by_name in [false, true] {
        let stack = Stack::start().await;
        let (person, agent, team) = stack.pair().await;
        let reports = stack.space("Reports", &[&person, &agent]).await;
        let socket = stack.socket_of(&person).await;
        socket.subscribe(&team, None).await;
        socket.subscribe(&reports, None).await;
        let gate = Gate::closed();
        let named = if by_name { "reports" } else { &reports };
        let enter = call("enter_space", json!({ "spaceId": named }));
        let held = say_held("The first half, ", &gate, "and the second.");
        stack.model.plays("ada", [answer([enter, held]), stop()]);
        stack.post(&team, &person, "Report, please.").await;
        let started = socket.frame("stream.started", SOON, |_| true).await.body;
        assert_eq!(started["spaceId"], reports.as_str());
        socket
            .shows(&reports, "the first half", SOON, |view| {
                (view.live() == ["The first half, "]).then_some(())
            })
            .await;
        gate.open();
        stack.quiet(&team).await;
        let ended = socket.frame("stream.ended", SOON, |_| true).await.body;
        let message = stack.messages(&reports).await.pop().unwrap();
        assert_eq!((&ended["messageId"], &ended["spaceId"]), (&message["id"], &json!(reports)));
    }
}

#[tokio::test]
async fn nothing_streams_in_a_space_that_the_agent_cannot_enter() {
    let stack = Stack::start().await;
    let (person, _, team) = stack.pair().await;
    let private = stack.space("Private", &[&person]).await;
    let socket = stack.socket_of(&person).await;
    socket.subscribe(&team, None).await;
    socket.subscribe(&private, None).await;
    let enter = call("enter_space", json!({ "spaceId": private }));
    stack.model.plays("ada", [answer([enter, say("Where am I?")]), stop()]);
    stack.post(&team, &person, "Go there.").await;
    stack.quiet(&team).await;
    assert_eq!(stack.texts(&team).await, ["Go there.", "Where am I?"]);
    let of_private = |frame: &Frame| frame.body["spaceId"] == private.as_str();
    assert!(
        !socket.frames().iter().any(|frame| of_private(frame) && frame.kind.starts_with("stream"))
    );
}

#[tokio::test]
async fn a_run_can_enter_only_spaces_of_its_agent() {
    let stack = Stack::start().await;
    let (person, _, team) = stack.pair().await;
    let private = stack.space("Private", &[&person]).await;
    stack.post(&private, &person, "secret").await;
    let calls =
        ["enter_space", "read_messages"].map(|tool| call(tool, json!({ "spaceId": private })));
    stack.model.plays("ada", [answer(calls), say("I can't.").into(), stop()]);
    stack.post(&team, &person, "What is in Private?").await;
    stack.quiet(&team).await;
    assert_eq!(
        stack.texts(&team).await,
        ["What is in Private?", "I can't."],
        "after a refusal the active space stays the same"
    );
    let results = stack.model.requests("ada")[1].results();
    assert!(results.iter().all(|result| result["error"].is_string()), "{results:?}");
    assert!(!json!(results).to_string().contains("secret"));
    assert_eq!(stack.texts(&private).await, ["secret"]);
}

#[tokio::test]
async fn read_messages_reads_older_messages_in_pages() {
    let stack = Stack::start().await;
    let (person, _, space) = stack.pair().await;
    stack.patch(&format!("/v1/spaces/{space}"), json!({ "paused": true })).await.must_be(200);
    for number in 1..=5 {
        stack.post(&space, &person, &format!("message {number}")).await;
    }
    stack.patch(&format!("/v1/spaces/{space}"), json!({ "paused": false })).await.must_be(200);
    let read = |before: u64| call("read_messages", json!({ "limit": 2, "before": before }));
    stack.model.plays("ada", [answer([read(5), read(3)]), stop()]);
    stack.post(&space, &person, "Read back, please.").await;
    stack.quiet(&space).await;

    let results = stack.model.requests("ada")[1].results();
    for (result, expected) in results.iter().zip([[3, 4], [1, 2]]) {
        assert_eq!(seqs(result), expected);
    }
    let lines: Vec<&str> = results[0].as_str().unwrap().lines().collect();
    assert!(lines[1].ends_with("read_messages({\"before\":3}) shows them"), "{lines:?}");
    assert_eq!(*lines.last().unwrap(), "… 2 later messages");
    let last = Prompt::of_result(&results[1]);
    assert_eq!(last.timeline()[0].short(), "NEW Husam: message 1");
    assert!(last.block("SPACE HISTORY")[1].ends_with(" UTC"), "nothing precedes: {last:?}");
}

#[tokio::test]
async fn a_run_names_spaces_and_messages_as_its_prompt_does() {
    let stack = Stack::start().await;
    let (person, agent, team) = stack.pair().await;
    let reports = stack.space("Reports", &[&person, &agent]).await;
    stack.space("Twins", &[&person, &agent]).await;
    stack.space("twins", &[&person, &agent]).await;
    stack.model.plays("ada", [answer([say("Noted.")]), stop()]);
    stack.post(&reports, &person, "report 1").await;
    stack.quiet(&reports).await;
    for number in 2..=6 {
        stack.model.plays("ada", [stop()]);
        stack.post(&reports, &person, &format!("report {number}")).await;
        stack.quiet(&reports).await;
    }
    stack.model.plays(
        "ada",
        [
            answer([
                call("read_messages", json!({"spaceId": "reports", "around": 4, "limit": 3})),
                call("read_messages", json!({"around": 4, "before": 4})),
                call("enter_space", json!({"spaceId": "\"Reports\""})),
                call("enter_space", json!({"spaceId": "Twins"})),
                call("enter_space", json!({"spaceId": "Nowhere"})),
                call("set_goals", json!({"goals": [{"id": "q4", "description": "Report"}]})),
                call("get_goals", json!({"status": "active"})),
            ]),
            stop(),
        ],
    );
    stack.post(&team, &person, "Look around.").await;
    stack.quiet(&team).await;
    let results = stack.model.requests("ada").pop().unwrap().results();
    assert_eq!(seqs(&results[0]), [3, 4, 5]);
    let hint = "read_messages({\"spaceId\":\"reports\",\"before\":3}) shows them";
    assert!(results[0].as_str().unwrap().contains(hint), "{}", results[0]);
    assert_eq!(results[1]["error"], "expected before or around, not both");
    let entered = Prompt::of_result(&results[2]);
    assert!(entered.block("ACTIVE SPACE")[0].contains(&reports), "{entered:?}");
    let own = &entered.timeline()[1];
    assert_eq!(
        (own.short().as_str(), own.note.as_deref()),
        ("SEEN You: Noted.", Some("answering #1"))
    );
    let ambiguous = results[3]["error"].as_str().unwrap();
    assert!(ambiguous.contains("\"Twins\"~") && ambiguous.contains("\"twins\"~"), "{ambiguous}");
    let unknown = results[4]["error"].as_str().unwrap();
    assert!(unknown.starts_with("spaceId: there is no space of yours named"), "{unknown}");
    assert_eq!(results[6], "GOALS:\n- [q4] \"Report\" (priority 3)");

    let members = stack.get(&format!("/v1/spaces/{reports}")).await.must_be(200)["members"].clone();
    let ada = members.as_array().unwrap().iter().find(|member| member["id"] == agent.as_str());
    assert_eq!(ada.unwrap()["readSeq"], 7, "an agent has read what its completed runs have");
}
