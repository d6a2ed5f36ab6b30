//! Budgets of a day, and the usage of models.

use futures::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{
    model::{Gate, answer, call, say, stop, think, wait},
    routes::{id, triggered_run},
    socket::Socket,
    stack::Stack,
    waiting::{SOON, far_from_midnight, is_ended, wait_for},
};

/// Runs per minute that no test uses up.
const RUNS: u32 = 100_000;

fn tokens(usage: &Value) -> u64 {
    usage["inputTokens"].as_u64().unwrap() + usage["outputTokens"].as_u64().unwrap()
}

/// The agents' entries of a message that no agent answers.
fn entries(message: &Value) -> &Vec<Value> {
    message["dispatch"].as_array().unwrap()
}

/// The reason and the words of each entry of a dispatch.
fn reasons(message: &Value) -> Vec<(&str, &str)> {
    entries(message)
        .iter()
        .map(|entry| {
            (
                entry["reason"].as_str().unwrap_or_default(),
                entry["reasonText"].as_str().unwrap_or_default(),
            )
        })
        .collect()
}

/// How often a connection has heard that so much of a budget is used.
fn notices(socket: &Socket, whose: &str, percent: u64) -> usize {
    let text = format!(
        "{percent} % of the budget of {whose} for today is used. It is renewed at 00:00 UTC."
    );
    let frames = socket.frames();
    let messages = frames.iter().filter(|frame| frame.kind == "system.message");
    messages.filter(|frame| frame.body["text"] == text.as_str()).count()
}

async fn decided(stack: &Stack, space: &str, message: &Value) -> Value {
    wait_for("the decision", SOON, async || {
        let messages = stack.messages(space).await;
        messages
            .into_iter()
            .find(|other| other["id"] == message["id"] && other["dispatch"].is_array())
    })
    .await
}

/// How many of a hundred runs wait for the model once all others have ended.
async fn runs_that_ask(stack: &Stack, space: &str) -> usize {
    wait_for("the runs without a budget end", SOON, async || {
        let runs = stack.runs_of(space).await;
        let ended = runs.iter().filter(|run| is_ended(run)).count();
        let asked = stack.model.requests("ada").len();
        (runs.len() == 100 && ended + asked == 100).then_some(asked)
    })
    .await
}

#[tokio::test]
async fn a_hundred_runs_at_once_do_not_pass_a_budget_that_allows_ten() {
    const BUDGET: u64 = 28_000;
    far_from_midnight().await;
    let stack = Stack::start().await;
    let gate = Gate::closed();
    let held = gate.clone();
    stack.model.replies("ada", move |_| answer([wait(&held), think("Done.")]));
    let person = stack.person("Husam").await;
    let model = stack.model.name("ada");
    let config = json!({
        "model": {"provider": "openai", "name": model, "maxOutputTokens": 1_000},
        "budget": {"runsPerMinute": RUNS},
    });
    let made = (0..100)
        .map(async |number| stack.agent_with(&format!("Agent {number}"), config.clone()).await);
    let agents = join_all(made).await;
    let members: Vec<_> = [&person].into_iter().chain(&agents).collect();
    let budget = json!({"runsPerMinute": RUNS, "tokensPerDay": BUDGET});
    let space = stack.space_with("Crowd", &members, json!({"budget": budget})).await;
    let socket = stack.socket_of(&person).await;
    socket.subscribe(&space, None).await;

    let message = stack.post(&space, &person, "Go.").await;
    let message = decided(&stack, &space, &message).await;
    assert_eq!(entries(&message).iter().filter(|entry| entry["runId"].is_string()).count(), 100);
    let asked = runs_that_ask(&stack, &space).await;
    assert!((5..=15).contains(&asked), "{asked} of a hundred runs asked the model");
    let failed: Vec<_> =
        stack.runs_of(&space).await.into_iter().filter(|run| run["status"] == "failed").collect();
    assert_eq!(failed.len(), 100 - asked);
    for run in &failed {
        assert_eq!(run["error"]["code"], "budget", "{run}");
        let text = run["error"]["message"].as_str().unwrap();
        assert!(
            text.starts_with("the budget of this space for today has no room for another call; ")
        );
        assert_eq!(tokens(&run["usage"]), 0);
    }
    // What the message and the runs say comes from the same counter.
    let refused = stack.post(&space, &person, "And now?").await;
    let until = failed[0]["error"]["message"].as_str().unwrap();
    let refused = decided(&stack, &space, &refused).await;
    assert_eq!(reasons(&refused), vec![("budget", until); 100]);

    gate.open();
    stack.quiet(&space).await;
    let report = stack.get(&format!("/v1/spaces/{space}/usage")).await.must_be(200);
    let used = tokens(&report["total"]);
    assert!(used > 0 && used <= BUDGET, "{report}");
    assert_eq!(report["total"]["runs"], asked);
    assert!(used * 100 < BUDGET * 80, "{used} of {BUDGET}");
    let frames = socket.frames();
    let warnings: Vec<_> = frames.iter().filter(|frame| frame.kind == "system.message").collect();
    assert!(warnings.is_empty(), "the calls used less than they had reserved: {warnings:?}");
}

