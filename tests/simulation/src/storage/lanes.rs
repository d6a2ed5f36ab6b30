//! Which runs work at the same time: over all spaces, and in the lane of an agent in a space.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// A run that is queued or works.
#[derive(Clone, Debug)]
struct Active {
    agent: String,
    lane: Option<String>,
    seq: u64,
    works: bool,
    has_worked: bool,
}

/// The runs that are queued or work.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    active: BTreeMap<String, Active>,
    /// The most runs of each agent that worked at the same time.
    pub(super) most: BTreeMap<String, usize>,
    /// What went wrong in lanes.
    pub(super) found: BTreeSet<String>,
}

impl Lanes {
    /// Looks at a run after a write that may have changed its status.
    pub(super) fn note(&mut self, run: &Value) {
        let text = |name: &str| run[name].as_str().unwrap_or_default().to_owned();
        // A fork takes no turn.
        if !run["forkOf"].is_null() {
            return;
        }
        let id = text("id");
        let works = run["status"] == "running";
        let is_active = works || run["status"] == "queued" || run["status"] == "waiting_tool";
        let Some(before) = self.active.get(&id).cloned() else {
            if is_active {
                let lane = (run["inLane"] == true).then(|| text("spaceId"));
                let seq = run["seq"].as_u64().unwrap_or(0);
                let active = Active { agent: text("agentId"), lane, seq, works, has_worked: works };
                self.active.insert(id, active);
            }
            return;
        };
        if !is_active {
            self.active.remove(&id);
            return;
        }
        let seq = run["seq"].as_u64().unwrap_or(0);
        let now = Active { works, seq, has_worked: before.has_worked || works, ..before.clone() };
        if works && !before.works {
            self.begins(&id, &now, before.has_worked);
        }
        self.active.insert(id, now);
    }

    fn begins(&mut self, id: &str, run: &Active, has_worked: bool) {
        let others =
            || self.active.iter().filter(|(other, it)| *other != id && it.agent == run.agent);
        let most = 1 + others().filter(|(_, it)| it.works).count();
        let known = self.most.get(&run.agent).copied().unwrap_or(0);
        let mut found = Vec::new();
        for (other, it) in others().filter(|(_, it)| run.lane.is_some() && it.lane == run.lane) {
            if it.works {
                found.push(format!("{id} works while {other} works in the same lane"));
            }
            if !has_worked && !it.has_worked && it.seq < run.seq {
                found.push(format!("{id} starts before {other}, whose message is older"));
            }
        }
        self.found.extend(found);
        self.most.insert(run.agent.clone(), most.max(known));
    }
}
