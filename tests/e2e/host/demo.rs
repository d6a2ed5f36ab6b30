//! The demo space that the product makes on an empty folder.

use serde_json::{Value, json};

use crate::support::{
    routes::{id, seq, text, triggered_run},
    stack::Stack,
    view::View,
    waiting::SOON,
};

struct Demo {
    space: String,
    person: String,
    agents: Vec<Value>,
}

impl Demo {
    async fn find(stack: &Stack) -> Self {
        let spaces = stack.all("/v1/spaces").await;
        assert_eq!(spaces.len(), 1);
        let members = spaces[0]["members"].as_array().unwrap().clone();
        let (people, agents): (Vec<_>, Vec<_>) =
            members.into_iter().partition(|member| member["type"] == "human");
        assert_eq!((people.len(), agents.len()), (1, 3));
        Self { space: id(&spaces[0]), person: id(&people[0]), agents }
    }

    fn agent(&self, name: &str) -> String {
        id(self.agents.iter().find(|agent| agent["name"] == name).unwrap())
    }
}

#[tokio::test]
async fn one_of_three_demo_agents_answers_a_message_live() {
    let Some(stack) = Stack::local_with_demo().await else { return };
    let demo = Demo::find(&stack).await;
    let socket = stack.socket().await;
    socket.subscribe(&demo.space, None).await;
    let question = stack.post(&demo.space, &demo.person, "Hello?").await;
    assert!(demo.agents.iter().all(|agent| triggered_run(&question, &id(agent)).is_some()));

    // Compare the order of frames, because a test that stalls for a while gets all frames at once.
    let before = socket.until("the answer", SOON, |frames| {
        let answer = frames.iter().position(|frame| {
            frame.kind == "message.created" && seq(&frame.body["message"]) == 2
        })?;
        Some(frames[..answer].to_vec())
    });
    let before = before.await;
    assert!(
        before.iter().filter(|frame| frame.kind == "stream.delta").count() > 1,
        "the answer streams word by word: {before:#?}"
    );
    let shown = View::of(&before, &demo.space).streams;
    assert!(
        shown.values().any(|stream| stream.text().len() > 30),
        "the text shows before the message is stored: {shown:?}"
    );
    stack.quiet(&demo.space).await;

    let messages = stack.messages(&demo.space).await;
    assert_eq!(messages.len(), 2);
    assert_eq!(messages[1]["sender"]["name"], "Guide");
    let watching = stack.run(&triggered_run(&question, &demo.agent("Observer")).unwrap()).await;
    assert_eq!(watching["endReason"], "skipped");
    let waiting = stack.run(&triggered_run(&question, &demo.agent("Librarian")).unwrap()).await;
    assert_eq!((&waiting["endReason"], &waiting["status"]), (&json!("done"), &json!("completed")));
}

#[tokio::test]
async fn the_mentioned_demo_agent_answers() {
    let Some(stack) = Stack::local_with_demo().await else { return };
    let demo = Demo::find(&stack).await;
    stack.post(&demo.space, &demo.person, "@librarian, what is this place?").await;
    stack.quiet(&demo.space).await;
    let messages = stack.messages(&demo.space).await;
    let senders: Vec<_> =
        messages.iter().map(|message| message["sender"]["name"].as_str().unwrap()).collect();
    assert_eq!(senders, ["Robin", "Librarian"]);
    assert!(
        text(&messages[1]).ends_with("you wrote: @librarian, what is this place?"),
        "{}",
        messages[1]
    );
}

#[tokio::test]
async fn the_demo_guide_asks_with_buttons() {
    let Some(stack) = Stack::local_with_demo().await else { return };
    let demo = Demo::find(&stack).await;
    let socket = stack.socket().await;
    socket.subscribe(&demo.space, None).await;
    stack.post(&demo.space, &demo.person, "Is there any coffee?").await;
    let form = socket.frame("tool.requested", SOON, |frame| frame["ui"] == "buttons").await.body;
    crate::tools::forms::scene::answer_form(
        &stack,
        &form,
        json!({"output": {"choice": "Yes, please"}}),
    )
    .await
    .must_be(202);
    stack.quiet(&demo.space).await;
    let messages = stack.messages(&demo.space).await;
    let last = text(messages.last().unwrap());
    assert!(last.starts_with("“Yes, please” it is."), "{messages:#?}");
}

#[tokio::test]
async fn the_demo_space_is_made_once() {
    let Some(mut stack) = Stack::local_with_demo().await else { return };
    stack.restart().await;
    Demo::find(&stack).await;
}
