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
        Self::named(stack, "Welcome", 3).await
    }

    /// The demo space with this name and number of agents.
    async fn named(stack: &Stack, name: &str, count: usize) -> Self {
        let spaces = stack.all("/v1/spaces").await;
        assert_eq!(spaces.len(), 2);
        let space = spaces.iter().find(|space| space["name"] == name).unwrap();
        let members = space["members"].as_array().unwrap().clone();
        let (people, agents): (Vec<_>, Vec<_>) =
            members.into_iter().partition(|member| member["type"] == "human");
        assert_eq!((people.len(), agents.len()), (1, count));
        Self { space: id(space), person: id(&people[0]), agents }
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
async fn the_router_of_the_help_desk_says_why_it_chose() {
    let Some(stack) = Stack::local_with_demo().await else { return };
    let desk = Demo::named(&stack, "Help desk", 4).await;
    let post = async |text: &str| {
        let posted = stack.post(&desk.space, &desk.person, text).await;
        stack.quiet(&desk.space).await;
        let messages = stack.messages(&desk.space).await;
        messages.into_iter().find(|message| message["id"] == posted["id"]).unwrap()
    };
    let words = |message: &Value, name: &str| {
        let dispatch = message["dispatch"].as_array().unwrap();
        let entry = dispatch.iter().find(|entry| entry["agentId"] == desk.agent(name)).unwrap();
        (entry["source"].clone(), entry["reasonText"].clone())
    };
    let hello = post("Hello?").await;
    assert_eq!(
        words(&hello, "Receptionist"),
        (json!("router"), json!("Somebody has to say hello."))
    );
    let bill = post("Who pays this bill?").await;
    assert_eq!(words(&bill, "Accountant"), (json!("router"), json!("It is about a bill.")));
    assert_eq!(words(&bill, "Planner"), (json!(null), json!("There is no journey.")));
    let auditor = stack.run(&triggered_run(&bill, &desk.agent("Auditor")).unwrap()).await;
    assert_eq!(auditor["endReason"], "skipped");
    let senders: Vec<_> = stack
        .messages(&desk.space)
        .await
        .iter()
        .map(|message| message["sender"]["name"].clone())
        .collect();
    assert_eq!(senders, ["Robin", "Receptionist", "Robin", "Accountant"]);
}

#[tokio::test]
async fn the_demo_spaces_are_made_once() {
    let Some(mut stack) = Stack::local_with_demo().await else { return };
    stack.restart().await;
    Demo::find(&stack).await;
}
