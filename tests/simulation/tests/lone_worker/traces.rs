//! Exports of traces to a collector that does not answer, refuses, or takes them.

use std::sync::Mutex;

use smartspace_ports::{
    alarms::Alarms,
    otlp::{ExportError, OtlpSettings, TraceExporter},
};
use smartspace_trigger::traces::Traces;

use super::*;

const TRACE: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

/// Answers with these results, and keeps what it gets.
struct Collector {
    results: Mutex<Vec<Result<(), ExportError>>>,
    got: Mutex<Vec<String>>,
}

#[async_trait]
impl TraceExporter for Collector {
    async fn export(&self, traces: String) -> Result<(), ExportError> {
        self.got.lock().unwrap().push(traces);
        self.results.lock().unwrap().pop().unwrap_or(Ok(()))
    }
}

/// Keeps the alarms that are set.
#[derive(Default)]
struct KeptAlarms(Mutex<Vec<(Time, TriggerJob)>>);

#[async_trait]
impl Alarms for KeptAlarms {
    async fn set(&self, at: Time, job: TriggerJob) {
        self.0.lock().unwrap().push((at, job));
    }
}

/// The function `trigger` beside a collector, and a run with this trace.
async fn exporting(
    trace: Option<&str>,
    results: Vec<Result<(), ExportError>>,
) -> (Triggers, Arc<Collector>, Arc<KeptAlarms>, RunId) {
    let agent = EntityId::new(start(), 1);
    let space = SpaceId::new(start(), 3);
    let scene = Scene::new(Box::pin(store_with_history(space, agent)).await);
    let triggered_by =
        TriggeredBy::Plan { plan_id: PlanId::new(start(), 2), scheduled_at: start() };
    let mut run = RunRecord::queued(RunId::new(start(), 4), agent, triggered_by, 0, start());
    run.trace = trace.map(str::to_owned);
    let active = ActiveRecord::new(&run, ActiveCause::Plan { plan_name: "Report".into() });
    let runs = scene.pipeline.store.runs();
    runs.create(&run, &active, ConcurrencyMode::Parallel, None, start()).await.unwrap();
    let collector = Arc::new(Collector { results: Mutex::new(results), got: Mutex::default() });
    let alarms = Arc::new(KeptAlarms::default());
    let endpoint =
        |name: &str| (name == "OTEL_EXPORTER_OTLP_ENDPOINT").then(|| "http://a.test".into());
    let settings = OtlpSettings::read(endpoint).unwrap().unwrap();
    let triggers = Triggers {
        pipeline: Pipeline { alarms: alarms.clone(), ..scene.pipeline.clone() },
        routers: routers(),
        traces: Some(Traces::new(collector.clone(), &settings)),
    };
    (triggers, collector, alarms, run.id)
}

fn refusal(may_pass: bool) -> Result<(), ExportError> {
    Err(ExportError { text: "not now".into(), may_pass })
}

#[tokio::test(start_paused = true)]
async fn an_export_that_fails_is_tried_four_times_more() {
    let (triggers, collector, alarms, run_id) =
        exporting(Some(TRACE), vec![refusal(true); 6]).await;
    let mut job = TriggerJob::ExportTrace { run_id, failed: 0 };
    let mut waits = Vec::new();
    loop {
        let now = triggers.pipeline.now();
        Box::pin(triggers.handle(&job)).await.unwrap();
        let Some((at, again)) = alarms.0.lock().unwrap().pop() else { break };
        waits.push(at.since(now).as_secs());
        job = again;
    }
    assert_eq!(waits, [10, 60, 300, 840]);
    let got = collector.got.lock().unwrap();
    assert_eq!(got.len(), 5);
    assert!(
        got[0].contains("4bf92f3577b34da6a3ce929d0e0e4736") && got[0].contains("00f067aa0ba902b7")
    );
    assert!(got.iter().all(|text| *text == got[0]));
}

#[tokio::test(start_paused = true)]
async fn an_export_that_succeeds_or_is_refused_for_good_is_over() {
    for result in [Ok(()), refusal(false)] {
        let (triggers, collector, alarms, run_id) = exporting(Some(TRACE), vec![result]).await;
        let job = TriggerJob::ExportTrace { run_id, failed: 0 };
        Box::pin(triggers.handle(&job)).await.unwrap();
        assert_eq!(collector.got.lock().unwrap().len(), 1);
        assert!(alarms.0.lock().unwrap().is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_without_a_trace_and_one_that_is_gone_are_not_exported() {
    let (triggers, collector, _, run_id) = exporting(None, Vec::new()).await;
    let gone = RunId::new(start(), 99);
    for run_id in [run_id, gone] {
        let job = TriggerJob::ExportTrace { run_id, failed: 0 };
        Box::pin(triggers.handle(&job)).await.unwrap();
    }
    assert!(collector.got.lock().unwrap().is_empty());
}
