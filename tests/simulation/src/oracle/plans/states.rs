//! The states of one plan, one after the other: each results from a request or from a firing.

use serde_json::{Value, json};
use smartspace_domain::Time;

use crate::oracle::plans::{
    Fired,
    requests::Requests,
    times::{self, time},
};
use crate::{
    ledger::{PlanAction, PlanRequest},
    storage::PlanState,
};

/// When a plan fires next, if it does.
pub(super) fn due(plan: &Value) -> Option<Time> {
    if plan["status"] == "active" { time(&plan["nextRunAt"]) } else { None }
}

/// Everything about one plan.
pub(super) struct History<'a> {
    pub(super) requests: &'a Requests<'a>,
    pub(super) plan: &'a str,
    pub(super) agent: &'a str,
    /// Its runs that no state has explained yet.
    pub(super) fired: Vec<Fired<'a>>,
    /// Times for which it has fired. After the clock has jumped back it may be set to one of them
    /// again, and does not fire a second time.
    pub(super) spent: Vec<Time>,
    /// Violations of promise 7.
    pub(super) found: Vec<String>,
    /// Violations of promise 6.
    pub(super) deep: Vec<String>,
}

impl<'a> History<'a> {
    /// Checks all states.
    pub(super) fn follow(&mut self, noted: &[PlanState]) {
        for (index, state) in noted.iter().enumerate() {
            let before = index.checked_sub(1).and_then(|before| noted[before].plan.as_ref());
            match (before, &state.plan) {
                (None, Some(_)) if index > 0 => {
                    self.found.push("it was deleted, and existed again".into());
                }
                // A change sets `updatedAt`, a firing does not.
                (Some(before), Some(plan)) if before["updatedAt"] == plan["updatedAt"] => {
                    self.fires(before, plan, state.number);
                }
                (before, Some(plan)) => self.is_set(before, plan),
                (Some(before), None) => self.is_gone(before, state),
                (None, None) => {}
            }
        }
    }

    /// The plan fired for all of its times before a new one.
    fn fires(&mut self, before: &Value, plan: &Value, number: u64) {
        let (Some(first), Some(next)) = (due(before), time(&plan["nextRunAt"])) else {
            self.found.push(format!("it fired as {before}, which was not due"));
            return;
        };
        let cron = before["cron"].as_str().unwrap_or_default();
        let mut all: Vec<Time> = vec![first];
        while let Some(last) =
            all.last().map(|last| times::next(cron, *last)).filter(|last| *last < next)
        {
            all.push(last);
        }
        let Some(fired) = self.take(number, |at| (first..next).contains(&at), all.last().copied())
        else {
            if !all.last().is_some_and(|last| self.spent.contains(last)) {
                self.found.push(format!(
                    "it moved from {first} to {next}, but fired for none of these times"
                ));
            }
            return;
        };
        let expected = (all.last().copied(), all.len() as u64 - 1);
        if (Some(fired.scheduled_at), fired.missed) != expected {
            let Fired { run, scheduled_at, missed, .. } = fired;
            self.found.push(format!(
                "{run} fired for {scheduled_at} and {missed} times before it, \
                 but the plan had the times {all:?}"
            ));
        }
        let same = |name: &str| before[name] == plan[name];
        let others = ["name", "instruction", "type", "cron", "timezone", "status", "chainDepth"];
        if !others.into_iter().all(same) || time(&plan["lastRunAt"]) < Some(fired.scheduled_at) {
            self.found.push(format!("it was {before}, fired, and then was {plan}"));
        }
        self.check_depth(&fired, before);
    }

