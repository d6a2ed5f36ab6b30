//! The goals of agents. [`crate::agents::state`] describes how changes are stored.

use std::collections::{BTreeMap, BTreeSet};

use smartspace_domain::{
    Time,
    goals::{Goal, GoalChange},
    ids::EntityId,
    limits,
    memories::MemoryKey,
};

use crate::{
    Error, Goals, Result,
    agents::state::{Change, ChangedBy, Counts, Reads, set_write},
    table::{
        keys,
        pages::{Page, PageRequest},
    },
};

/// A goal to be created or changed.
#[derive(Clone, Debug)]
pub struct SetGoal {
    /// Its id. [`GoalChange::apply`] checks it.
    pub id: String,
    pub change: GoalChange,
    /// The JSON pointer to it in the input. Errors point below it.
    pub pointer: String,
}

impl Goals<'_> {
    /// All goals of an agent, by id.
    pub async fn all(self, agent: EntityId) -> Result<Vec<Goal>> {
        self.store.agent_state().all(agent, keys::GOAL).await
    }

    /// A page of an agent's goals, by id.
    pub async fn list(self, agent: EntityId, request: &PageRequest) -> Result<Page<Goal>> {
        self.store.agent_state().page(agent, keys::GOAL, request).await
    }

    /// Creates and changes goals, at most [`limits::CHANGES_AT_ONCE`], one after the other. Of two
    /// with the same id, the last one wins. Returns the goals as they are afterwards, by id.
    ///
    /// Fails with [`Error::Invalid`] if a goal is invalid, and with [`Error::Conflict`] if the
    /// agent would have too many.
    pub async fn set(
        self,
        agent: EntityId,
        set: &[SetGoal],
        by: &ChangedBy<Goal>,
        now: Time,
    ) -> Result<Vec<Goal>> {
        let ids: BTreeSet<_> = set.iter().map(|goal| goal.id.as_str()).collect();
        let item_keys: Vec<_> = ids.iter().map(|id| keys::goal(agent, id)).collect();
        self.store
            .agent_state()
            .change(agent, Reads::Items(&item_keys), by, |mut items, counts| {
                let mut stored: BTreeMap<&str, Goal> = BTreeMap::new();
                for (id, item_key) in ids.iter().zip(&item_keys) {
                    stored.extend(items.take(item_key)?.map(|goal| (*id, goal)));
                }
                let mut made = stored.clone();
                let new = ids.len() - made.len();
                for SetGoal { id, change, pointer } in set {
                    let before = made.remove(id.as_str());
                    made.insert(id, change.clone().apply(id, before, now, pointer)?);
                }
                let goals = counts.goals + new;
                if new > 0 && goals > limits::GOALS {
                    return Err(too_many_goals(counts.goals, new));
                }
                let made: Vec<_> = made.into_values().collect();
                let mut writes = Vec::with_capacity(made.len());
                for goal in &made {
                    let item_key = keys::goal(agent, &goal.id);
                    writes.extend(set_write(item_key, stored.get(goal.id.as_str()), goal)?);
                }
                Ok(Change { writes, counts: Counts { goals, ..counts }, made })
            })
            .await
    }

    /// Deletes the goals with these ids, at most [`limits::CHANGES_AT_ONCE`]. Returns the ids of
    /// those that existed.
    pub async fn delete(
        self,
        agent: EntityId,
        unwanted: &BTreeSet<MemoryKey>,
        by: &ChangedBy<String>,
    ) -> Result<Vec<String>> {
        let item_keys: Vec<_> = unwanted.iter().map(|id| keys::goal(agent, id.as_str())).collect();
        let name = |goal: Goal| goal.id;
        let left = |counts: Counts, deleted| Counts {
            goals: counts.goals.saturating_sub(deleted),
            ..counts
        };
        self.store.agent_state().delete(agent, &item_keys, by, name, left).await
    }
}

fn too_many_goals(existing: usize, new: usize) -> Error {
    Error::Conflict(format!(
        "an agent has at most {} goals, this one has {existing}, and {new} would be new; delete \
         some first, or change existing ones",
        limits::GOALS
    ))
}
