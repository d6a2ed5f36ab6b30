//! Secrets: tools send them where they may go, and nobody else ever sees them, whatever a server does with them.

use serde_json::{Value, json};

use super::{
    acting::{Acting, but, http_tool},
    forms::result,
    model::{Answer, Asked, Part, answer, call, say, stop},
    socket::Socket,
    spellings::{self, Search},
    stack::Stack,
    tool_server::{PLANTED, Seen, ToolServer},
    waiting::SOON,
};

/// With all signs that one encoder or another minds.
const KEY: &str = r#"p&ss"w\o/rd+=%é"#;
/// That looks like base64.
const TOKEN: &str = "c2VjcmV0LXRva2VuLWZvci10b29scw==";
/// That looks like nothing but a key.
const PLAIN: &str = "sk-live-7Yh2Qp0Zx4Rt";
const SECRETS: [(&str, &str); 3] = [("KEY", KEY), ("TOKEN", TOKEN), ("PLAIN", PLAIN)];
/// Where in a request a secret may be.
const PLACES: [&str; 3] = ["header", "query", "body"];
/// What the server does with it, and whether that is shown to all.
const LEAKS: [(&str, bool); 4] = [("200/json", true), ("200/text", false), ("500/json", false), ("401/text", true)];

/// A tool that has a secret in one place of its requests.
fn with_secret(tool: &str, url: &str, secret: &str, place: &str) -> Value {
    let (mut url, mut more) = (format!("{url}?z=1"), json!({}));
    match place {
        "header" => {
            more["headers"] =
                json!({"Authorization": format!("Bearer ${{secret.{secret}}}"), "X-Api-Key": format!("${{secret.{secret}}}")});
        }
        "query" => url = format!("{url}&key=${{secret.{secret}}}&and=x-${{secret.{secret}}}"),
        _ => more["body"] = json!({"key": format!("${{secret.{secret}}}"), "in": [format!("<${{secret.{secret}}}>")]}),
    }
    http_tool(tool, if place == "body" { "POST" } else { "GET" }, &url, more)
}

/// The secret of a request, from the place where it is to be.
fn secret_of(seen: &Seen, place: &str) -> String {
    match place {
        "header" => seen.header("x-api-key").to_owned(),
        "query" => seen.parameter("key").unwrap_or_default(),
        _ => seen.json()["key"].as_str().unwrap_or_default().to_owned(),
    }
}

/// Each secret in each place, with a server that says it back in each way.
fn leaking(url: &str) -> Vec<(String, Value)> {
    let mut tools = Vec::new();
    for (secret, _) in SECRETS {
        for place in PLACES {
            for (leak, visible) in LEAKS {
                let name = format!("{secret}_{place}_{}", leak.replace('/', "_"));
                let tool = with_secret(&name, &format!("{url}/leak/{leak}"), secret, place);
                tools.push((name, but(tool, json!({"visible": visible}))));
            }
        }
    }
    tools
}

/// Requests that go wrong, and tools that send none.
fn others(url: &str, elsewhere: &str) -> Vec<(&'static str, Value)> {
    let simple = |name: &str, execution: Value| json!({"name": name, "description": "Does it.", "inputSchema": {"type": "object"}, "visible": true, "execution": execution});
    let shown = |tool: Value| but(tool, json!({"visible": true}));
    let mut slow = with_secret("slow", &format!("{url}/slow"), "KEY", "query");
    slow["execution"]["timeoutMs"] = json!(200);
    let handed_on = format!("{url}/leak/302/redirect?to={elsewhere}/echo&key=${{secret.KEY}}");
    vec![
        ("slow", shown(slow)),
        ("closes", shown(with_secret("closes", &format!("{url}/close"), "KEY", "query"))),
        ("nobody", with_secret("nobody", "http://10.0.0.1:9/x", "KEY", "query")),
        ("nowhere", with_secret("nowhere", "http://no-such-host.invalid/x", "KEY", "query")),
        ("gone", with_secret("gone", &format!("{url}/echo"), "GONE", "header")),
        ("handedOn", shown(http_tool("handedOn", "GET", &handed_on, json!({})))),
        ("toElsewhere", shown(with_secret("toElsewhere", &format!("{url}/redirect?to={elsewhere}/leak/200/json&"), "KEY", "header"))),
        ("fixed", simple("fixed", json!({"type": "static", "output": "the key is ${secret.KEY}"}))),
        ("computes", simple("computes", json!({"type": "compute", "expression": "'${secret.KEY} ' + string(input)"}))),
        ("failsToCompute", simple("failsToCompute", json!({"type": "compute", "expression": "input.gone"}))),
        ("asks", simple("asks", json!({"type": "space", "resultSchema": {"type": "object"}}))),
    ]
}