#[tokio::test]
async fn calls_that_cost_less_than_reserved_make_room_again() {
    let stack = Stack::start().await;
    stack.model.replies("ada", |_| stop());
    let person = stack.person("Husam").await;
    let model = json!({"provider": "openai", "name": stack.model.name("ada"),
        "maxOutputTokens": 20_000});
    // There is room for one call at a time.
    let budget = json!({"runsPerMinute": RUNS, "tokensPerDay": 40_000});
    let agent = stack.agent_with("Ada", json!({"model": model, "budget": budget})).await;
    let space = stack.space("Team", &[&person, &agent]).await;
    for number in 1..=4 {
        let message = stack.post(&space, &person, &format!("m{number}")).await;
        let run = triggered_run(&message, &agent).unwrap();
        assert_eq!(stack.ended(&run, SOON).await["status"], "completed");
    }
}

#[tokio::test]
async fn the_run_that_uses_most_of_a_budget_says_so() {
    far_from_midnight().await;
    let stack = Stack::start().await;
    let team = stack.team().await;
    let path = format!("/v1/entities/{}", team.agent);
    let ended = async |text: &str| {
        stack.model.plays("ada", [say("Yes.").into(), stop()]);
        let message = stack.post(&team.space, &team.person, text).await;
        stack.ended(&triggered_run(&message, &team.agent).unwrap(), SOON).await
    };
    stack.patch(&path, json!({"agent": {"model": {"maxOutputTokens": 10}}})).await.must_be(200);
    let before = tokens(&ended("Hello?").await["usage"]);

    let budget = before * 12;
    let change = json!({"agent": {"budget": {"tokensPerDay": budget}}});
    stack.patch(&path, change).await.must_be(200);
    let [socket, member] = [stack.socket().await, stack.socket_of(&team.person).await];
    for socket in [&socket, &member] {
        socket.subscribe(&team.space, None).await;
    }
    let warnings = |percent: u64| notices(&socket, "this agent", percent);
    let mut used = 0;
    let failed = loop {
        let run = ended("Still there?").await;
        used += tokens(&run["usage"]);
        assert!(used <= budget, "{run}");
        if run["status"] == "failed" {
            break run;
        }
        if used * 100 < budget * 80 {
            assert_eq!((warnings(80), warnings(100)), (0, 0), "at {used} of {budget}");
        }
    };
    assert!(used * 100 >= budget * 80, "{used} of {budget}");
    assert_eq!(failed["error"]["code"], "budget", "{failed}");
    wait_for("both system messages", SOON, async || (warnings(100) == 1).then_some(())).await;
    assert_eq!(warnings(80), 1);
    let ended = |frame: &Value| frame["run"]["id"] == failed["id"];
    member.frame("run.failed", SOON, ended).await;
    let shown: Vec<_> =
        member.frames().into_iter().filter(|frame| frame.kind == "system.message").collect();
    assert!(shown.is_empty(), "the agent's budget is the operator's: {shown:?}");
    let refused = stack.post(&team.space, &team.person, "Hello?").await;
    assert_eq!(reasons(&refused)[0].0, "budget");
}

