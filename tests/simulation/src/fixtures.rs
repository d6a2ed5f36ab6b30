//! The people, agents and spaces of a deployment, made before the first fault. `archive` makes a
//! space with a long past.

pub(crate) mod archive;

use std::sync::Arc;

use axum::http::Method;
use serde_json::{Value, json};
use smartspace_embedded_table::{NAME, client_on};
use smartspace_store::table::schema;

use crate::{
    client::Caller,
    deployment::Deployment,
    external_tools, locked,
    parameters::{BudgetOf, TokenBudget},
    ports::table::SimTable,
    process_life::ProcessLife,
    webhooks::{HOST, SECRET, TIMEOUT},
};

/// The names of the first agents. Further agents have numbers.
const AGENT_NAMES: [&str; 3] = ["Ada", "Bob", "Cyd"];

/// Runs per minute of agents and of most spaces. They are never used up, so `rate` is a wrong
/// answer there.
const UNLIMITED_RUNS: u32 = 100_000;

/// Makes everything through the product's API.
pub async fn make(deployment: &Arc<Deployment>) -> Result<(), String> {
    let nobody = Arc::new(ProcessLife::new("fixtures".into()));
    schema::create_table(&client_on(SimTable::new(Arc::clone(&deployment.env), nobody)), NAME)
        .await
        .map_err(|error| error.to_string())?;
    deployment.start().await;
    let mut members = make_people(deployment).await?;
    members.extend(make_agents(deployment).await?);
    if deployment.env.parameters.remote {
        members.push(make_remote_agent(deployment).await?);
    }
    make_spaces(deployment, &members).await?;
    if deployment.env.parameters.searches {
        archive::make(deployment).await?;
    }
    Ok(())
}

async fn make_people(deployment: &Arc<Deployment>) -> Result<Vec<Value>, String> {
    let mut made = Vec::new();
    for index in 0..deployment.env.parameters.people {
        let body = json!({"type": "human", "name": format!("Person {index}")});
        let person = post(deployment, "/v1/entities", body).await?;
        locked(&deployment.env.ledger).people.push(id(&person)?);
        made.push(person["id"].clone());
    }
    Ok(made)
}

async fn make_agents(deployment: &Arc<Deployment>) -> Result<Vec<Value>, String> {
    let parameters = &deployment.env.parameters;
    let mut made = Vec::new();
    for index in 0..parameters.agents {
        let name = AGENT_NAMES
            .get(index)
            .map_or_else(|| format!("Agent {index}"), |name| (*name).to_owned());
        let agent = json!({
            // Any provider except the scripted one, which writes no summaries.
            "model": {
                "provider": "openai",
                "name": "chance",
                "contextWindow": parameters.context_window,
            },
            "maxChainDepth": parameters.agent_depth,
            "budget": budget(parameters.budget, BudgetOf::Agents, None),
            "concurrency": {"mode": parameters.mode, "maxRuns": parameters.max_runs},
            "webhooks": webhooks(),
            "loop": {
                "maxSteps": 6,
                "remindUnsaid": parameters.reminders,
                "endAfterSend": parameters.ends_after_send,
                "continueOn": if parameters.writes { "writes" } else { "toolCalls" },
            },
            "context": {"window": parameters.window},
            "tools": tools(deployment),
            "approvals": rules(deployment),
        });
        let body = json!({"type": "agent", "name": name, "agent": agent});
        let agent = post(deployment, "/v1/entities", body).await?;
        locked(&deployment.env.ledger).agents.push((id(&agent)?, name));
        made.push(agent["id"].clone());
    }
    Ok(made)
}

async fn make_remote_agent(deployment: &Arc<Deployment>) -> Result<Value, String> {
    let parameters = &deployment.env.parameters;
    let agent = json!({
        "runtime": {
            "type": "webhook",
            "url": format!("https://{HOST}/wake"),
            "secret": format!("${{secret.{}}}", SECRET.0),
            "timeoutSeconds": TIMEOUT.as_secs(),
        },
        "maxChainDepth": parameters.agent_depth,
        "budget": budget(None, BudgetOf::Agents, None),
        "concurrency": {"mode": parameters.mode, "maxRuns": parameters.max_runs},
        "webhooks": webhooks(),
        "context": {"window": parameters.window},
    });
    let body = json!({"type": "agent", "name": "Rem", "agent": agent});
    let agent = post(deployment, "/v1/entities", body).await?;
    locked(&deployment.env.ledger).agents.push((id(&agent)?, "Rem".into()));
    Ok(agent["id"].clone())
}

async fn make_spaces(deployment: &Arc<Deployment>, members: &[Value]) -> Result<(), String> {
    let parameters = &deployment.env.parameters;
    for index in 0..parameters.spaces {
        let mut space = json!({
            "name": format!("Space {index}"),
            "members": members,
            "maxChainDepth": parameters.depth,
            "maxAutoReplies": parameters.auto_replies,
            "triggerPolicy": parameters.policy,
            "gate": {"mode": parameters.gate},
            "budget": budget(parameters.budget, BudgetOf::Spaces, parameters.space_runs),
        });
        if parameters.policy == "admin" {
            space["adminAgentId"] = members[parameters.people].clone();
        }
        if parameters.policy == "router" {
            space["router"] = json!({"model": {"provider": "openai", "name": "router"}});
        }
        let made = post(deployment, "/v1/spaces", space).await?;
        locked(&deployment.env.ledger).spaces.push(id(&made)?);
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
fn tools(deployment: &Deployment) -> Vec<Value> {
    let mut tools =
        if deployment.env.parameters.tools { visible_tools(deployment) } else { Vec::new() };
    if deployment.env.parameters.outside {
        tools.extend(external_tools::configuration());
    }
    if deployment.env.parameters.approvals {
        tools.extend(external_tools::ruled());
    }
    if deployment.env.parameters.files {
        tools.push(external_tools::drawing());
    }
    tools
}

/// The rules of an agent about its calls.
fn rules(deployment: &Deployment) -> Value {
    let parameters = &deployment.env.parameters;
    if !parameters.approvals {
        return json!([]);
    }
    let number = |name: &str| deployment.env.chance.below(&format!("fixtures/{name}"), 2) as usize;
    // With one person nobody could approve what two have to.
    let quorum = if parameters.people > 1 { 1 + number("quorum") as u64 } else { 1 };
    external_tools::rules(
        quorum,
        ["30 seconds", "10 minutes"][number("approvals expire")],
        ["decline", "end"][number("on expire")],
        parameters.changes,
    )
}

/// A form and a visible tool.
fn visible_tools(deployment: &Deployment) -> Vec<Value> {
    let one_of = |name: &str, some: [&'static str; 2]| {
        some[deployment.env.chance.below(&format!("fixtures/{name}"), 2) as usize]
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

pub(crate) async fn post(
    deployment: &Arc<Deployment>,
    path: &str,
    body: Value,
) -> Result<Value, String> {
    match deployment.http("fixtures", Caller::Operator, Method::POST, path, None, Some(&body)).await
    {
        Ok((201, made)) => Ok(made),
        other => Err(format!("POST {path}: {other:?}")),
    }
}

pub(crate) fn id<T: std::str::FromStr<Err: std::fmt::Display>>(made: &Value) -> Result<T, String> {
    made["id"].as_str().unwrap_or_default().parse().map_err(|error: T::Err| error.to_string())
}
