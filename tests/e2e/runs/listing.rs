//! `GET /v1/runs`: the runs of all agents, newest first, with filters.

use serde_json::{Value, json};

use crate::support::{
    model::{say, stop},
    routes::{id, triggered_run},
    stack::Stack,
    waiting::SOON,
};

async fn ids(stack: &Stack, query: &str) -> Vec<String> {
    stack.all(&format!("/v1/runs?{query}")).await.iter().map(id).collect()
}

#[tokio::test]
async fn runs_of_all_agents_are_listed_and_filtered() {
    let stack = Stack::start().await;
    stack.model.replies("ada", |_| stop());
    let person = stack.person("Husam").await;
    let ada = stack.agent("Ada", &stack.model.name("ada")).await;
    let bob = stack
        .agent_with(
            "Bob",
            json!({"model": {"provider": "openai", "name": stack.model.name("ada")}}),
        )
        .await;
    let office = stack.space("Office", &[&person, &ada, &bob]).await;
    let lobby = stack.space("Lobby", &[&person, &bob]).await;
    let mut runs = Vec::new();
    let mut messages = Vec::new();
    for space in [&office, &lobby, &office] {
        let message = stack.post(space, &person, "Hello").await;
        for agent in [&ada, &bob] {
            if let Some(run) = triggered_run(&message, agent) {
                stack.ended(&run, SOON).await;
                runs.push((run, agent.clone(), space.clone()));
            }
        }
        messages.push(message);
    }
    assert_eq!(runs.len(), 5);
    runs.sort_by(|one, other| other.0.cmp(&one.0));
    let where_ = |fits: &dyn Fn(&str, &str) -> bool| -> Vec<String> {
        let fitting = runs.iter().filter(|(_, agent, space)| fits(agent, space));
        fitting.map(|(run, _, _)| run.clone()).collect()
    };

    // Other tests may use the same deployment.
    let since = messages[0]["createdAt"].as_str().unwrap();
    let all = ids(&stack, &format!("since={since}&limit=2")).await;
    let ours: Vec<_> = all.into_iter().filter(|id| runs.iter().any(|run| run.0 == *id)).collect();
    assert_eq!(ours, where_(&|_, _| true));
    let of_bob = where_(&|agent, _| agent == bob);
    assert_eq!(ids(&stack, &format!("agentId={bob}&limit=1")).await, of_bob);
    assert_eq!(
        ids(&stack, &format!("spaceId={office}&limit=3")).await,
        where_(&|_, space| space == office)
    );
    let both = where_(&|agent, space| agent == bob && space == lobby);
    assert_eq!(ids(&stack, &format!("agentId={bob}&spaceId={lobby}")).await, both);
    let trigger = messages[2]["id"].as_str().unwrap();
    assert_eq!(
        ids(&stack, &format!("trigger={trigger}")).await,
        runs[..2].iter().map(|run| run.0.clone()).collect::<Vec<_>>()
    );
    assert_eq!(ids(&stack, &format!("agentId={bob}&status=failed")).await, Vec::<String>::new());
    assert_eq!(ids(&stack, &format!("agentId={bob}&status=completed")).await, of_bob);
    let until = messages[1]["createdAt"].as_str().unwrap();
    let first = ids(&stack, &format!("agentId={bob}&until={until}")).await;
    assert_eq!(first, of_bob[2..]);
}

#[tokio::test]
async fn a_list_with_messages_says_what_runs_were_asked_and_what_they_said() {
    let stack = Stack::start().await;
    let person = stack.person("Husam").await;
    let model = stack.model.name("ada");
    let goes_on = stack.agent("Ada", &model).await;
    let ends = stack.agent_of_defaults("Bob", &model).await;
    let long = format!("Hello {}", "ä".repeat(100));
    for agent in [goes_on, ends] {
        let space = stack.space("Office", &[&person, &agent]).await;
        stack.model.plays("ada", [say("Good morning.").into(), stop()]);
        let message = stack.post(&space, &person, &long).await;
        let run = triggered_run(&message, &agent).unwrap();
        stack.ended(&run, SOON).await;
        let asked: String = long.chars().take(80).collect();
        let lists = [format!("/v1/runs?spaceId={space}&"), format!("/v1/spaces/{space}/runs?")];
        for path in &lists {
            let plain = stack.all(&format!("{path}limit=9")).await;
            assert_eq!(words(&plain), [[(); 4].map(|()| Value::Null)], "{path}");
            let runs = stack.all(&format!("{path}messages=true")).await;
            let expected = [[json!(asked), json!("Husam"), json!(2), json!("Good morning.")]];
            assert_eq!(words(&runs), expected, "{path}");
        }
        stack.delete(&format!("/v1/spaces/{space}/messages/2")).await.must_be(204);
        let runs = stack.all(&format!("{}messages=true", lists[1])).await;
        assert_eq!(words(&runs), [[json!(asked), json!("Husam"), json!(2), Value::Null]]);
    }
}

fn words(runs: &[Value]) -> Vec<[Value; 4]> {
    let words_of = |run: &Value| {
        let name = run["askedBy"]["name"].clone();
        [run["asked"].clone(), name, run["postSeq"].clone(), run["said"].clone()]
    };
    runs.iter().map(words_of).collect()
}

#[tokio::test]
async fn bad_filters_of_runs_are_refused() {
    let stack = Stack::start().await;
    for (query, expected) in [
        ("status=done", "query parameter `status`: expected"),
        ("agentId=ada", "query parameter `agentId`: expected an id like ent_"),
        ("trigger=run_1", "query parameter `trigger`: expected an id like msg_"),
        ("since=yesterday", "query parameter `since`: expected"),
        (
            "since=2026-02-19T00:00:00Z&until=2026-02-18T00:00:00Z",
            "query parameter `since`: expected a time before 2026-02-18T00:00:00.000Z",
        ),
        ("cursor=nonsense", "cursor: expected the nextCursor"),
        ("limit=201", "limit: expected 1 to 200"),
        ("agent=x", "unknown"),
    ] {
        let refused: Value = stack.get(&format!("/v1/runs?{query}")).await.must_be(400);
        let detail = refused["detail"].as_str().unwrap();
        assert!(detail.contains(expected), "{query}: {detail}");
    }
}
