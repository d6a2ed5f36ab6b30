//! The space "Welcome": every message wakes all three agents, and the Librarian has a plan.

use serde_json::{Value, json};
use smartspace_domain::ids::SpaceId;

use crate::demo::agent;

pub(super) fn space() -> Value {
    json!({"name": "Welcome"})
}

pub(super) fn agents(space: SpaceId) -> Vec<Value> {
    vec![guide(), librarian(space), observer()]
}

/// Answers people, unless they ask the Librarian.
fn guide() -> Value {
    agent(
        "Guide",
        "Welcomes newcomers and answers people, unless they ask the Librarian.",
        json!([
            {
                "when": {"trigger": "space_message", "sender": "human", "contains": "@Librarian"},
                "steps": [{"calls": [{"tool": "skip_response", "input": {
                    "reason": "The message is for the Librarian."}}]}]
            },
            {
                "when": {"trigger": "space_message", "sender": "human", "contains": "coffee"},
                "steps": [
                    {"text": "I should ask first.", "calls": [{"tool": "ask", "input": {
                        "message": "Shall I put the kettle on?",
                        "options": ["Yes, please", "No, thank you"]}}]},
                    {"calls": [{"tool": "send_message", "input": {"text":
                        "“{{result.choice}}” it is. Nothing was running while I waited for your \
                         answer, and I would have waited through a restart."}}]}
                ]
            },
            {
                "when": {"trigger": "space_message", "sender": "human", "contains": "draw"},
                "steps": [
                    {"calls": [{"tool": "draw", "input": {"prompt": "{{message}}"}}]},
                    {"calls": [{"tool": "send_message", "input": {"text":
                        "I play a script, so I can only write your words on a picture. An agent \
                         with a model of OpenAI or Amazon Bedrock draws what they describe."}}]}
                ]
            },
            {
                "when": {"trigger": "space_message", "sender": "human"},
                "steps": [{"text": "A person wrote, so I answer.", "calls": [{
                    "tool": "send_message", "input": {"text":
                    "Hello {{sender}}! Your message is stored and woke three agents. You are \
                     reading this while it is being written. I play a script, so nothing here \
                     needs an API key. The Librarian answers if you write @Librarian. The Observer \
                     read your message too and chose to stay silent. Mention coffee, and I will \
                     ask you a question with buttons. Ask me to draw something, and I will."}}]}]
            }
        ]),
        json!([{
            "name": "ask",
            "description": "Asks the people of the space to choose.",
            "inputSchema": {"type": "object"},
            "execution": {"type": "space", "ui": "buttons", "expiresAfter": "1 day"}
        }, {
            "name": "draw",
            "description": "Draws a picture.",
            "execution": {"type": "image", "provider": "scripted", "size": "640x400"}
        }]),
    )
}

/// Answers only if it is mentioned, and speaks once a month by itself.
fn librarian(space: SpaceId) -> Value {
    let mut librarian = agent(
        "Librarian",
        "Answers only when somebody mentions it.",
        json!([{
            "when": {"trigger": "plan"},
            "steps": [
                {"calls": [{"tool": "enter_space", "input": {"spaceId": space}}]},
                {"calls": [{"tool": "send_message", "input": {"text":
                    "My plan woke me: {{instruction}}"}}]}
            ]
        }, {
            "when": {"trigger": "space_message", "sender": "human", "source": "mention"},
            "steps": [{"text": "I was mentioned.", "calls": [{
                "tool": "send_message", "input": {"text":
                "You mentioned me, {{sender}}, so here I am. It is {{now}}, we are in “{{space}}”, \
                 and you wrote: {{message}}"}}]}]
        }]),
        json!([]),
    );
    librarian["plan"] = json!({
        "name": "Monthly tidying",
        "instruction": "Remind people to tidy up their spaces.",
        "cron": "0 9 1 * *"
    });
    librarian
}

/// Reads everything and says nothing.
fn observer() -> Value {
    agent(
        "Observer",
        "Reads everything and says nothing.",
        json!([{"steps": [{"calls": [
            {"tool": "skip_response", "input": {"reason": "I only watch."}}
        ]}]}]),
        json!([]),
    )
}
