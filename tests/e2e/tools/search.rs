//! The tool `search_messages`: who has it, what it searches, and what stays hidden.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{
    model::{Part, answer, call, stop},
    routes::triggered_run,
    stack::Stack,
    waiting::wait_for,
};

/// How long after a deletion its words are gone, if no reader is at work.
const FORGOTTEN: Duration = Duration::from_mins(1);
const TOOL: &str = "search_messages";

/// A person and an agent with a window of two messages, which share the spaces Team, with three
/// messages, and Ops, with one. Sarah and the agent share Secret.
struct Scene {
    stack: Stack,
    husam: String,
    sarah: String,
    ada: String,
    team: String,
    ops: String,
}

impl Scene {
    async fn start() -> Self {
        let stack = Stack::start().await;
        let husam = stack.person("Husam").await;
        let sarah = stack.person("Sarah").await;
        let model = json!({"provider": "openai", "name": stack.model.name("ada")});
        let config = json!({"model": model, "context": {"window": 2}});
        let ada = stack.agent_with("Ada", config).await;
        let paused = || json!({"paused": true});
        let team = stack.space_with("Team", &[&husam, &ada], paused()).await;
        let ops = stack.space_with("Ops", &[&husam, &ada], paused()).await;
        let secret = stack.space_with("Secret", &[&sarah, &ada], paused()).await;
        for text in ["Good morning.", "The rollback worked.", "Thanks!"] {
            stack.post(&team, &husam, text).await;
        }
        stack.post(&ops, &husam, "The rollback plan is in the second file.").await;
        stack.post(&secret, &sarah, "The rollback code is 4711.").await;
        stack.patch(&format!("/v1/spaces/{team}"), json!({"paused": false})).await.must_be(200);
        Self { stack, husam, sarah, ada, team, ops }
    }

    /// Lets the agent make these calls when it is asked in Team. Returns their results and the run.
    async fn results<const N: usize>(&self, calls: [Part; N]) -> (Vec<Value>, String) {
        let Self { stack, husam, ada, team, .. } = self;
        stack.model.plays("ada", [answer(calls), stop()]);
        let asked = stack.post(team, husam, "Find the plan, please.").await;
        stack.quiet(team).await;
        let results = stack.model.requests("ada").pop().unwrap().results();
        assert_eq!(results.len(), N, "{results:?}");
        (results, triggered_run(&asked, ada).unwrap())
    }
}

fn search(query: &str, more: Value) -> Part {
    let mut input = json!({"query": query});
    input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    call(TOOL, input)
}

/// A result that is lines.
fn lines(result: &Value) -> Vec<&str> {
    result.as_str().unwrap_or_else(|| panic!("not a text: {result}")).lines().collect()
}

/// The names of the spaces whose messages a result shows.
fn spaces(result: &Value) -> Vec<&str> {
    let titles = lines(result).into_iter().filter(|line| line.starts_with('"'));
    let mut spaces: Vec<_> = titles.filter_map(|title| title.split('"').nth(1)).collect();
    spaces.sort_unstable();
    spaces
}

#[tokio::test]
async fn an_agent_with_a_space_longer_than_its_window_searches_it() {
    let scene = Scene::start().await;
    let (results, _) = scene
        .results([
            search("rollback", json!({})),
            search("ROLLBACKS plans", json!({"spaceId": "Ops"})),
            search("zebra", json!({})),
            search("rollback", json!({"from": "You"})),
            search("rollback", json!({"after": "2020-01-01", "from": "@Husam"})),
        ])
        .await;
    let [title, before, hit, after, last] = lines(&results[0])[..] else {
        panic!("{}", results[0])
    };
    assert!(title.starts_with("\"Team\", 2"), "{title}");
    assert_eq!(before, "  #1 Husam: \"Good morning.\"");
    assert!(hit.starts_with("> #2 ") && hit.ends_with(" Husam: \"The rollback worked.\""), "{hit}");
    assert_eq!(after, "  #3 Husam: \"Thanks!\"");
    assert_eq!(last, "  #4 Husam: \"Find the plan, please.\"");
    let [title, hit] = lines(&results[1])[..] else { panic!("{}", results[1]) };
    assert!(title.starts_with("\"Ops\", 2") && hit.starts_with("> #1 "), "{}", results[1]);
    let elsewhere = "no message found; spaceId \"all\" searches other spaces, too";
    assert_eq!(results[2], elsewhere);
    assert_eq!(results[3], elsewhere, "the agent has said nothing");
    assert_eq!(results[4], results[0]);
}

