//! The space "Help desk": a router chooses who answers. The accountant takes messages that arrive
//! in a burst together. The space may use a million tokens a day.

use serde_json::{Value, json};

use crate::demo::agent;

pub(super) fn space() -> Value {
    json!({
        "name": "Help desk",
        "triggerPolicy": "router",
        // The script chooses about every message.
        "gate": {"mode": "off"},
        "budget": {"tokensPerDay": 1_000_000},
        "router": {"model": {"provider": "scripted", "name": "router", "script": {"rules": [
            {"choose": {"when": {"sender": "agent"}, "agents": []}},
            bills("bill"),
            bills("invoice"),
            travel("train"),
            travel("flight"),
            {"choose": {
                "agents": [{"name": "Receptionist", "reason": "Somebody has to say hello."}],
                "others": [
                    {"name": "Accountant", "reason": "There is no bill."},
                    {"name": "Auditor", "reason": "There is no bill."},
                    {"name": "Planner", "reason": "There is no journey."}
                ]
            }}
        ]}}}
    })
}

fn bills(word: &str) -> Value {
    json!({"choose": {
        "when": {"contains": word},
        "agents": [
            {"name": "Accountant", "reason": "It is about a bill."},
            {"name": "Auditor", "reason": "Bills are checked."}
        ],
        "others": [
            {"name": "Receptionist", "reason": "It is clear who helps."},
            {"name": "Planner", "reason": "There is no journey."}
        ]
    }})
}

fn travel(word: &str) -> Value {
    json!({"choose": {
        "when": {"contains": word},
        "agents": [{"name": "Planner", "reason": "It is about a journey."}],
        "others": [
            {"name": "Receptionist", "reason": "It is clear who helps."},
            {"name": "Accountant", "reason": "There is no bill."},
            {"name": "Auditor", "reason": "There is no bill."}
        ]
    }})
}

pub(super) fn agents() -> Vec<Value> {
    let mut accountant = agent(
        "Accountant",
        "Pays and explains bills.",
        says(
            "Thank you, {{sender}}. I have your bill: {{message}} I write slowly. If you send more \
             bills before I am done, I take all of them together in my next answer.",
        ),
        json!([]),
    );
    accountant["agent"]["model"]["script"]["wordDelayMs"] = json!(150);
    vec![
        agent(
            "Receptionist",
            "Welcomes people whom no other agent can help.",
            says(
                "Hello {{sender}}! A router read your message and chose me; under your message you \
                 see why. Mention a bill or a train, and it chooses others.",
            ),
            json!([]),
        ),
        accountant,
        agent(
            "Auditor",
            "Checks bills, and speaks only if one is wrong.",
            json!([{"when": {"sender": "human"}, "steps": [{"calls": [
                {"tool": "skip_response", "input": {"reason": "The bill is right."}}
            ]}]}]),
            json!([]),
        ),
        agent(
            "Planner",
            "Plans journeys by train and by plane.",
            says("I would take the first train, {{sender}}. You wrote: {{message}}"),
            json!([]),
        ),
    ]
}

/// Answers people with one message.
fn says(text: &str) -> Value {
    let call = json!({"tool": "send_message", "input": {"text": text}});
    json!([{"when": {"sender": "human"}, "steps": [{"calls": [call]}]}])
}