#[tokio::test]
async fn owners_and_the_operator_hear_how_much_of_a_spaces_budget_is_used() {
    far_from_midnight().await;
    let stack = Stack::start().await;
    let [owner, member] = [stack.person("Olga").await, stack.person("Mara").await];
    let model = json!({"provider": "openai", "name": stack.model.name("ada"),
        "maxOutputTokens": 10});
    let agent = stack.agent_with("Ada", json!({"model": model})).await;
    let space = stack.space("Team", &[&owner, &member, &agent]).await;
    let role = format!("/v1/spaces/{space}/members/{owner}");
    stack.put(&role, json!({"role": "owner"})).await.must_be(200);
    let ended = async || {
        stack.model.plays("ada", [say("Yes.").into(), stop()]);
        let message = stack.post(&space, &owner, "@Ada, are you there?").await;
        stack.ended(&triggered_run(&message, &agent).unwrap(), SOON).await
    };
    let before = tokens(&ended().await["usage"]);
    let budget = json!({"runsPerMinute": RUNS, "tokensPerDay": before * 12});
    stack.patch(&format!("/v1/spaces/{space}"), json!({"budget": budget})).await.must_be(200);
    let of_owner = stack.socket_of(&owner).await;
    let [of_member, operator] = [stack.socket_of(&member).await, stack.socket().await];
    for socket in [&of_owner, &of_member, &operator] {
        socket.subscribe(&space, None).await;
    }
    let failed = loop {
        let run = ended().await;
        if run["status"] == "failed" {
            break run;
        }
    };
    assert_eq!(failed["error"]["code"], "budget", "{failed}");
    for socket in [&of_owner, &operator] {
        for percent in [80, 100] {
            wait_for(&format!("the notice of {percent} %"), SOON, async || {
                (notices(socket, "this space", percent) == 1).then_some(())
            })
            .await;
        }
    }
    let is_over = |frame: &Value| frame["run"]["id"] == failed["id"];
    of_member.frame("run.failed", SOON, is_over).await;
    assert!(of_member.frames().iter().all(|frame| frame.kind != "system.message"));
}

#[tokio::test]
async fn a_used_budget_holds_for_messages_services_and_previews_until_it_is_raised() {
    let stack = Stack::start().await;
    let team = stack.team().await;
    stack.model.replies("ada", |_| stop());
    let path = format!("/v1/entities/{}", team.agent);
    let set = async |tokens: Value| {
        stack
            .patch(&path, json!({"agent": {"budget": {"tokensPerDay": tokens}}}))
            .await
            .must_be(200)
    };
    set(json!(0)).await;
    let preview = format!("/v1/spaces/{}/messages/preview", team.space);
    let body = json!({"text": "Hello?", "senderId": team.person});
    let previewed = stack.create(&preview, body).await.must_be(200);
    let message = stack.post(&team.space, &team.person, "Hello?").await;
    assert_eq!(previewed["dispatch"], message["dispatch"]);
    let [(reason, words)] = reasons(&message)[..] else { panic!("{message}") };
    assert_eq!(reason, "budget");
    assert!(
        words.starts_with("the budget of this agent for today has no room for another call"),
        "{words}"
    );
    let trigger = format!("/v1/agents/{}/trigger", team.agent);
    let body = json!({"service": "shop", "payload": {"order": 1}});
    let refused = stack.create(&trigger, body.clone()).await.must_be(202);
    assert_eq!((&refused["runId"], &refused["reason"]), (&Value::Null, &json!("budget")));

    let plans = format!("/v1/agents/{}/plans", team.agent);
    let plan = json!({"name": "Digest", "instruction": "Write it.", "cron": "0 9 * * *"});
    let plan = id(&stack.create(&plans, plan).await.must_be(201));
    let run = format!("{plans}/{plan}/run");
    let refused = stack.call(Method::POST, &run, None).await;
    assert!(refused.header("retry-after").parse::<u32>().is_ok(), "{}", refused.text);
    let text = "the budget of the agent or of the deployment for today is used up";
    assert_eq!(refused.must_be(429)["detail"], text);

    set(json!(1_000_000)).await;
    let accepted = stack.create(&trigger, body).await.must_be(202);
    assert!(accepted["runId"].is_string(), "{accepted}");
    let message = stack.post(&team.space, &team.person, "Hello?").await;
    assert!(triggered_run(&message, &team.agent).is_some(), "{message}");
}

#[tokio::test]
async fn a_model_without_a_price_counts_with_the_highest_price_of_its_provider() {
    let Some(stack) = Stack::with_env(&[("OPENAI_BASE_URL", "")]).await else { return };
    let model = |name: &str| json!({"provider": "openai", "name": name, "maxOutputTokens": 1_000});
    let agent =
        |budget: f64| json!({"model": model("nobody-knows"), "budget": {"costPerDay": budget}});
    let person = stack.person("Husam").await;
    // A call may cost 0.04 dollars for what it writes, and less than 0.02 for what it reads.
    for (name, budget, is_paid) in [("Poor", 0.03, false), ("Rich", 1.0, true)] {
        let agent = stack.agent_with(name, agent(budget)).await;
        let space = stack.space(name, &[&person, &agent]).await;
        let message = stack.post(&space, &person, "Hello?").await;
        let run = stack.ended(&triggered_run(&message, &agent).unwrap(), SOON).await;
        // The paid call fails for want of a key.
        assert_eq!(run["error"]["code"] == "budget", !is_paid, "{run}");
    }
}

