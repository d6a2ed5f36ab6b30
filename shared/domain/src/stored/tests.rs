use serde_json::{Value, json};

use super::*;
use crate::{
    agents::AgentConfig, dispatch::Reason, plans::Plan, runs::RunStatus, spaces::SpaceSettings,
};

fn stored<T: for<'de> Deserialize<'de>>(value: Value) -> T {
    let Stored(read) = serde_json::from_value(value).unwrap();
    read
}

#[test]
fn unknown_fields_and_values_are_read_and_survive_a_change() {
    let text = json!({
        "name": "Ops", "triggerPolicy": "vote", "quiet": {"from": 22},
        "router": {"model": {"provider": "later", "name": "m", "tier": 2}, "votes": 3},
        "budget": {"runsPerMinute": 7, "tokensPerHour": 1},
    });
    assert!(serde_json::from_value::<SpaceSettings>(text.clone()).is_err(), "an API is strict");
    let before: SpaceSettings = stored(text.clone());
    let json = |settings: &SpaceSettings| serde_json::to_value(settings).unwrap();
    assert_eq!(json(&before)["triggerPolicy"], "mention");
    let mut after = before.clone();
    after.budget.runs_per_minute = 8;
    after.name = "Ops 2".into();
    let mut expected = text.clone();
    expected["name"] = "Ops 2".into();
    expected["budget"]["runsPerMinute"] = 8.into();
    assert_eq!(merge(text, &json(&before), json(&after)), expected);
}

/// A configuration of a later version, with something new at every level.
fn later_config() -> Value {
    let form = json!({"type": "space", "ui": "form", "answerBy": "owners", "theme": "dark"});
    let tool = |name: &str, execution: Value| {
        json!({
            "name": name, "description": "d", "inputSchema": {"new": 1}, "costs": 2,
            "execution": execution,
        })
    };
    json!({
        "description": "d", "persona": {"tone": "dry"},
        "model": {
            "provider": "later", "name": "m", "effort": "high",
            "fallback": [
                {"provider": "later", "name": "a"},
                {"provider": "openai", "name": "b", "tier": 1},
            ],
        },
        "loop": {"maxSteps": 5, "continueOn": "reads", "pause": 1},
        "context": {"window": 9, "history": "tree", "spaces": "some", "images": 8},
        "concurrency": {"mode": "elastic", "burst": 3},
        "budget": {"runsPerMinute": 6, "joules": 1},
        "tools": [
            tool("ask", form),
            tool("call", json!({"type": "grpc", "host": "h"})),
            tool("get", json!({"type": "http", "method": "GET", "url": "u", "retries": 2})),
        ],
        "mcp": {"servers": [{"name": "s", "url": "u", "auth": {}}], "proxy": "p"},
        "webhooks": {
            "old": {"scheme": "github", "secrets": ["A"], "ips": []},
            "new": {"scheme": "later", "secrets": ["B"]},
        },
    })
}

#[test]
fn a_later_configuration_is_read_without_what_is_unknown() {
    let config = AgentConfig::read_stored(later_config()).unwrap();
    let read = serde_json::to_value(&config).unwrap();
    let names: Vec<_> = config.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["ask", "get"]);
    assert_eq!(read["tools"][0]["execution"]["answerBy"], json!([]));
    // Whether this deployment has the provider shows when it is asked.
    assert_eq!(read["model"]["provider"], "later");
    let fallback = json!([
        {"provider": "later", "name": "a"}, {"provider": "openai", "name": "b"},
    ]);
    assert_eq!(read["model"]["fallback"], fallback);
    assert_eq!(read["webhooks"].as_object().unwrap().len(), 1);
    assert_eq!(read["loop"]["continueOn"], "toolCalls");
    assert_eq!(read["context"]["history"], "timeline");
    assert_eq!(read["concurrency"]["mode"], "parallel");
    assert!(serde_json::from_value::<AgentConfig>(later_config()).is_err(), "an API is strict");
    assert!(serde_json::from_value::<AgentConfig>(read).is_ok(), "a patch of it is accepted");
}

