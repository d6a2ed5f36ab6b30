//! What may be spent without anybody having set a limit: the ceiling of a deployment, and the calls
//! of routers.

use std::{
    convert::Infallible,
    fs,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Instant,
};

use axum::{Router, body::Body, response::Response, routing::post};
use futures::{future::join_all, stream};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{net::TcpListener, task::JoinHandle};

use crate::support::{
    process::Setup,
    routes::triggered_run,
    stack::Stack,
    tokens::SECRET,
    waiting::{SOON, far_from_midnight, wait_for},
};

/// A fast server of a model: each answer calls one tool, and says that it has used many tokens.
struct FastServer {
    url: String,
    asked: Arc<AtomicUsize>,
    /// The bodies of the requests.
    bodies: Arc<std::sync::Mutex<Vec<String>>>,
    serving: JoinHandle<()>,
}

impl FastServer {
    async fn start(tool: &'static str, input: &Value) -> Self {
        let call = json!({"index": 0, "id": "call", "type": "function",
            "function": {"name": tool, "arguments": input.to_string()}});
        let delta = json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]});
        let end = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}],
            "usage": {"prompt_tokens": 10_000, "completion_tokens": 4_000}});
        let answer = format!("data: {delta}\n\ndata: {end}\n\ndata: [DONE]\n\n");
        let asked = Arc::new(AtomicUsize::new(0));
        let bodies = Arc::new(std::sync::Mutex::new(Vec::new()));
        let count = Arc::clone(&asked);
        let seen = Arc::clone(&bodies);
        let answering = move |body: String| {
            count.fetch_add(1, Ordering::SeqCst);
            seen.lock().unwrap().push(body);
            let chunk = Ok::<_, Infallible>(answer.clone());
            async move {
                Response::builder()
                    .header("content-type", "text/event-stream")
                    .body(Body::from_stream(stream::iter([chunk])))
                    .unwrap()
            }
        };
        let routes = Router::new().route("/v1/chat/completions", post(answering));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let serving = tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
        Self { url, asked, bodies, serving }
    }

    /// How many requests contain a text.
    fn with(&self, text: &str) -> usize {
        self.bodies.lock().unwrap().iter().filter(|body| body.contains(text)).count()
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

impl Drop for FastServer {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// A product with two providers at the same server: one is the deployment's own, the other counts
/// as a public host.
async fn product(server: &FastServer, env: &[(&str, &str)]) -> Option<(Stack, TempDir)> {
    let near = json!({"api": "openai", "baseUrl": server.url, "maxConcurrent": 20});
    let far = json!({"api": "openai", "baseUrl": server.url, "own": false});
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("providers.json");
    fs::write(&file, json!({"providers": {"near": near, "far": far}}).to_string()).unwrap();
    let flags = vec!["--providers".into(), file.to_string_lossy().into_owned()];
    let usual = [("SMARTSPACE_JWT_SECRET", SECRET), ("SMARTSPACE_RATE", "0")];
    let env = usual.iter().chain(env);
    let env = env.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Some((Stack::of(Setup { flags, env, ..Setup::default() }).await?, folder))
}

/// An agent that answers each message with one call, and its space. A new day would renew the
/// budget of the deployment.
async fn answering(stack: &Stack, person: &String, model: Value) -> (String, String) {
    far_from_midnight().await;
    let agent = json!({
        "model": model,
        "loop": {"endAfterSend": true},
        "concurrency": {"maxRuns": 20, "mode": "parallel"},
        "context": {"window": 4},
    });
    let agent = stack.agent_with("Ada", agent).await;
    let space = stack.space("Team", &[person, &agent]).await;
    (agent, space)
}

#[tokio::test]
async fn a_free_model_answers_500_times_and_an_unpriced_public_one_stops_at_the_default_ceiling() {
    const ANSWERS: usize = 500;
    let server = FastServer::start("send_message", &json!({"text": "Yes."})).await;
    let Some((stack, _folder)) = product(&server, &[]).await else { return };
    let person = stack.person("Husam").await;
    let (near, near_space) =
        answering(&stack, &person, json!({"provider": "near", "name": "new"})).await;
    for batch in 1..=ANSWERS / 20 {
        let posts = (0..20).map(async |_| stack.post(&near_space, &person, "Hello there.").await);
        for message in join_all(posts).await {
            assert!(triggered_run(&message, &near).is_some(), "{message}");
        }
        let answered = async || (server.with("send_message") == batch * 20).then_some(());
        wait_for("the answers", SOON, answered).await;
    }
    stack.quiet(&near_space).await;
    let runs = stack.all(&format!("/v1/spaces/{near_space}/runs")).await;
    let answered = runs.iter().filter(|run| run["status"] == "completed").count();
    // The others are summaries.
    assert_eq!((answered, server.with("send_message")), (ANSWERS, ANSWERS));

    let (far, far_space) =
        answering(&stack, &person, json!({"provider": "far", "name": "public"})).await;
    let mut answers = 0;
    let refused = loop {
        let message = stack.post(&far_space, &person, "Hello there.").await;
        let Some(run) = triggered_run(&message, &far) else { break message };
        let run = stack.ended(&run, SOON).await;
        answers += usize::from(run["status"] == "completed");
        assert!(answers <= ANSWERS, "{run}");
    };
    let [entry] = refused["dispatch"].as_array().unwrap().as_slice() else { panic!("{refused}") };
    assert_eq!(entry["reason"], "budget");
    let words = entry["reasonText"].as_str().unwrap();
    assert!(words.starts_with("the budget of the deployment for today has no room"), "{words}");

    let report = stack.get("/v1/usage?by=model").await.must_be(200);
    let of = |provider: &str| {
        let items = report["items"].as_array().unwrap();
        items.iter().find(|item| item["provider"] == provider).unwrap().clone()
    };
    let [near_used, far_used] = ["near", "far"].map(of);
    assert_eq!((&near_used["cost"], &near_used["priceUnknown"]), (&Value::Null, &json!(true)));
    // 10,000 tokens at 5 dollars and 4,000 at 40, the highest built-in prices of OpenAI.
    let cost = far_used["cost"].as_f64().unwrap();
    assert!((cost - server.with("\"public\"") as f64 * 0.21).abs() < 1e-6, "{far_used}");
    assert!((19.0..=20.0).contains(&cost), "{far_used}");
    assert_eq!(far_used["priceUnknown"], true);

    // What costs nothing goes on.
    let message = stack.post(&near_space, &person, "Still there?").await;
    let run = triggered_run(&message, &near).unwrap();
    assert_eq!(stack.ended(&run, SOON).await["status"], "completed");
    let rules = json!([{"when": {}, "steps": [{"text": "Hm."}]}]);
    let script = json!({"provider": "scripted", "name": "any", "script": {"rules": rules}});
    let (scripted, space) = answering(&stack, &person, script).await;
    let message = stack.post(&space, &person, "And you?").await;
    let run = stack.ended(&triggered_run(&message, &scripted).unwrap(), SOON).await;
    assert_eq!((&run["status"], &run["usage"]["cost"]), (&json!("completed"), &json!(0.0)));
}

/// Three spaces of one account, each with two agents and a router that it may not choose. Each try
/// to set more is refused.
async fn routed_spaces(stack: &Stack, person: &str) -> Vec<String> {
    let account = stack.as_entity(person);
    let mut agents = Vec::new();
    for name in ["Ada", "Bob"] {
        let model = json!({"provider": "scripted", "name": "any", "script": {"rules": []}});
        agents.push(stack.agent_with(name, json!({"model": model, "open": true})).await);
    }
    let mut spaces = Vec::new();
    for name in ["One", "Two", "Three"] {
        let with = |router: Value| {
            let mut space = json!({"name": name, "members": agents, "router": router});
            space["triggerPolicy"] = "router".into();
            space["gate"] = json!({"mode": "off"});
            space
        };
        let dear = with(json!({"model": {"provider": "far", "name": "dear"}}));
        let refused = account.create("/v1/spaces", dear).await.must_be(403);
        assert!(refused["detail"].as_str().unwrap().starts_with("router.model: "), "{refused}");
        let long = format!("TOO LONG {}", "x".repeat(2_000));
        let refused = account.create("/v1/spaces", with(json!({"instructions": long}))).await;
        let detail = refused.must_be(403)["detail"].as_str().unwrap().to_owned();
        assert!(detail.starts_with("router.instructions: "), "{detail}");
        let short = with(json!({"instructions": "Choose nobody."}));
        let made = account.create("/v1/spaces", short).await.must_be(201);
        let space = made["id"].as_str().unwrap().to_owned();
        let long = json!({"router": {"instructions": long}});
        account.patch(&format!("/v1/spaces/{space}"), long).await.must_be(403);
        spaces.push(space);
    }
    spaces
}

/// How many messages of a space did not ask its router. None of them woke an agent.
async fn unasked(stack: &Stack, space: &str) -> usize {
    let messages = wait_for("the decisions", SOON, async || {
        let messages = stack.messages(space).await;
        let all_decided = messages.iter().all(|message| message["dispatch"].is_array());
        all_decided.then_some(messages)
    })
    .await;
    let mut unasked = 0;
    for message in messages {
        let entries = message["dispatch"].as_array().unwrap();
        assert!(entries.iter().all(|entry| entry["runId"].is_null()), "{message}");
        if entries.iter().all(|entry| entry["reason"] == "rate") {
            let words = entries[0]["reasonText"].as_str().unwrap();
            assert!(words.starts_with("the router was not asked: "), "{words}");
            assert_eq!(message["router"]["error"], words);
            assert_eq!(message["router"]["usage"]["inputTokens"], 0);
            unasked += 1;
        } else {
            assert!(entries.iter().all(|entry| entry["reason"] == "router"), "{message}");
        }
    }
    unasked
}

#[tokio::test]
async fn the_messages_of_an_account_ask_routers_at_most_sixty_times_a_minute() {
    let server = FastServer::start("choose", &json!({"agents": [], "others": []})).await;
    let env = [("SMARTSPACE_ROUTER_MODEL", "near/router")];
    let Some((stack, _folder)) = product(&server, &env).await else { return };
    let person = stack.person("Mallory").await;
    let spaces = routed_spaces(&stack, &person).await;
    let begun = Instant::now();
    for _ in 0..30 {
        let posts = spaces.iter().map(async |space| stack.post(space, &person, "Who.").await);
        join_all(posts).await;
    }
    let mut refused = 0;
    for space in &spaces {
        refused += unasked(&stack, space).await;
    }
    let asked = server.asked();
    assert_eq!(asked + refused, 90);
    let most = 30 + begun.elapsed().as_secs() as usize / 2 + 1;
    assert!((30..=most.min(60)).contains(&asked), "{asked} of at most {most}");
    for body in server.bodies.lock().unwrap().iter() {
        assert!(body.contains("Choose nobody.") && !body.contains("TOO LONG"), "{body}");
    }
    // The calls count against the account.
    let report = stack.get("/v1/usage?by=agent").await.must_be(200);
    let [item] = report["items"].as_array().unwrap().as_slice() else { panic!("{report}") };
    assert_eq!((&item["agentId"], &item["agentName"]), (&json!(person), &json!("Mallory")));
    assert_eq!(item["inputTokens"], asked * 10_000);
    // Another account still asks.
    let other = stack.person("Noor").await;
    let space = &spaces[0];
    stack.put(&format!("/v1/spaces/{space}/members/{other}"), json!({})).await.must_be(200);
    stack.post(space, &other, "And I?").await;
    wait_for("another question", SOON, async || (server.asked() > asked).then_some(())).await;
}