/// Everything that anybody may see of the product, each with its name.
async fn everything(acting: &Acting, sockets: &[(&str, &Socket)]) -> Vec<(String, Vec<u8>)> {
    let stack = &acting.stack;
    let (agent, space) = (&acting.agent, &acting.space);
    let mut seen = Vec::new();
    let mut paths = vec![
        "/v1/entities".to_owned(),
        "/v1/spaces".to_owned(),
        format!("/v1/entities/{agent}"),
        format!("/v1/spaces/{space}"),
        format!("/v1/spaces/{space}/runs"),
        format!("/v1/agents/{agent}/runs"),
        format!("/v1/agents/{agent}/memories"),
        format!("/v1/agents/{agent}/goals"),
    ];
    paths.extend(stack.runs_of(space).await.iter().map(|run| format!("/v1/runs/{}", run["id"].as_str().unwrap())));
    for path in paths {
        let reply = stack.get(&path).await;
        assert_eq!(reply.status, 200, "{path}");
        seen.push((path, format!("{:?} {}", reply.headers, reply.text).into_bytes()));
    }
    for message in stack.messages(space).await {
        seen.push((format!("message {}", message["seq"]), message.to_string().into_bytes()));
    }
    for (name, socket) in sockets {
        seen.extend(socket.frames().iter().map(|frame| (format!("{} to {name}", frame.kind), frame.body.to_string().into_bytes())));
    }
    let asked = stack.model.asked("ada");
    seen.extend(
        asked.iter().zip(0..).map(|(asked, index): (&Asked, u32)| (format!("question {index}"), asked.body.to_string().into_bytes())),
    );
    seen.extend(stack.files().into_iter().map(|(name, bytes)| (format!("the file {name}"), bytes)));
    seen
}