    /// The plan was made or changed by a request.
    fn is_set(&mut self, before: Option<&Value>, plan: &Value) {
        let name = plan["name"].as_str().unwrap_or_default();
        let wanted = match (self.requests.by_name.get(name), self.requests.by_call.get(name)) {
            (Some(asked), _) if asked.action == PlanAction::Change || before.is_none() => {
                Some((&asked.body, 0))
            }
            (None, Some((body, depth))) if before.is_none() => Some((body, *depth)),
            _ => None,
        };
        let Some((body, depth)) = wanted else {
            self.found.push(format!("nobody asked for {plan}; it was {before:?}"));
            return;
        };
        let Some(expected) = set(before, body, plan) else {
            self.found.push(format!("it is {plan}, which does not follow from {body}"));
            return;
        };
        let stored: Value = expected
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, _)| (name.clone(), plan[name].clone()))
            .collect();
        if stored != expected {
            self.found.push(format!(
                "it was {before:?}, {body} was requested, and it is {stored} instead of {expected}"
            ));
        }
        let deepest =
            before.map_or(0, |before| before["chainDepth"].as_u64().unwrap_or(0)).max(depth);
        if plan["chainDepth"] != if plan["type"] == "cron" { 0 } else { deepest } {
            self.deep.push(format!(
                "it is {} deep, but the run that set it {depth}",
                plan["chainDepth"]
            ));
        }
    }

    /// The plan fired for its only time, or was deleted.
    fn is_gone(&mut self, before: &Value, state: &PlanState) {
        let at = due(before).filter(|_| before["type"] == "once");
        if let Some(fired) = self.take(state.number, |time| Some(time) == at, at) {
            if fired.missed != 0 {
                self.found.push(format!(
                    "{} reports {} missed times of a one-time plan",
                    fired.run, fired.missed
                ));
            }
            self.check_depth(&fired, before);
            return;
        }
        let deletes = |asked: &PlanRequest| {
            asked.action == PlanAction::Drop
                && asked.plan.as_deref() == Some(self.plan)
                && asked.sent <= state.at
        };
        if at.is_some_and(|at| self.spent.contains(&at)) {
            return;
        }
        let by_call = self.requests.dropped_by_call.iter().any(|plan| plan == self.plan);
        if !by_call
            && !self.requests.all.iter().any(deletes)
            && !self.requests.retired.contains(self.agent)
        {
            self.found
                .push(format!("it is gone, but nobody deleted it and it did not fire for {at:?}"));
        }
    }

    /// Removes a run that was created up to a write: one that fired for one of these times, or else
    /// one that was run by hand at the last of them.
    fn take(
        &mut self,
        number: u64,
        is_one: impl Fn(Time) -> bool,
        last: Option<Time>,
    ) -> Option<Fired<'a>> {
        let candidates =
            || self.fired.iter().enumerate().filter(|(_, fired)| fired.created.1 <= number);
        let by_itself =
            candidates().find(|(_, fired)| !fired.by_hand && is_one(fired.scheduled_at));
        let (place, _) = by_itself.or_else(|| {
            candidates().find(|(_, fired)| fired.by_hand && Some(fired.scheduled_at) == last)
        })?;
        let fired = self.fired.remove(place);
        self.spent.push(fired.scheduled_at);
        Some(fired)
    }

    fn check_depth(&mut self, fired: &Fired<'_>, plan: &Value) {
        if !fired.by_hand && fired.stored["chainDepth"] != plan["chainDepth"] {
            self.deep.push(format!(
                "{} is {} deep, but its plan {}",
                fired.run, fired.stored["chainDepth"], plan["chainDepth"]
            ));
        }
    }
}

/// The plan that a request makes of another one, or of nothing. `plan` says when.
fn set(before: Option<&Value>, body: &Value, plan: &Value) -> Option<Value> {
    let at = time(&plan["updatedAt"])?;
    let or_before = |name: &str| {
        if body[name].is_null() {
            before.map(|before| before[name].clone()).unwrap_or_default()
        } else {
            body[name].clone()
        }
    };
    let status = if body["status"].is_null() {
        before.map_or(json!("active"), |before| before["status"].clone())
    } else {
        body["status"].clone()
    };
    let mut expected =
        json!({"name": body["name"], "instruction": or_before("instruction"), "status": status});
    let is_active = status == "active";
    let once =
        time(&body["scheduledAt"]).or_else(|| Some(at + times::run_after(&body["runAfter"])?));
    let cron =
        body["cron"].as_str().or_else(|| before?["cron"].as_str().filter(|_| once.is_none()));
    if let Some(cron) = cron {
        let known = before.filter(|_| body["cron"].is_null()).and_then(due);
        expected["type"] = json!("cron");
        expected["cron"] = json!(cron);
        expected["nextRunAt"] = if is_active {
            json!(known.unwrap_or_else(|| times::next(cron, at)))
        } else {
            Value::Null
        };
    } else {
        expected["type"] = json!("once");
        expected["nextRunAt"] = json!(once.or_else(|| time(&before?["nextRunAt"]))?);
    }
    Some(expected)
}
