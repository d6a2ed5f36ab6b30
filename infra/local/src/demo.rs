//! The demo in an empty data folder: a person and scripted agents in two spaces, so that a newcomer
//! sees agents at work.

mod help_desk;
mod welcome;

use serde_json::{Value, json};
use smartspace_domain::{
    Error, Result,
    entities::{Entity, EntitySettings},
    ids::{EntityId, SpaceId},
    spaces::{Role, SpaceSettings},
};
use smartspace_pipeline::Pipeline;
use smartspace_store::table::pages::Ask;

/// Creates the demo spaces, unless there are entities already.
pub(crate) async fn create(pipeline: &Pipeline) -> Result<()> {
    let anybody = pipeline.store.entities().list(&Ask { cursor: None, limit: Some(1) }).await?;
    if !anybody.items.is_empty() {
        return Ok(());
    }
    let robin = entity(pipeline, json!({"type": "human", "name": "Robin"})).await?;
    space(pipeline, welcome::space(), &robin, welcome::agents()).await?;
    space(pipeline, help_desk::space(), &robin, help_desk::agents()).await
}

/// Creates a space with a person and new agents.
async fn space(
    pipeline: &Pipeline,
    settings: Value,
    person: &Entity,
    agents: Vec<Value>,
) -> Result<()> {
    let settings: SpaceSettings = read(settings)?;
    settings.check(None)?;
    let now = pipeline.now();
    let id = SpaceId::new(now, pipeline.ids.random());
    let space = pipeline.store.spaces().create(id, settings, None, now).await?;
    pipeline.join(space, person, Role::Member).await?;
    for settings in agents {
        let agent = entity(pipeline, settings).await?;
        pipeline.join(space, &agent, Role::Member).await?;
    }
    Ok(())
}

async fn entity(pipeline: &Pipeline, settings: Value) -> Result<Entity> {
    let settings: EntitySettings = read(settings)?;
    settings.check()?;
    let now = pipeline.now();
    let id = EntityId::new(now, pipeline.ids.random());
    pipeline.store.entities().create(id, settings, None, now).await
}

fn read<T: serde::de::DeserializeOwned>(value: Value) -> Result<T> {
    serde_json::from_value(value)
        .map_err(|error| Error::Internal(format!("the demo is not valid: {error}")))
}

/// The settings of a scripted agent.
fn agent(name: &str, description: &str, rules: Value, tools: Value) -> Value {
    json!({
        "type": "agent",
        "name": name,
        "agent": {
            "description": description,
            "model": {
                "provider": "scripted",
                "name": "demo",
                "script": {"wordDelayMs": 40, "rules": rules}
            },
            "tools": tools
        }
    })
}
