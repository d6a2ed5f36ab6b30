//! The items of an agent that a prompt reads.

use smartspace_domain::{
    entities::Entity,
    goals::Goal,
    ids::{EntityId, RunId, SpaceId},
    limits,
    memories::Memory,
    plans::Plan,
};

use crate::{
    AgentState, Result,
    agents::plans::PlanRecord,
    entities::EntityRecord,
    runs::ActiveRecord,
    table::{Query, key_of, keys, read, write::Item},
};

/// How many items of a context are read first. Most agents have fewer.
const FIRST_READ: usize = 100;
/// How many items are read next. All memories, goals, plans and spaces of an agent fit into it.
const NEXT_READ: usize = 800;

/// The part of an agent that a prompt shows.
#[derive(Clone, Debug, Default)]
pub struct AgentContext {
    /// The agent, unless it is retired.
    pub agent: Option<Entity>,
    /// The spaces that it is a member of, by id.
    pub spaces: Vec<SpaceId>,
    /// Its newest active runs, at most [`limits::ACTIVE_RUNS_READ`], by age. Also the run that
    /// asks.
    pub active: Vec<ActiveRecord>,
    pub memories: Vec<Memory>,
    pub goals: Vec<Goal>,
    pub plans: Vec<Plan>,
}

impl AgentState<'_> {
    /// Everything that the prompt of `run` needs to know about an agent, for most agents in one
    /// read. Of the active runs only the newest are read, because their number has no limit.
    pub async fn context(self, id: EntityId, run: RunId) -> Result<AgentContext> {
        let last = keys::CONTEXT.1;
        let mut context = AgentContext::default();
        for item in self.newest_items(id).await? {
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
        let older = context.active.len().saturating_sub(limits::ACTIVE_RUNS_READ);
        context.active.drain(..older);
        // A run that waited for people may be older than the newest ones.
        let is_missing = !context.active.iter().any(|active| active.run_id == run);
        if is_missing && context.active.len() == limits::ACTIVE_RUNS_READ {
            context.active.extend(self.store.table.get(&keys::active_run(id, run)).await?);
        }
        Ok(context)
    }

    /// The items of the context, by key. They are read backwards, until there are enough active
    /// runs.
    async fn newest_items(self, id: EntityId) -> Result<Vec<Item>> {
        let (first, last) = keys::CONTEXT;
        let query = Query::of(keys::entity(id)).between(first, last).newest_first();
        let mut items: Vec<Item> = Vec::new();
        let mut active = 0;
        let mut page = self.store.table.page(query.clone().limit(FIRST_READ)).await?;
        loop {
            for item in &page.items {
                active += usize::from(key_of(item)?.sk.starts_with(keys::ACTIVE_RUN));
            }
            items.append(&mut page.items);
            if page.next.is_none() || active >= limits::ACTIVE_RUNS_READ {
                items.reverse();
                return Ok(items);
            }
            page = self.store.table.page(query.clone().limit(NEXT_READ).after(page.next)).await?;
        }
    }

    /// All active runs of an agent, by age.
    pub async fn active(self, id: EntityId) -> Result<Vec<ActiveRecord>> {
        read_all(self.store.table.all(active_runs(id)).await?)
    }

    /// The spaces that an agent is a member of, by id.
    pub async fn spaces(self, id: EntityId) -> Result<Vec<SpaceId>> {
        let query = Query::of(keys::entity(id)).begins_with(keys::AGENT_SPACE);
        let items = self.store.table.all(query).await?;
        let keys = items.iter().map(key_of).collect::<Result<Vec<_>>>()?;
        Ok(keys
            .iter()
            .filter_map(|key| key.sk.strip_prefix(keys::AGENT_SPACE)?.parse().ok())
            .collect())
    }
}

fn active_runs(id: EntityId) -> Query {
    Query::of(keys::entity(id)).begins_with(keys::ACTIVE_RUN)
}

fn read_all(items: Vec<Item>) -> Result<Vec<ActiveRecord>> {
    items.into_iter().map(read).collect()
}
