//! The prompt of a run, as the API documents it.

mod forged;
mod new_messages;

use serde_json::{Value, json};

use crate::support::{
    model::{Line, ModelRequest},
    stack::Stack,
};

/// Creates a person, an agent with instructions that asks the model `ada`, and their space.
async fn pair(stack: &Stack) -> (String, String, String) {
    let person = stack.person("Husam").await;
    let model = json!({ "provider": "openai", "name": stack.model.name("ada") });
    let agent = stack
        .agent_with("Ada", json!({ "model": model, "instructions": "You like short answers." }))
        .await;
    let space = stack.space("Team", &[&person, &agent]).await;
    (person, agent, space)
}

fn lines(request: &ModelRequest) -> Vec<String> {
    request.user().timeline().iter().map(Line::short).collect()
}

/// The line without quotes around `name`. Outside of the timeline, a name may be in quotes.
fn bare(line: &str, name: &str) -> String {
    line.replace(&format!("\"{name}\""), name)
}

/// An agent's first run, with what its prompt must show.
struct FirstRun {
    request: ModelRequest,
    agent: String,
    space: String,
    message: Value,
}

impl FirstRun {
    async fn new(stack: &Stack) -> Self {
        let (person, agent, space) = pair(stack).await;
        let message = stack.post(&space, &person, "Hello, Ada.").await;
        let request = stack.model.nth_request("ada", 1).await;
        stack.quiet(&space).await;
        Self { request, agent, space, message }
    }

    /// The time of the message as the prompt shows it.
    fn at(&self) -> String {
        self.message["createdAt"].as_str().unwrap()[11..16].to_owned()
    }
}

#[tokio::test]
async fn the_prompt_has_all_blocks_in_order() {
    let stack = Stack::start().await;
    let first = FirstRun::new(&stack).await;
    assert_system_prompt(&first);
    assert_user_prompt(&first);
}

fn assert_system_prompt(first: &FirstRun) {
    let FirstRun { request, agent, space, .. } = first;
    let roles: Vec<_> =
        request.messages().iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["system", "user"]);
    let system = request.system();
    assert_eq!(system.before, ["You like short answers."]);
    assert_eq!(system.names(), ["INSTRUCTIONS", "IDENTITY", "YOUR SPACES"]);
    let instructions = system.block("INSTRUCTIONS");
    assert_eq!(
        instructions[1],
        "- Only send_message speaks, and it posts to the active space. All other text is private; \
         keep that text short."
    );
    assert_eq!(
        instructions.last().unwrap(),
        "- If nobody named you, answer only if you add something that no one has said."
    );
    assert_eq!(system.block("IDENTITY"), [format!("IDENTITY: \"Ada\" ({agent})")]);
    let spaces = system.block("YOUR SPACES");
    assert_eq!((spaces.len(), spaces[0].as_str()), (2, "YOUR SPACES:"));
    let roster = bare(&spaces[1], "Husam");
    let mut members: Vec<&str> = roster
        .strip_prefix(&format!("- \"Team\" ({space}) — "))
        .expect(&roster)
        .split(", ")
        .collect();
    members.sort_unstable();
    assert_eq!(members, ["Husam (human)", "You"]);
    for tool in [
        "enter_space",
        "get_memories",
        "read_messages",
        "send_message",
        "set_goals",
        "set_memories",
        "skip_response",
    ] {
        assert!(request.tools().contains(&tool), "{tool} is missing in {:?}", request.tools());
    }
}

