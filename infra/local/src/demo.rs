//! The demo space in an empty data folder: a person and three scripted agents that behave
//! differently, so that a newcomer sees agents at work.

mod agents;

use serde_json::{Value, json};
use smartspace_domain::{
    Error, Result,
    entities::{Entity, EntitySettings},
    ids::{EntityId, SpaceId},
    spaces::{Role, SpaceSettings},
};
use smartspace_pipeline::Pipeline;
use smartspace_store::table::pages::Ask;

use self::agents::{guide, librarian, observer};

/// Creates the demo space, unless there are entities already.
pub(crate) async fn create(pipeline: &Pipeline) -> Result<()> {
    let anybody = pipeline.store.entities().list(&Ask { cursor: None, limit: Some(1) }).await?;
    if !anybody.items.is_empty() {
        return Ok(());
    }
    let settings: SpaceSettings = read(json!({"name": "Welcome"}))?;
    let now = pipeline.now();
    let id = SpaceId::new(now, pipeline.ids.random());
    let space = pipeline.store.spaces().create(id, settings, None, now).await?;
    for settings in [json!({"type": "human", "name": "Robin"}), guide(), librarian(), observer()] {
        let member = entity(pipeline, settings).await?;
        pipeline.join(space, &member, Role::Member).await?;
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
