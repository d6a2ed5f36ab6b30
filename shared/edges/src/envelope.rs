//! A job as it travels through queues and schedules: its JSON, and beside it the trace that it belongs to. What can only carry a body, such as a schedule,
//! carries it too.

use serde::{Deserialize, Serialize};
use smartspace_domain::jobs::Job;

use crate::trace::{self, TraceParent};

/// What is written.
#[derive(Serialize)]
struct Sealed<'a, J> {
    #[serde(skip_serializing_if = "Option::is_none")]
    traceparent: Option<String>,
    #[serde(flatten)]
    job: &'a J,
}

/// What is said of a job without knowing it: for the log, also of a job that can't be read.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Label {
    /// What kind of job.
    pub job: Option<String>,
    /// Its trace, as it was sent.
    pub traceparent: Option<String>,
    /// The run that it is about.
    pub run_id: Option<String>,
    /// The space.
    pub space_id: Option<String>,
    /// The agent.
    pub agent_id: Option<String>,
}

impl Label {
    /// Of a body. Empty for what is none.
    pub fn of(body: &str) -> Self {
        serde_json::from_str(body).unwrap_or_default()
    }

    /// The trace that the job's work belongs to: the one that it came with, a step on, or one of its own.
    pub fn trace(&self) -> TraceParent {
        TraceParent::following(self.traceparent.as_deref())
    }
}

/// Writes a job, with the current trace.
pub fn seal<J: Job>(job: &J) -> serde_json::Result<String> {
    serde_json::to_string(&Sealed { traceparent: trace::current().map(|trace| trace.to_string()), job })
}

/// Reads a job.
pub fn open<J: Job>(body: &str) -> serde_json::Result<J> {
    serde_json::from_str(body)
}

#[cfg(test)]
mod tests {
    use smartspace_domain::{
        Time,
        ids::{EntityId, PlanId, RunId, SpaceId},
        jobs::{Place, RunJob, TriggerJob},
    };

    use super::*;

    #[tokio::test]
    async fn a_job_comes_out_as_it_went_in_and_its_trace_beside_it() {
        let at = Time::from_millis(1_760_000_000_000);
        let (run_id, agent_id, space_id) = (RunId::new(at, 1), EntityId::new(at, 2), SpaceId::new(at, 3));
        let run = RunJob::Run { run_id, agent_id, place: Some(Place { space_id, seq: 7 }) };
        let trace = TraceParent::begin();
        let body = trace::within(trace.clone(), async { seal(&run).unwrap() }).await;
        assert_eq!(open::<RunJob>(&body).unwrap(), run);
        let label = Label::of(&body);
        let said = Label {
            job: Some("run.1".into()),
            traceparent: Some(trace.to_string()),
            run_id: Some(run_id.to_string()),
            space_id: Some(space_id.to_string()),
            agent_id: Some(agent_id.to_string()),
        };
        assert_eq!(label, said);
        assert_eq!(label.trace().trace_id(), trace.trace_id());

        let plan = TriggerJob::FirePlan { agent_id, plan_id: PlanId::new(at, 4), at };
        let body = seal(&plan).unwrap();
        assert_eq!((open::<TriggerJob>(&body).unwrap(), Label::of(&body).traceparent), (plan, None));
        assert_eq!(Label::of("no JSON"), Label::default());
    }
}
