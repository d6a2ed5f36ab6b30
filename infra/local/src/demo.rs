//! The first space on an empty folder: a person and three scripted agents of different characters, so that a newcomer sees it work.

use serde_json::{Value, json};
use smartspace_domain::{
    Error, Result,
    entities::{Entity, EntitySettings},
    ids::{EntityId, SpaceId},
    spaces::{Role, SpaceSettings},
};
use smartspace_pipeline::Pipeline;
use smartspace_store::pages::Ask;

/// Makes the demo, unless there is anybody already.
pub(crate) async fn make(pipeline: &Pipeline) -> Result<()> {
    let anybody = pipeline.store.entities(&Ask { cursor: None, limit: Some(1) }).await?;
    if !anybody.items.is_empty() {
        return Ok(());
    }
    let settings: SpaceSettings = read(json!({"name": "Welcome"}))?;
    let (now, random) = (pipeline.now(), pipeline.ids.random());
    let space = pipeline.store.create_space(SpaceId::new(now, random), settings, None, now).await?;
    for settings in [json!({"type": "human", "name": "Robin"}), guide(), librarian(), observer()] {
        let member = entity(pipeline, settings).await?;
        pipeline.join(space, &member, Role::Member).await?;
    }
    Ok(())
}

/// Answers people, unless they ask the Librarian.
fn guide() -> Value {
    agent(
        "Guide",
        "Welcomes newcomers and answers people, unless they ask the Librarian.",
        json!([
            {
                "when": {"trigger": "space_message", "sender": "human", "contains": "@Librarian"},
                "steps": [{"calls": [{"tool": "skip_response", "input": {"reason": "The question is for the Librarian."}}]}]
            },
            {
                "when": {"trigger": "space_message", "sender": "human", "contains": "coffee"},
                "steps": [
                    {"text": "I had better ask.", "calls": [{"tool": "ask", "input": {
                        "message": "Shall I put the kettle on?", "options": ["Yes, please", "No, thank you"]}}]},
                    {"calls": [{"tool": "send_message", "input": {"text":
                        "“{{result.choice}}” it is. I waited for your answer without anything running, and would have waited through a restart."}}]}
                ]
            },
            {
                "when": {"trigger": "space_message", "sender": "human"},
                "steps": [{"text": "A person wrote; I answer.", "calls": [{"tool": "send_message", "input": {"text":
                    "Hello {{sender}}! Your message is kept, it woke three agents, and you read this while it is being written. \
                     I am played from a script, so that nothing here needs a key. The Librarian speaks when you write an @ before its name; \
                     the Observer read you too, and chose to stay silent. Say something of coffee, and I ask you back with buttons."}}]}]
            }
        ]),
        json!([{
            "name": "ask",
            "description": "Asks the people of the space to choose.",
            "inputSchema": {"type": "object"},
            "execution": {"type": "space", "ui": "buttons", "expiresAfter": "1 day"}
        }]),
    )
}

/// Speaks only when it is spoken of.
fn librarian() -> Value {
    agent(
        "Librarian",
        "Speaks only when somebody names it.",
        json!([{
            "when": {"trigger": "space_message", "sender": "human", "source": "mention"},
            "steps": [{"text": "I was named.", "calls": [{"tool": "send_message", "input": {"text":
                "You named me, {{sender}}, so here I am. It is {{now}}, we are in “{{space}}”, and what you asked was: {{message}}"}}]}]
        }]),
        json!([]),
    )
}

/// Reads everything and says nothing.
fn observer() -> Value {
    agent(
        "Observer",
        "Reads everything and says nothing.",
        json!([{"steps": [{"calls": [{"tool": "skip_response", "input": {"reason": "I only watch."}}]}]}]),
        json!([]),
    )
}

fn agent(name: &str, description: &str, rules: Value, tools: Value) -> Value {
    json!({
        "type": "agent",
        "name": name,
        "agent": {
            "description": description,
            "model": {"provider": "scripted", "name": "demo", "script": {"wordDelayMs": 40, "rules": rules}},
            "tools": tools
        }
    })
}

async fn entity(pipeline: &Pipeline, settings: Value) -> Result<Entity> {
    let settings: EntitySettings = read(settings)?;
    settings.check()?;
    let (now, random) = (pipeline.now(), pipeline.ids.random());
    pipeline.store.create_entity(EntityId::new(now, random), settings, None, now).await
}

fn read<T: serde::de::DeserializeOwned>(value: Value) -> Result<T> {
    serde_json::from_value(value).map_err(|error| Error::Internal(format!("the demo is not well formed: {error}")))
}
