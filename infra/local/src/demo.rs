//! The demo in an empty data folder: a person and scripted agents in two spaces, one of them with a
//! plan, so that a newcomer sees agents at work.

mod help_desk;
mod welcome;

use serde_json::{Value, json};
use smartspace_domain::{
    Error, Result,
    entities::{Entity, EntitySettings},
    ids::{EntityId, PlanId, SpaceId},
    spaces::{Role, SpaceSettings},
};
use smartspace_pipeline::Pipeline;
use smartspace_store::{
    agents::{plans::SetPlan, state::ChangedBy},
    table::pages::PageRequest,
};

/// Creates the demo spaces, unless there are entities already.
pub(crate) async fn create(pipeline: &Pipeline) -> Result<()> {
    let anybody =
        pipeline.store.entities().list(&PageRequest { cursor: None, limit: Some(1) }).await?;
    if !anybody.items.is_empty() {
        return Ok(());
    }
    let robin = entity(pipeline, json!({"type": "human", "name": "Robin"})).await?;
    space(pipeline, welcome::space(), &robin, welcome::agents).await?;
    space(pipeline, help_desk::space(), &robin, |_| help_desk::agents()).await
}

/// Creates a space with a person and new agents.
async fn space(
    pipeline: &Pipeline,
    settings: Value,
    person: &Entity,
    agents: impl FnOnce(SpaceId) -> Vec<Value>,
) -> Result<()> {
    let settings: SpaceSettings = read(settings)?;
    settings.check(None)?;
    let now = pipeline.now();
    let id = SpaceId::new(now, pipeline.ids.random());
    let space = pipeline.store.spaces().create(id, settings, None, now).await?;
    pipeline.join(space, person, Role::Member).await?;
    for mut settings in agents(id) {
        let plan = settings.as_object_mut().and_then(|it| it.remove("plan"));
        let agent = entity(pipeline, settings).await?;
        pipeline.join(space, &agent, Role::Member).await?;
        if let Some(plan) = plan {
            set_plan(pipeline, &agent, plan).await?;
        }
    }
    Ok(())
}

async fn set_plan(pipeline: &Pipeline, agent: &Entity, plan: Value) -> Result<()> {
    let plan = SetPlan {
        id: PlanId::new(pipeline.now(), pipeline.ids.random()),
        known: false,
        change: read(plan)?,
        chain_depth: 0,
        max_chain_depth: agent.agent.as_ref().map_or(0, |config| config.max_chain_depth),
        pointer: String::new(),
    };
    let by = ChangedBy::Request(pipeline.token());
    pipeline.set_plans(agent.id, &[plan], &by).await?;
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