#[tokio::test]
async fn nobody_ever_sees_a_secret_whatever_tools_do_with_it() {
    let (server, elsewhere) = (ToolServer::start().await, ToolServer::start().await);
    let hosts = format!("{},{}", server.allowed(), elsewhere.allowed());
    let mut env = vec![("SMARTSPACE_TOOL_HOSTS", hosts.as_str()), ("SMARTSPACE_LOG", "trace")];
    env.extend([("SMARTSPACE_SECRET_KEY", KEY), ("SMARTSPACE_SECRET_TOKEN", TOKEN), ("SMARTSPACE_SECRET_PLAIN", PLAIN)]);
    let Some(stack) = Stack::local_with_env(&env).await else { return };
    let (leaking, others) = (leaking(&server.url), others(&server.url, &elsewhere.url));
    let names: Vec<String> = leaking.iter().map(|(name, _)| name.clone()).collect();
    let other_names: Vec<&str> = others.iter().map(|(name, _)| *name).collect();
    let tools = leaking.into_iter().map(|(_, tool)| tool).chain(others.into_iter().map(|(_, tool)| tool));
    let mut acting = Acting::on(stack, server, |_| tools.collect()).await;
    let (operator, person) = (acting.stack.socket().await, acting.stack.socket_of(&acting.person).await);
    operator.subscribe(&acting.space, None).await;
    person.subscribe(&acting.space, None).await;

    // Everything at once, in one run that also asks people and speaks.
    let remember = call("set_memories", json!({"memories": [{"key": "key", "value": "${secret.KEY}"}]}));
    let mut calls: Vec<Part> =
        names.iter().map(String::as_str).chain(other_names).map(|name| call(name, json!({"x": "${secret.KEY}"}))).collect();
    calls.extend([say("The key is ${secret.KEY}."), remember, call("read_messages", json!({"limit": 100}))]);
    acting
        .stack
        .model
        .plays("ada", [Answer::of(calls).slow(1_000, std::time::Duration::ZERO), call("get_my_runs", json!({})).into(), stop()]);
    let run = acting.wake().await;
    let form = person.frame("tool.requested", SOON, |frame| frame["name"] == "asks").await.body;
    result(&acting.stack, &form, json!({"output": {"said": "${secret.KEY}"}, "senderId": acting.person})).await.must_be(202);
    let run = acting.stack.ended(&run, SOON * 2).await;
    assert_eq!(run["status"], "completed", "{:.2000}", run["error"]);

    // All of it was sent and said back.
    let made = run["steps"][0]["calls"].as_array().unwrap().clone();
    for (name, call) in names.iter().zip(&made) {
        let (secret, place) = name.split_once('_').map(|(secret, rest)| (secret, rest.split('_').next().unwrap())).unwrap();
        let value = SECRETS.iter().find(|(name, _)| *name == secret).unwrap().1;
        let seen = acting.server.of_call(call);
        assert_eq!((seen.len(), secret_of(&seen[0], place).as_str()), (1, value), "{name}");
        let told = call["output"].to_string();
        assert!(told.contains(&format!("[secret {secret}]")) && told.contains(PLANTED), "{name}: {told:.1000}");
        assert_eq!(call["status"], if name.contains("_200_") { "completed" } else { "failed" }, "{name}");
    }
    let errors: Vec<_> = made[names.len()..].iter().map(|call| call["output"]["error"].as_str().unwrap_or_default()).collect();
    assert_eq!(
        errors[4],
        "the header Authorization of this tool can't be sent: the secret GONE is not set here; whoever runs Smartspace can set it"
    );
    assert_eq!(errors[5], "the server redirected to another origin with a secret in the address, which is not followed");
    assert_eq!(made[names.len() + 7]["output"], "the key is ${secret.KEY}", "only requests are filled in");

    // Another run sees the cards of this one; and one is killed in the middle.
    acting.calls(vec![call("enter_space", json!({"spaceId": acting.space})), call("get_memories", json!({}))]).await;
    acting.stack.model.plays("ada", [answer([call("KEY_query_200_json", json!({})), call("unknown", json!({}))]), stop()]);
    let agent =
        json!({"tools": [but(with_secret("unknown", &format!("{}/slow", acting.server.url), "KEY", "query"), json!({"visible": true}))]});
    acting.stack.patch(&format!("/v1/entities/{}", acting.agent), json!({"agent": agent})).await.must_be(200);
    let last = acting.wake().await;
    acting.server.gate.reached(2).await;
    acting.stack.kill9();
    acting.stack.restart().await;
    let last = acting.stack.ended(&last, SOON).await;
    assert_eq!(last["steps"][0]["calls"][1]["status"], "unknown");

    let all = everything(&acting, &[("the operator", &operator), ("a person", &person)]).await;
    let search = Search::of(&SECRETS);
    let found: Vec<_> = all.iter().map(|(place, bytes)| (place, search.in_bytes(bytes))).filter(|(_, found)| !found.is_empty()).collect();
    assert!(found.is_empty(), "{found:#?}");
    assert!(elsewhere.seen().iter().all(|seen| search.in_bytes(format!("{seen:?}").as_bytes()).is_empty()), "{:?}", elsewhere.seen());

    // Where they would have been found what may be seen is found, in all spellings; and the log is a whole one.
    let run_path = format!("/v1/runs/{}", run["id"].as_str().unwrap());
    let places = [
        &run_path,
        "message ",
        "message.updated to the operator",
        "message.updated to a person",
        "question ",
        "the file log",
        "the file table",
    ];
    for place in places {
        let planted = |(name, bytes): &(String, Vec<u8>)| name.starts_with(place) && String::from_utf8_lossy(bytes).contains(PLANTED);
        assert!(all.iter().any(planted), "what a server said is not found in {place}");
    }
    let (_, shown) = all.iter().find(|(place, _)| *place == run_path).unwrap();
    for (name, spelling) in spellings::of(PLANTED) {
        assert!(String::from_utf8_lossy(shown).contains(&spelling), "{name} {spelling}");
    }
}