fn assert_user_prompt(first: &FirstRun) {
    let FirstRun { request, .. } = first;
    let user = request.user();
    assert_eq!(user.before, [""; 0]);
    assert_eq!(user.names(), ["SPACE HISTORY", "ACTIVE SPACE", "TRIGGER", "NOW"]);
    assert_eq!(user.block("SPACE HISTORY")[0], "SPACE HISTORY \"Team\":");
    let line = Line {
        seen: false,
        seq: 1,
        at: first.at(),
        sender: "Husam".into(),
        text: "Hello, Ada.".into(),
        trigger: true,
        note: None,
    };
    assert_eq!(user.timeline(), [line]);
    let active = ["ACTIVE SPACE: \"Team\"", "No other agent is here: your message wakes nobody."];
    assert_eq!(user.block("ACTIVE SPACE"), active);
    let trigger: Vec<String> =
        user.block("TRIGGER").iter().map(|line| bare(line, "Husam")).collect();
    let expected = ["TRIGGER: message #1 from Husam (human), to you alone", "\"Hello, Ada.\""];
    assert_eq!(trigger, expected);
    let now = user.block("NOW");
    assert!(now.len() == 1 && now[0].starts_with("NOW: 20") && now[0].ends_with("day)"), "{now:?}");
}

#[tokio::test]
async fn a_long_history_is_cut_and_the_prompt_counts_the_hidden_messages() {
    let stack = Stack::start().await;
    let person = stack.person("Husam").await;
    let model = json!({ "provider": "openai", "name": stack.model.name("ada") });
    let agent =
        stack.agent_with("Ada", json!({ "model": model, "context": { "window": 10 } })).await;
    let space = stack.space_with("Team", &[&person, &agent], json!({ "paused": true })).await;
    for number in 1..=38 {
        stack.post(&space, &person, &format!("message {number}")).await;
    }
    stack.patch(&format!("/v1/spaces/{space}"), json!({ "paused": false })).await.must_be(200);
    stack.post(&space, &person, &"long ".repeat(1_000)).await;
    stack.quiet(&space).await;

    // The request for the summary of the hidden messages may come first. It has no tools.
    let requests = stack.model.requests("ada");
    let user = requests.iter().find(|request| !request.tools().is_empty()).unwrap().user();
    let shown = user.timeline().len();
    assert!((10..=14).contains(&shown), "the timeline shows {shown} messages, expected 10 to 14");
    let first = 39 - shown + 1;
    let earlier = format!(
        "… {0} earlier messages, {0} of them [NEW]; \
         read_messages({{\"before\":{first}}}) shows them, search_messages finds words in them",
        first - 1
    );
    assert_eq!(user.block("SPACE HISTORY")[1], earlier);
    let last = user.block("SPACE HISTORY").last().unwrap();
    assert!(last.contains("(1,000 more characters; read_messages shows all)"), "{last}");
    assert!(last.ends_with("← TRIGGER"), "{last}");
}

#[tokio::test]
async fn senders_with_one_name_differ_and_a_former_member_is_marked() {
    let stack = Stack::start().await;
    let (person, agent, space) = pair(&stack).await;
    let second = stack.person("HUSAM").await;
    let fake = stack.person("You").await;
    for entity in [&second, &fake] {
        stack.put(&format!("/v1/spaces/{space}/members/{entity}"), json!({})).await.must_be(200);
    }
    stack.patch(&format!("/v1/spaces/{space}"), json!({ "paused": true })).await.must_be(200);
    for sender in [&person, &second, &fake] {
        stack.post(&space, sender, "Hello.").await;
    }
    stack.delete(&format!("/v1/spaces/{space}/members/{fake}")).await.must_be(204);
    stack.patch(&format!("/v1/spaces/{space}"), json!({ "paused": false })).await.must_be(200);
    stack.post(&space, &person, "@Ada who is here?").await;
    let request = stack.model.nth_request("ada", 1).await;
    stack.quiet(&space).await;
    let end = |id: &str| id[id.len() - 4..].to_owned();
    let senders: Vec<String> =
        request.user().timeline().into_iter().map(|line| line.sender).collect();
    let husam = format!("\"Husam\"~{}", end(&person));
    let you = format!("\"You\"~{}", end(&fake));
    let expected = [husam.clone(), format!("\"HUSAM\"~{}", end(&second)), you.clone(), husam];
    assert_eq!(senders, expected);
    let roster = request.system().block("YOUR SPACES")[1].clone();
    assert!(roster.ends_with(&format!("{you} (human) (left)")), "{roster}");
    assert!(roster.contains(", You") || roster.contains("— You"), "{roster} of {agent}");
}