#[test]
fn a_change_of_a_later_configuration_keeps_the_rest() {
    let before = AgentConfig::read_stored(later_config()).unwrap();
    let mut after = before.clone();
    after.instructions = "Be brief.".into();
    after.run_loop.max_steps = 6;
    after.tools[1].visible = true;
    let json = |config: &AgentConfig| serde_json::to_value(config).unwrap();
    let merged = merge(later_config(), &json(&before), json(&after));
    let mut expected = later_config();
    expected["instructions"] = "Be brief.".into();
    expected["loop"]["maxSteps"] = 6.into();
    expected["tools"][2]["visible"] = true.into();
    let tools = expected["tools"].as_array_mut().unwrap();
    let unread = tools.remove(1);
    tools.push(unread);
    assert_eq!(merged, expected);
    // A removed tool and a removed webhook stay removed.
    let mut fewer = before.clone();
    fewer.tools.remove(0);
    fewer.webhooks.clear();
    let merged = merge(later_config(), &json(&before), json(&fewer));
    let names: Vec<_> =
        merged["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["get", "call"]);
    assert_eq!(merged["webhooks"].as_object().unwrap().keys().collect::<Vec<_>>(), ["new"]);
}

#[test]
fn a_plan_with_an_unknown_schedule_is_paused() {
    let at = "2026-01-01T00:00:00.000Z";
    let plan: Plan = stored(json!({
        "id": "pln_01KC0000000000000000000000", "name": "n", "instruction": "i",
        "type": "interval", "every": "1 day", "status": "active", "nextRunAt": at,
        "lastRunAt": null, "createdAt": at, "updatedAt": at, "new": {"a": 1},
    }));
    let shown = serde_json::to_value(&plan).unwrap();
    assert_eq!((&shown["type"], &shown["status"]), (&json!("once"), &json!("paused")));
    let again: Plan = serde_json::from_value(shown).unwrap();
    assert_eq!(again, plan);
}

#[test]
fn a_fallback_is_used_only_where_it_is_meant() {
    assert_eq!(stored::<RunStatus>("paused".into()), RunStatus::Queued);
    assert!(serde_json::from_value::<RunStatus>("paused".into()).is_err());
    // No API accepts it, so it is tolerant everywhere.
    assert_eq!(serde_json::from_value::<Reason>("moon_phase".into()).unwrap(), Reason::Policy);
    assert_eq!(serde_json::to_value(Reason::Rate).unwrap(), "rate");
}

/// Reads the fallback of the enum `T` by the value `unknown`, which it does not have.
fn falls_back<T: for<'de> Deserialize<'de> + serde::Serialize>() -> Value {
    serde_json::to_value(stored::<T>("unknown to all".into())).unwrap()
}

#[test]
fn every_fallback_is_a_value_of_its_enum() {
    use crate::{
        agents, approvals, attachments, concurrency, deliveries, entities, events, gate, goals,
        inbox, mentions, messages, plans, runs, scripts, spaces,
    };
    use crate::{steps, system_lines, tools, triggers};
    let read = [
        falls_back::<tools::AnswerGroup>(),
        falls_back::<approvals::ApprovalState>(),
        falls_back::<approvals::ApproverGroup>(),
        falls_back::<attachments::AttachmentStatus>(),
        falls_back::<gate::Because>(),
        falls_back::<steps::CallStatus>(),
        falls_back::<agents::ConcurrencyMode>(),
        falls_back::<agents::ContinueOn>(),
        falls_back::<approvals::DecisionAction>(),
        falls_back::<messages::DeletedBy>(),
        falls_back::<deliveries::DeliveryStatus>(),
        falls_back::<gate::Dial>(),
        falls_back::<runs::EndReason>(),
        falls_back::<entities::EntityType>(),
        falls_back::<runs::FailureCode>(),
        falls_back::<steps::FinishReason>(),
        falls_back::<gate::GateMode>(),
        falls_back::<goals::GoalStatus>(),
        falls_back::<agents::History>(),
        falls_back::<inbox::InboxState>(),
        falls_back::<system_lines::LineKind>(),
        falls_back::<mentions::MentionWhy>(),
        falls_back::<approvals::OnExpire>(),
        falls_back::<plans::PlanStatus>(),
        falls_back::<Reason>(),
        falls_back::<agents::Reasoning>(),
        falls_back::<spaces::Role>(),
        falls_back::<approvals::RuleAction>(),
        falls_back::<RunStatus>(),
        falls_back::<scripts::ScriptError>(),
        falls_back::<agents::SeenFiles>(),
        falls_back::<triggers::Source>(),
        falls_back::<agents::SpacesShown>(),
        falls_back::<agents::Speaks>(),
        falls_back::<events::StreamEnd>(),
        falls_back::<events::StreamKind>(),
        falls_back::<agents::ToolChoice>(),
        falls_back::<triggers::TriggerKind>(),
        falls_back::<spaces::TriggerPolicy>(),
        falls_back::<concurrency::WaitsFor>(),
        falls_back::<agents::WebhookScheme>(),
        falls_back::<gate::Would>(),
    ];
    assert_eq!(read.to_vec(), FALLBACKS.iter().map(|(_, value)| *value).collect::<Vec<_>>());
}
