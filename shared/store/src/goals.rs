//! What agents work towards. How a change of it is kept stands in [`crate::kept`].

use std::collections::{BTreeMap, BTreeSet};

use smartspace_domain::{
    Time,
    goals::{Goal, GoalChange},
    ids::EntityId,
    limits,
};

use crate::{
    Error, Result, Store,
    kept::{By, Change, Counts, Reads},
    keys,
    pages::{Ask, Page},
    write::Write,
};

/// A goal that is to be made or changed.
#[derive(Clone, Debug)]
pub struct SetGoal {
    /// Its id, at most 128 characters.
    pub id: String,
    /// How it is to be.
    pub change: GoalChange,
    /// Where it stands in the input, a JSON pointer: faults are told below it.
    pub pointer: String,
}

impl Store {
    /// A page of an agent's goals, by id.
    pub async fn goals(&self, agent: EntityId, ask: &Ask) -> Result<Page<Goal>> {
        self.kept_page(agent, keys::GOAL, ask).await
    }

    /// Makes and changes goals, at most [`limits::KEPT_AT_ONCE`], one after the other: of two with one id the last one wins. Gives each as it
    /// is then, by id. [`Error::Invalid`] where one is not right, [`Error::Conflict`] where there would be too many.
    pub async fn set_goals(&self, agent: EntityId, set: &[SetGoal], by: &By<Goal>, now: Time) -> Result<Vec<Goal>> {
        let ids: BTreeSet<_> = set.iter().map(|goal| goal.id.as_str()).collect();
        let places: Vec<_> = ids.iter().map(|id| keys::goal(agent, id)).collect();
        self.change_kept(agent, Reads::Places(&places), by, |mut items, counts| {
            let mut made: BTreeMap<&str, Goal> = BTreeMap::new();
            for (id, place) in ids.iter().zip(&places) {
                made.extend(items.take(place)?.map(|goal| (*id, goal)));
            }
            let new = ids.len() - made.len();
            for SetGoal { id, change, pointer } in set {
                let before = made.remove(id.as_str());
                made.insert(id, change.clone().apply(id, before, now, pointer)?);
            }
            let goals = counts.goals + new;
            if new > 0 && goals > limits::GOALS {
                let (most, there) = (limits::GOALS, counts.goals);
                return Err(Error::Conflict(format!(
                    "an agent has at most {most} goals, this one has {there}, and {new} would be new; delete some first, or change those that are there"
                )));
            }
            let made: Vec<_> = made.into_values().collect();
            let writes = made.iter().map(|goal| Write::put(keys::goal(agent, &goal.id), goal));
            Ok(Change { writes: writes.collect::<Result<_>>()?, counts: Counts { goals, ..counts }, made })
        })
        .await
    }

    /// Drops the goals with these ids, at most [`limits::KEPT_AT_ONCE`]. Gives those that were there.
    pub async fn delete_goals(&self, agent: EntityId, unwanted: &BTreeSet<String>, by: &By<String>) -> Result<Vec<String>> {
        let places: Vec<_> = unwanted.iter().map(|id| keys::goal(agent, id)).collect();
        self.change_kept(agent, Reads::Places(&places), by, |mut items, counts| {
            let (mut writes, mut made) = (Vec::new(), Vec::new());
            for place in &places {
                if let Some(goal) = items.take::<Goal>(place)? {
                    writes.push(Write::delete(place.clone()));
                    made.push(goal.id);
                }
            }
            let goals = counts.goals.saturating_sub(made.len());
            Ok(Change { writes, counts: Counts { goals, ..counts }, made })
        })
        .await
    }
}