#[tokio::test]
async fn the_budget_of_the_deployment_is_shared() {
    far_from_midnight().await;
    // There is room for one call at a time, which may cost 0.024 and costs less.
    let prices = tempfile::NamedTempFile::new().unwrap();
    let written = json!({"scripted/*": {"input": 1, "cachedInput": 0.1, "output": 5}});
    std::fs::write(prices.path(), written.to_string()).unwrap();
    let path = prices.path().to_str().unwrap();
    let flags = ["--budget-cost-per-day", "0.026", "--prices", path];
    let Some(stack) = Stack::with(&flags).await else { return };
    let rules = json!([{"when": {}, "steps": [{"text": "Hm."}]}]);
    let model = json!({"provider": "scripted", "name": "any", "script": {"rules": rules}});
    let person = stack.person("Husam").await;
    // One call a run: a reminder that finds no room would not fail its run.
    let quiet = json!({"model": model, "loop": {"remindUnsaid": false}});
    let agent = stack.agent_with("Ada", quiet).await;
    let space = stack.space("Team", &[&person, &agent]).await;
    let mut runs = 0;
    let run = loop {
        let message = stack.post(&space, &person, "Hello.").await;
        let run = stack.ended(&triggered_run(&message, &agent).unwrap(), SOON).await;
        if run["status"] == "failed" {
            break run;
        }
        runs += 1;
        assert!(run["usage"]["cost"].as_f64() > Some(0.0) && runs < 20, "{run}");
    };
    assert!(runs > 0);
    let text = run["error"]["message"].as_str().unwrap();
    assert!(
        text.starts_with("the budget of the deployment for today has no room for another call; "),
        "{run}"
    );
    let message = stack.post(&space, &person, "Hello?").await;
    assert_eq!(reasons(&message), [("budget", text)]);
}

#[tokio::test]
async fn usage_is_reported_by_day_agent_space_and_model() {
    far_from_midnight().await;
    let stack = Stack::start().await;
    let person = stack.person("Husam").await;
    let mut made = Vec::new();
    for (name, space_name) in [("Ada", "One"), ("Bob", "Two")] {
        let model = stack.model.name(name);
        let agent = stack.agent(name, &model).await;
        let space = stack.space(space_name, &[&person, &agent]).await;
        for text in ["Hello?", "Still there?"] {
            stack.model.plays(name, [say("Yes.").into(), stop()]);
            let message = stack.post(&space, &person, text).await;
            stack.ended(&triggered_run(&message, &agent).unwrap(), SOON).await;
        }
        let runs = stack.runs_of(&space).await;
        let used: u64 = runs.iter().map(|run| tokens(&run["usage"])).sum();
        made.push((agent, space, model, used, [name, space_name]));
    }
    let report = async |path: &str| stack.get(path).await.must_be(200);
    let total: u64 = made.iter().map(|(.., used, _)| used).sum();
    let all = report("/v1/usage?by=agent,space,model").await;
    let of_agent = |report: &Value, agent: &str| {
        let items = report["items"].as_array().unwrap();
        items.iter().filter(|item| item["agentId"] == agent).cloned().collect::<Vec<_>>()
    };
    for (agent, space, model, used, names) in &made {
        let [item] = &of_agent(&all, agent)[..] else { panic!("{all}") };
        assert_eq!(
            (&item["spaceId"], &item["provider"], &item["model"], &item["runs"]),
            (&json!(space), &json!("openai"), &json!(model), &json!(2))
        );
        assert_eq!(item["priceUnknown"], true);
        assert_eq!(tokens(item), *used);
        assert_eq!([&item["agentName"], &item["spaceName"]], *names);
        assert!(item.get("day").is_none(), "{item}");
        let own = report(&format!("/v1/agents/{agent}/usage")).await;
        let [item] = &own["items"].as_array().unwrap()[..] else { panic!("{own}") };
        assert!(item["day"].is_string() && item.get("agentId").is_none(), "{item}");
        let hours: Vec<_> = item["hours"].as_array().unwrap().iter().map(Value::as_f64).collect();
        let spent: f64 = hours.iter().copied().flatten().sum();
        let cost = item["cost"].as_f64().unwrap_or_default();
        assert!(hours.len() == 24 && (spent - cost).abs() < 1e-9, "{item}");
        assert_eq!((tokens(item), tokens(&own["total"])), (*used, *used));
        let own = report(&format!("/v1/spaces/{space}/usage?by=agent")).await;
        assert_eq!((of_agent(&own, agent).len(), tokens(&own["total"])), (1, *used));
    }
    if stack.is_local() {
        assert_eq!(tokens(&report("/v1/usage").await["total"]), total);
    }
    let before = report("/v1/usage?from=2020-01-01&to=2020-02-01").await;
    assert_eq!((&before["items"], &before["total"]["runs"]), (&json!([]), &json!(0)));
}

