//! The items of an agent that a prompt reads.

use smartspace_domain::{
    entities::Entity,
    goals::Goal,
    ids::{EntityId, SpaceId},
    memories::Memory,
    plans::Plan,
};

use crate::{
    AgentState, Result,
    agents::plans::PlanRecord,
    entities::EntityRecord,
    runs::ActiveRecord,
    table::{Query, key_of, keys, read},
};

/// The part of an agent that a prompt shows.
#[derive(Clone, Debug, Default)]
pub struct AgentContext {
    /// The agent, unless it is retired.
    pub agent: Option<Entity>,
    /// The spaces that it is a member of, by id.
    pub spaces: Vec<SpaceId>,
    /// Its active runs, by age.
    pub active: Vec<ActiveRecord>,
    /// Its memories, by key.
    pub memories: Vec<Memory>,
    /// Its goals, by id.
    pub goals: Vec<Goal>,
    /// Its plans, by age.
    pub plans: Vec<Plan>,
}

impl AgentState<'_> {
    /// Everything that a prompt needs to know about an agent, in one read.
    pub async fn context(self, id: EntityId) -> Result<AgentContext> {
        let (first, last) = keys::CONTEXT;
        let items = self.store.table.all(Query::of(keys::entity(id)).between(first, last)).await?;
        let mut context = AgentContext::default();
        for item in items {
            let key = key_of(&item)?;
            if key.sk == last {
                let record: EntityRecord = read(item)?;
                context.agent = Some(record)
                    .filter(|record| record.retired_at.is_none())
                    .map(|record| record.entity);
            } else if let Some(space) = key.sk.strip_prefix(keys::AGENT_SPACE) {
                context.spaces.extend(space.parse::<SpaceId>());
            } else if key.sk.starts_with(keys::ACTIVE_RUN) {
                context.active.push(read(item)?);
            } else if key.sk.starts_with(keys::MEMORY) {
                context.memories.push(read(item)?);
            } else if key.sk.starts_with(keys::GOAL) {
                context.goals.push(read(item)?);
            } else if key.sk.starts_with(keys::PLAN) {
                context.plans.push(read::<PlanRecord>(item)?.plan);
            }
        }
        Ok(context)
    }
}
