//! The parts of creating a space: reads the request, checks the members, and finishes a creation
//! that was interrupted.

use std::collections::BTreeSet;

use futures::future::try_join_all;
use serde_json::{Map, Value};
use smartspace_domain::{
    Error, Result,
    access::{Caller, SpaceAction},
    entities::{Entity, EntityType},
    ids::{EntityId, SpaceId},
    limits, mentions,
    request_json::{merged, shaped},
    spaces::{Role, Space, SpaceSettings, naming_members},
};
use smartspace_store::Store;

use crate::{
    Api,
    answers::{ApiResult, Created, gone},
    input::Body,
};

/// The entities with these ids.
pub(super) async fn existing(store: &Store, members: &[EntityId]) -> Result<Vec<Entity>> {
    try_join_all(members.iter().enumerate().map(async |(index, id)| {
        match store.entities().get(*id).await {
            Err(Error::NotFound(_)) => {
                Err(Error::invalid(format!("/members/{index}"), format!("there is no entity {id}")))
            }
            found => found,
        }
    }))
    .await
}

/// Checks that the caller may add these members, that their names are unique, and that the admin is
/// one of them.
pub(super) fn check_members(
    caller: Caller,
    settings: &SpaceSettings,
    members: &[Entity],
) -> Result<()> {
    for member in members {
        if Caller::Entity(member.id) != caller {
            caller.may_bring_in(member)?;
        }
    }
    let mut names: Vec<_> = members
        .iter()
        .filter(|member| member.kind == EntityType::Agent)
        .map(|member| mentions::fold(&member.name))
        .collect();
    names.sort();
    if let Some([name, _]) = names.array_windows().find(|[one, other]| one == other) {
        return Err(Error::Conflict(format!(
            "two of the agents are named {name:?}; names of agents are unique within a space"
        )));
    }
    if let Some(admin) = settings.admin_agent_id
        && !members.iter().any(|member| member.id == admin && member.kind == EntityType::Agent)
    {
        return Err(Error::invalid("/adminAgentId", "expected an agent among the members"));
    }
    Ok(())
}

/// The creator of a space is its owner.
pub(super) fn role_of(caller: Caller, member: EntityId) -> Role {
    if caller == Caller::Entity(member) { Role::Owner } else { Role::Member }
}

/// Deletes a space that a member can't join any longer, and returns the error to answer with. If
/// the error is passing, the space stays: the caller repeats the request with its key and finds it.
pub(super) async fn given_up(api: &Api, id: SpaceId, error: Error) -> Error {
    if error.is_passing() {
        return error;
    }
    api.pipeline.delete_space(id).await.err().unwrap_or(error)
}

/// The space that the same key created before. If the first request was cut off, the members that
/// never joined join now.
pub(super) async fn finished(
    api: &Api,
    caller: Caller,
    id: SpaceId,
    members: &[EntityId],
) -> ApiResult<Created<Space>> {
    let store = &api.pipeline.store;
    store.spaces().record(id).await.map_err(gone)?;
    let missing = try_join_all(members.iter().map(|member| missing(store, id, *member))).await?;
    let missing: Vec<_> = missing.into_iter().flatten().collect();
    try_join_all(missing.iter().map(|member| store.members().has_room_for_a_space(member))).await?;
    api.pipeline.join_many(id, &missing, |member| role_of(caller, member)).await.map_err(gone)?;
    // A caller that has left the space since must not see it.
    api.pipeline.authorise(caller, SpaceAction::Read, id).await?;
    Ok(Created {
        location: format!("/v1/spaces/{id}"),
        made: store.spaces().seen_by(id, caller).await?,
    })
}

/// An entity that never joined the space. Returns `None` if it was a member or no longer exists.
async fn missing(store: &Store, space: SpaceId, member: EntityId) -> Result<Option<Entity>> {
    if store.members().was_member(space, member).await? {
        return Ok(None);
    }
    match store.entities().get(member).await {
        Ok(member) => Ok(Some(member)),
        Err(Error::NotFound(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// What a request to create a space asks for.
pub(super) struct NewSpaceRequest {
    /// The settings as they were written.
    pub(super) written: Map<String, Value>,
    pub(super) settings: SpaceSettings,
    pub(super) members: Vec<EntityId>,
}

/// Reads `{name, members?: [id], …}`. The creator becomes the first member. As in a change, null
/// stands for the default.
pub(super) fn new_space(body: &Body, caller: Caller) -> Result<NewSpaceRequest> {
    let mut object = body.object()?;
    let members = object.remove("members").unwrap_or_else(|| Value::Array(Vec::new()));
    let mut members: Vec<EntityId> = shaped(members).map_err(|error| error.within("/members"))?;
    let nothing = Value::Object(Map::new());
    let settings: SpaceSettings = merged(nothing, &object).map_err(naming_members)?;
    settings.check(None)?;
    let mut seen = BTreeSet::new();
    if let Caller::Entity(own) = caller {
        members.insert(0, own);
    }
    members.retain(|member| seen.insert(*member));
    if members.len() > limits::MEMBERS {
        return Err(Error::invalid(
            "/members",
            format!("expected at most {} members", limits::MEMBERS),
        ));
    }
    Ok(NewSpaceRequest { written: object, settings, members })
}