#[tokio::test]
async fn all_spaces_are_those_in_which_everybody_is_who_reads_along() {
    let scene = Scene::start().await;
    let all = || search("rollback", json!({"spaceId": "all"}));
    let (results, _) = scene.results([all()]).await;
    assert_eq!(spaces(&results[0]), ["Ops", "Team"]);
    let Scene { stack, sarah, team, ops, .. } = &scene;
    // Sarah knows Secret, but Husam does not, and she does not know Ops.
    stack.put(&format!("/v1/spaces/{team}/members/{sarah}"), json!({})).await.must_be(200);
    let (results, _) = scene.results([all()]).await;
    assert_eq!(spaces(results.last().unwrap()), ["Team"]);
    stack.put(&format!("/v1/spaces/{ops}/members/{sarah}"), json!({})).await.must_be(200);
    let (results, _) = scene.results([all()]).await;
    assert_eq!(spaces(results.last().unwrap()), ["Ops", "Team"]);
}

#[tokio::test]
async fn only_agents_with_a_long_space_have_the_tool_in_all_of_their_spaces() {
    let scene = Scene::start().await;
    let Scene { stack, husam, ada, .. } = &scene;
    let short = stack.space("Short", &[husam, ada]).await;
    let tools = async |space: &str| {
        stack.model.plays("ada", [stop()]);
        stack.post(space, husam, "Hello").await;
        stack.quiet(space).await;
        let request = stack.model.requests("ada").pop().unwrap();
        request.tools().into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let everywhere = tools(&short).await;
    assert!(everywhere.iter().any(|name| name == TOOL), "{everywhere:?}");
    assert_eq!(tools(&scene.team).await, everywhere, "the list never changes between runs");
    let prompt = stack.model.requests("ada").pop().unwrap().user();
    let earlier = &prompt.block("SPACE HISTORY")[1];
    assert!(earlier.ends_with(" shows them, search_messages finds words in them"), "{earlier}");
    let path = format!("/v1/entities/{ada}");
    stack.patch(&path, json!({"agent": {"builtins": {"search": false}}})).await.must_be(200);
    let without = tools(&scene.team).await;
    assert!(without.iter().all(|name| name != TOOL), "{without:?}");
    let prompt = stack.model.requests("ada").pop().unwrap().user();
    assert!(prompt.block("SPACE HISTORY")[1].ends_with(" shows them"), "{prompt:?}");
    let longer = json!({"agent": {"builtins": {"search": true}, "context": {"window": 50}}});
    stack.patch(&path, longer).await.must_be(200);
    let without = tools(&scene.team).await;
    assert!(without.iter().all(|name| name != TOOL), "all messages are in the window: {without:?}");
}

#[tokio::test]
async fn a_mistake_is_explained_and_ten_searches_are_enough() {
    let scene = Scene::start().await;
    let nobody = json!({"from": "Nobody"});
    let (results, _) = scene
        .results([
            search("-plan", json!({})),
            search("plan", json!({"before": "yesterday"})),
            search("plan", nobody),
            search("plan", json!({"spaceId": "Nowhere"})),
            search("rollback in:Secret", json!({})),
            search("rollback", json!({})),
            search("rollback", json!({})),
            search("rollback", json!({})),
            search("rollback", json!({})),
            search("rollback", json!({})),
            search("rollback", json!({})),
        ])
        .await;
    let error = |index: usize| results[index]["error"].as_str().unwrap_or_default();
    assert_eq!(error(0), "query: expected a word to search for besides what is excluded");
    assert!(error(1).starts_with("before: "), "{}", results[1]);
    assert!(error(2).starts_with("there is no such sender"), "{}", results[2]);
    assert!(error(3).starts_with("spaceId: there is no space"), "{}", results[3]);
    assert!(!results[4].to_string().contains("4711"), "{}", results[4]);
    assert_eq!(spaces(&results[9]), ["Team"]);
    assert_eq!(
        error(10),
        "10 searches in this run are enough; read_messages shows more around a number"
    );
}

#[tokio::test]
async fn a_result_forgets_deleted_messages_and_a_search_finds_new_words_only() {
    let scene = Scene::start().await;
    let (results, run) = scene.results([search("rollback", json!({}))]).await;
    assert!(results[0].to_string().contains("The rollback worked."), "{}", results[0]);
    let Scene { stack, husam, team, .. } = &scene;
    let messages = format!("/v1/spaces/{team}/messages");
    stack.delete(&format!("{messages}/2")).await.must_be(204);
    let after = wait_for("the run forgets the message", FORGOTTEN, async || {
        let run = stack.run(&run).await;
        (!run.to_string().contains("rollback worked")).then_some(run)
    })
    .await;
    let shown = after["steps"][0]["calls"][0]["output"].to_string();
    assert!(shown.contains("> #2 [deleted]"), "{shown}");
    let edit = json!({"text": "Gladly!", "senderId": husam});
    stack.patch(&format!("{messages}/3"), edit).await.must_be(200);
    let calls =
        [search("rollback", json!({})), search("thanks", json!({})), search("gladly", json!({}))];
    let (results, _) = scene.results(calls).await;
    for result in &results[..2] {
        assert!(result.as_str().unwrap().starts_with("no message found"), "{result}");
    }
    assert!(results[2].to_string().contains("Gladly!"), "{}", results[2]);
}