#[tokio::test]
async fn a_secret_goes_to_its_hosts_only() {
    let server = ToolServer::start().await;
    let (here, there) = (&server.url.clone(), format!("http://localhost:{}", server.port));
    let hosts = format!("{},localhost:{}", server.allowed(), server.port);
    let env = [
        ("SMARTSPACE_TOOL_HOSTS", hosts.as_str()),
        ("SMARTSPACE_SECRET_KEY", KEY),
        ("SMARTSPACE_SECRET_KEY_HOSTS", "api.example.test, 127.0.0.1"),
    ];
    let Some(stack) = Stack::with_env(&env).await else { return };
    let to = |url: &str, how: &str| format!("{here}/redirect?status={how}&to={url}/echo&");
    let plain = json!({"headers": {"X-Plain": "hello", "Accept": "text/csv", "Authorization": "Basic ${secret.KEY}", "X-Api-Key": "a ${secret.KEY} b"}});
    let mut tools: Vec<Value> =
        PLACES.iter().map(|place| with_secret(&format!("{place}Here"), &format!("{here}/echo"), "KEY", place)).collect();
    tools.extend(PLACES.iter().map(|place| with_secret(&format!("{place}There"), &format!("{there}/echo"), "KEY", place)));
    tools.extend([
        http_tool("same", "GET", &to("", "302"), plain.clone()),
        http_tool("moved", "GET", &to(&there, "301"), plain.clone()),
        http_tool("moved307", "GET", &to(&there, "307"), plain.clone()),
        with_secret("posted", &to(&there, "302"), "KEY", "body"),
        with_secret("posted307", &to(&there, "307"), "KEY", "body"),
        http_tool("handedOn", "GET", &format!("{here}/leak/302/redirect?to={there}/echo&key=${{secret.KEY}}"), json!({})),
    ]);
    let names: Vec<String> = tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect();
    let acting = Acting::on(stack, server, |_| json!(tools)).await;
    let calls = acting.calls(names.iter().map(|name| call(name, json!({}))).collect()).await;
    // Another origin is not told the call's key, but the span of its trace.
    let seen = |name: &str| -> Vec<Seen> {
        let first = acting.server.of_call(&calls[names.iter().position(|known| known == name).unwrap()]);
        let span = first.first().map_or("", |first| first.header("traceparent")).to_owned();
        acting.server.seen().into_iter().filter(|seen| seen.header("traceparent") == span).collect()
    };
    let output = |name: &str| calls[names.iter().position(|known| known == name).unwrap()]["output"].clone();
    for place in PLACES {
        assert_eq!(secret_of(&seen(&format!("{place}Here"))[0], place), KEY);
        let name = format!("{place}There");
        assert_eq!(
            (output(&name), seen(&name).len()),
            (json!({"error": "the secret KEY may not go to localhost: whoever set it says to which hosts it may"}), 0)
        );
    }
    let headers = |seen: &Seen| ["x-plain", "accept", "authorization", "x-api-key"].map(|name| seen.header(name).to_owned());
    let all = ["hello".to_owned(), "text/csv".into(), format!("Basic {KEY}"), format!("a {KEY} b")];
    let few = ["", "text/csv", "", ""].map(str::to_owned);
    for (name, second) in [("same", &all), ("moved", &few), ("moved307", &few)] {
        let seen = seen(name);
        assert_eq!(seen.iter().map(headers).collect::<Vec<_>>(), [all.clone(), second.clone()], "{name}");
    }
    let posted = seen("posted");
    assert_eq!((posted.len(), posted[1].method.as_str(), posted[1].body.len()), (2, "GET", 0));
    for (name, error) in [
        (
            "posted307",
            "the server redirected a POST to localhost, another origin, which is not followed; whether the call took effect is not known",
        ),
        ("handedOn", "the server redirected to another origin with a secret in the address, which is not followed"),
    ] {
        assert_eq!((output(name), seen(name).len()), (json!({"error": error}), 1));
    }
    let search = Search::of(&[("the key", KEY)]);
    let strangers: Vec<Seen> = acting.server.seen().into_iter().filter(|seen| seen.header("host").starts_with("localhost")).collect();
    assert_eq!(strangers.len(), 3);
    for stranger in strangers {
        assert!(search.in_bytes(format!("{stranger:?}").as_bytes()).is_empty(), "{stranger:?}");
    }
}

#[tokio::test]
async fn a_secret_that_can_not_be_used_is_said_by_name_alone() {
    let server = ToolServer::start().await;
    let hosts = server.allowed();
    let env = [("SMARTSPACE_TOOL_HOSTS", hosts.as_str()), ("SMARTSPACE_SECRET_KEY", KEY), ("OTHER_KEY", TOKEN)];
    let Some(stack) = Stack::with_env(&env).await else { return };
    let names = ["GONE", "OTHER_KEY", "SMARTSPACE_SECRET_KEY", "OPENAI_API_KEY", "KEY_HOSTS"];
    let tools = |url: &str| names.iter().map(|name| with_secret(name, &format!("{url}/echo"), name, "header")).collect();
    let acting = Acting::on(stack, server, tools).await;
    for (name, (status, output)) in names.iter().zip(acting.outcomes(&names).await) {
        let why = format!("the secret {name} is not set here; whoever runs Smartspace can set it");
        let error = format!("the header Authorization of this tool can't be sent: {why}");
        assert_eq!((status.as_str(), output), ("failed", json!({"error": error})));
    }
    assert_eq!(acting.server.connections(), 0, "no other variable is a secret");
}
