//! The people, agents and spaces of a deployment, made before the first fault.

use std::sync::Arc;

use axum::http::Method;
use serde_json::{Value, json};
use smartspace_embedded_table::{NAME, client_on};
use smartspace_store::table::schema;

use crate::{
    client::Caller,
    external_tools,
    life::Life,
    locked,
    plan::{BudgetOf, TokenBudget},
    ports::table::SimTable,
    remote_agents::{HOST, SECRET, TIMEOUT},
    world::World,
};

/// The names of the first agents. Further agents have numbers.
const AGENT_NAMES: [&str; 3] = ["Ada", "Bob", "Cyd"];

/// Runs per minute of agents and of most spaces. They are never used up, so `rate` is a wrong
/// answer there.
const UNLIMITED_RUNS: u32 = 100_000;

/// Makes everything through the product's API.
pub async fn set(world: &Arc<World>) -> Result<(), String> {
    let nobody = Arc::new(Life::new("setting".into()));
    schema::create_table(&client_on(SimTable::new(Arc::clone(&world.env), nobody)), NAME)
        .await
        .map_err(|error| error.to_string())?;
    world.start().await;
    let plan = &world.env.plan;
    let mut members = Vec::new();
    for index in 0..plan.people {
        let made = make(
            world,
            "/v1/entities",
            json!({"type": "human", "name": format!("Person {index}")}),
        )
        .await?;
        members.push(made["id"].clone());
        locked(&world.env.ledger).people.push(id(&made)?);
    }
    for index in 0..plan.agents {
        let name = AGENT_NAMES
            .get(index)
            .map_or_else(|| format!("Agent {index}"), |name| (*name).to_owned());
        let agent = json!({
            // Any provider except the scripted one, which writes no summaries.
            "model": {
                "provider": "openai",
                "name": "chance",
                "contextWindow": plan.context_window,
            },
            "maxChainDepth": plan.agent_depth,
            "budget": budget(plan.budget, BudgetOf::Agents, None),
            "concurrency": {"mode": plan.mode, "maxRuns": plan.max_runs},
            "webhooks": webhooks(),
            "loop": {
                "maxSteps": 6,
                "remindUnsaid": plan.reminders,
                "endAfterSend": plan.ends_after_send,
                "continueOn": if plan.writes { "writes" } else { "toolCalls" },
            },
            "context": {"window": plan.window},
            "tools": tools(world),
        });
        let made =
            make(world, "/v1/entities", json!({"type": "agent", "name": name, "agent": agent}))
                .await?;
        members.push(made["id"].clone());
        locked(&world.env.ledger).agents.push((id(&made)?, name));
    }
    if plan.remote {
        let agent = json!({
            "runtime": {
                "type": "webhook",
                "url": format!("https://{HOST}/wake"),
                "secret": format!("${{secret.{}}}", SECRET.0),
                "timeoutSeconds": TIMEOUT.as_secs(),
            },
            "maxChainDepth": plan.agent_depth,
            "budget": budget(None, BudgetOf::Agents, None),
            "concurrency": {"mode": plan.mode, "maxRuns": plan.max_runs},
            "webhooks": webhooks(),
            "context": {"window": plan.window},
        });
        let body = json!({"type": "agent", "name": "Rem", "agent": agent});
        let made = make(world, "/v1/entities", body).await?;
        members.push(made["id"].clone());
        locked(&world.env.ledger).agents.push((id(&made)?, "Rem".into()));
    }
    for index in 0..plan.spaces {
        let mut space = json!({
            "name": format!("Space {index}"),
            "members": members,
            "maxChainDepth": plan.depth,
            "triggerPolicy": plan.policy,
            "budget": budget(plan.budget, BudgetOf::Spaces, plan.space_runs),
        });
        if plan.policy == "admin" {
            space["adminAgentId"] = members[plan.people].clone();
        }
        if plan.policy == "router" {
            space["router"] = json!({"model": {"provider": "openai", "name": "router"}});
        }
        let made = make(world, "/v1/spaces", space).await?;
        locked(&world.env.ledger).spaces.push(id(&made)?);
    }
    Ok(())
}

/// The budget of an agent or a space.
fn budget(budget: Option<TokenBudget>, scope: BudgetOf, runs: Option<u32>) -> Value {
    json!({
        "runsPerMinute": runs.unwrap_or(UNLIMITED_RUNS),
        "tokensPerDay": budget.and_then(|budget| budget.of(scope)),
    })
}

/// The webhooks of an agent.
fn webhooks() -> Value {
    let hook = |scheme: &str, secret: &str| json!({"scheme": scheme, "secrets": [secret]});
    json!({"shop": hook("standard", "SHOP"), "forge": hook("github", "FORGE")})
}

/// The configured tools of an agent.
fn tools(world: &World) -> Vec<Value> {
    let mut tools = if world.env.plan.tools { visible_tools(world) } else { Vec::new() };
    if world.env.plan.outside {
        tools.extend(external_tools::configuration());
    }
    if world.env.plan.files {
        tools.push(external_tools::drawing());
    }
    tools
}

/// A form and a visible tool.
fn visible_tools(world: &World) -> Vec<Value> {
    let one_of = |name: &str, some: [&'static str; 2]| {
        some[world.env.chance.below(&format!("setting/{name}"), 2) as usize]
    };
    let expires_after = one_of("expires", ["30 seconds", "10 minutes"]);
    let answer_by = one_of("answer by", ["humans", "anyone"]);
    let input = |name: &str| {
        json!({
            "type": "object", "properties": {name: {"type": "string"}}, "required": [name],
        })
    };
    let result = json!({
        "type": "object",
        "properties": {"number": {"type": "integer"}},
        "required": ["number"],
        "additionalProperties": false,
    });
    let ask = json!({
        "name": "ask",
        "description": "Asks people for a number.",
        "inputSchema": input("question"),
        "execution": {
            "type": "space", "ui": "form", "resultSchema": result,
            "expiresAfter": expires_after, "answerBy": answer_by,
        },
    });
    let note = json!({
        "name": "note",
        "description": "Notes something for everyone to see.",
        "inputSchema": input("text"),
        "visible": true,
        "execution": {"type": "static", "output": {"noted": true}},
    });
    vec![ask, note]
}

async fn make(world: &Arc<World>, path: &str, body: Value) -> Result<Value, String> {
    match world.http("setting", Caller::Operator, Method::POST, path, None, Some(&body)).await {
        Ok((201, made)) => Ok(made),
        other => Err(format!("POST {path}: {other:?}")),
    }
}

fn id<T: std::str::FromStr<Err: std::fmt::Display>>(made: &Value) -> Result<T, String> {
    made["id"].as_str().unwrap_or_default().parse().map_err(|error: T::Err| error.to_string())
}
