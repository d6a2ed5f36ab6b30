//! A job as it travels through queues and schedules: its JSON with the trace that it belongs to.
//! The trace is part of the body, because a schedule can carry nothing else.

use serde::{Deserialize, Serialize, de::IgnoredAny};
use smartspace_domain::jobs::Job;

use crate::trace::{self, TraceParent};

#[derive(Serialize)]
struct Sealed<'a, J> {
    #[serde(skip_serializing_if = "Option::is_none")]
    traceparent: Option<String>,
    #[serde(flatten)]
    job: &'a J,
}

/// The fields of a job that the log shows, even of a job that can't be read.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Label {
    /// The kind of the job.
    pub job: Option<String>,
    /// The `traceparent` that it was sent with.
    pub traceparent: Option<String>,
    /// Its run.
    pub run_id: Option<String>,
    /// Its space.
    pub space_id: Option<String>,
    /// Its agent.
    pub agent_id: Option<String>,
    #[serde(default)]
    also: Vec<IgnoredAny>,
}

impl Label {
    /// Reads the label of a body. It is empty if the body is not JSON. It names no run and no agent
    /// if the job has several.
    pub fn of(body: &str) -> Self {
        let label: Self = serde_json::from_str(body).unwrap_or_default();
        if label.also.is_empty() {
            return label;
        }
        Self { run_id: None, agent_id: None, also: Vec::new(), ..label }
    }

    /// The trace of the job's work: the one that it was sent with, or a new one.
    pub fn trace(&self) -> TraceParent {
        TraceParent::following(self.traceparent.as_deref())
    }
}

/// The characters that SQS refuses because XML 1.0 has no place for them, and that JSON does not
/// escape by itself. JSON has them in strings only.
const NOT_IN_XML: [(char, &str); 2] = [('\u{fffe}', "\\ufffe"), ('\u{ffff}', "\\uffff")];

/// Writes a job, with the current trace. SQS accepts every character of the text.
pub fn seal<J: Job>(job: &J) -> serde_json::Result<String> {
    let mut body = serde_json::to_string(&Sealed {
        traceparent: trace::current().map(|trace| trace.to_string()),
        job,
    })?;
    for (char, escaped) in NOT_IN_XML {
        if body.contains(char) {
            body = body.replace(char, escaped);
        }
    }
    Ok(body)
}

/// Reads a job.
pub fn open<J: Job>(body: &str) -> serde_json::Result<J> {
    serde_json::from_str(body)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use smartspace_domain::{
        Time,
        events::{Event, EventKind},
        ids::StreamId,
        ids::{EntityId, PlanId, RunId, SpaceId},
        jobs::{BroadcastJob, MessageRef, RunJob, RunRef, TriggerJob},
    };

    use super::*;

    #[tokio::test]
    async fn a_job_and_its_trace_are_read_as_they_were_written() {
        let at = Time::from_millis(1_760_000_000_000);
        let run_id = RunId::new(at, 1);
        let agent_id = EntityId::new(at, 2);
        let space_id = SpaceId::new(at, 3);
        let place = Some(MessageRef { space_id, seq: 7 });
        let run = RunJob::of(RunRef { run_id, agent_id, place, in_lane: false, is_fork: false });
        let trace = TraceParent::begin();
        let body = trace::within(trace.clone(), async { seal(&run).unwrap() }).await;
        assert_eq!(open::<RunJob>(&body).unwrap(), run);
        let label = Label::of(&body);
        let expected = Label {
            job: Some("run.1".into()),
            traceparent: Some(trace.to_string()),
            run_id: Some(run_id.to_string()),
            space_id: Some(space_id.to_string()),
            agent_id: Some(agent_id.to_string()),
            also: Vec::new(),
        };
        assert_eq!(label, expected);
        let several = json!({"job": "run.1", "runId": run_id, "agentId": agent_id, "also": [1]});
        let several = Label::of(&several.to_string());
        assert_eq!(
            (several.job, several.run_id, several.agent_id),
            (label.job.clone(), None, None)
        );
        assert_eq!(label.trace().trace_id(), trace.trace_id());

        let plan = TriggerJob::FirePlan { agent_id, plan_id: PlanId::new(at, 4), at };
        let body = seal(&plan).unwrap();
        assert_eq!(
            (open::<TriggerJob>(&body).unwrap(), Label::of(&body).traceparent),
            (plan, None)
        );
        assert_eq!(Label::of("no JSON"), Label::default());
    }

    #[test]
    fn sqs_accepts_every_character_of_a_body() {
        let text: String =
            ('\0'..='\u{10ffff}').filter(|char| *char < '\u{200}' || *char > '\u{d000}').collect();
        let what = EventKind::StreamDelta {
            stream_id: StreamId::new(Time::default(), 1),
            offset: 0,
            text,
        };
        let space_id = SpaceId::new(Time::default(), 2);
        let event = Event { space_id, at: Time::default(), what };
        let job = BroadcastJob::from(event);
        let body = seal(&job).unwrap();
        // The characters of XML 1.0, as the documentation of SendMessage lists them.
        let is_accepted = |char: char| {
            matches!(char, '\t' | '\n' | '\r' | '\u{20}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}'
                | '\u{10000}'..='\u{10ffff}')
        };
        let refused: Vec<char> = body.chars().filter(|char| !is_accepted(*char)).collect();
        assert_eq!(refused, Vec::<char>::new());
        assert_eq!(open::<BroadcastJob>(&body).unwrap(), job);
    }
}