#[tokio::test]
async fn wrong_queries_of_usage_say_what_was_expected() {
    let stack = Stack::start().await;
    for (query, expected) in [
        ("from=2026-13-01", "`from`: expected a day such as 2026-02-18, got \"2026-13-01\""),
        (
            "from=2026-03-01&to=2026-02-01",
            "`from`: expected a day up to 2026-02-01, got 2026-03-01",
        ),
        (
            "from=2026-01-01&to=2026-04-03",
            "`from`: expected at most 92 days up to 2026-04-03, got 93",
        ),
        (
            "by=day,week",
            "`by`: expected some of day, agent, space and model, with commas, got \
            \"day,week\"",
        ),
        ("by=", "`by`: expected some of day, agent, space and model, with commas, got \"\""),
    ] {
        let refused = stack.get(&format!("/v1/usage?{query}")).await.must_be(400);
        assert_eq!(refused["detail"], format!("query parameter {expected}"), "{query}");
    }
}

#[tokio::test]
async fn a_call_that_no_day_has_room_for_fails_alone() {
    let stack = Stack::start().await;
    let person = stack.person("Husam").await;
    let name = stack.model.name("ada");
    let model =
        |tokens: u32| json!({"provider": "openai", "name": name, "maxOutputTokens": tokens});
    let greedy = stack.agent_with("Ada", json!({"model": model(90_000)})).await;
    let modest = stack.agent_with("Bob", json!({"model": model(100)})).await;
    let budget = json!({"runsPerMinute": RUNS, "tokensPerDay": 50_000});
    let members = [&person, &greedy, &modest];
    let space = stack.space_with("Team", &members, json!({"budget": budget})).await;
    stack.model.replies("ada", |_| stop());
    for text in ["Hello?", "Still there?"] {
        let message = stack.post(&space, &person, text).await;
        let failed = stack.ended(&triggered_run(&message, &greedy).unwrap(), SOON).await;
        let error = json!({"code": "budget", "message": "this call may use more than the budget of \
            this space for a whole day; raise the budget, or let the agent write less \
            (maxOutputTokens)"});
        assert_eq!(failed["error"], error);
        let fine = stack.ended(&triggered_run(&message, &modest).unwrap(), SOON).await;
        assert_eq!(fine["status"], "completed", "{fine}");
    }
}

#[tokio::test]
async fn routers_count_in_usage() {
    let stack = Stack::start().await;
    let person = stack.person("Husam").await;
    let mut members = vec![person.clone()];
    for name in ["Ada", "Bob"] {
        members.push(stack.agent(name, &stack.model.name("ada")).await);
    }
    let model = json!({"provider": "openai", "name": stack.model.name("router")});
    let gate = json!({"mode": "off"});
    let settings = json!({"triggerPolicy": "router", "router": {"model": model}, "gate": gate});
    let members: Vec<_> = members.iter().collect();
    let space = stack.space_with("Office", &members, settings).await;
    stack.model.replies("router", |_| answer([call("choose", json!({"agents": []}))]));
    let posted = stack.post(&space, &person, "Nobody has to answer.").await;
    let message = decided(&stack, &space, &posted).await;
    let report = stack.get(&format!("/v1/spaces/{space}/usage?by=agent")).await.must_be(200);
    let [item] = &report["items"].as_array().unwrap()[..] else { panic!("{report}") };
    assert_eq!((tokens(item), &item["runs"]), (tokens(&message["router"]["usage"]), &json!(0)));
    assert!(tokens(item) > 0 && item["agentId"] == person.as_str(), "{item}");
}
