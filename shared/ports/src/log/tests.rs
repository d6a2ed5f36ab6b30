use std::io;

use tracing_subscriber::layer::SubscriberExt;

use crate::log::*;
use crate::secrets::Secret;

#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The lines that `work` logs, without their timestamps.
fn lines(secrets: &Concealed, stack: Option<&str>, work: impl FnOnce()) -> Vec<Value> {
    let written = Written::default();
    let layer = JsonLines::new(written.clone(), secrets.clone(), stack.map(str::to_owned));
    tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), work);
    let bytes = written.0.lock().unwrap().clone();
    let lines = String::from_utf8(bytes).unwrap();
    let parsed = lines.lines().map(|line| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        let timestamp: Time = line["timestamp"].as_str().unwrap().parse().unwrap();
        line.as_object_mut().unwrap().remove("timestamp");
        if let Some(metrics) = line.get_mut("_aws") {
            assert_eq!(metrics["Timestamp"], json!(timestamp.as_millis()));
            metrics.as_object_mut().unwrap().remove("Timestamp");
        }
        line
    });
    parsed.collect()
}

#[test]
fn a_line_has_its_fields_and_those_of_its_spans() {
    let lines = lines(&Concealed::default(), None, || {
        let outer = tracing::info_span!(
            "request",
            request_id = "r",
            run = "of the outer",
            trace_id = tracing::field::Empty
        );
        outer.record("trace_id", "t");
        let _outer = outer.enter();
        let _inner = tracing::info_span!("job", run = %7, agent_id = "ent_1").entered();
        tracing::info!(space = "spc_1", count = 2, is_last = true, "it \"happened\"\nhere");
    });
    let expected = json!({
        "level": "INFO", "agentId": "ent_1", "count": 2, "isLast": true,
        "message": "it \"happened\"\nhere", "requestId": "r", "runId": "7", "spaceId": "spc_1",
        "target": "smartspace_ports::log::tests", "traceId": "t",
    });
    assert_eq!(lines, [expected]);
}

#[test]
fn counted_events_are_metrics_of_the_stack() {
    let write = || {
        tracing::error!(event = "given_up", pk = "RUN#1", "an item was given up");
        tracing::warn!(event = "run_failed", "a run failed");
        tracing::info!("nothing to count");
        tracing::warn!(event = "jobs_not_queued", count = 3, "jobs were not queued");
    };
    let metric = |names: &[&str]| {
        let metrics: Vec<_> =
            names.iter().map(|name| json!({"Name": name, "Unit": "Count"})).collect();
        let definition = json!({
            "Namespace": "Smartspace", "Dimensions": [["Stack"]], "Metrics": metrics
        });
        json!({ "CloudWatchMetrics": [definition] })
    };
    let [given_up, failed, nothing, not_queued] =
        lines(&Concealed::default(), Some("prod"), write).try_into().unwrap();
    assert_eq!(
        (&given_up["_aws"], &given_up["Stack"]),
        (&metric(&["GivenUp", "Faults"]), &json!("prod"))
    );
    assert_eq!(
        (&given_up["GivenUp"], &given_up["Faults"], &given_up["pk"]),
        (&json!(1), &json!(1), &json!("RUN#1"))
    );
    let both = &metric(&["RunsFailed", "RunsEnded"]);
    assert_eq!((&failed["_aws"], &failed["RunsFailed"]), (both, &json!(1)));
    assert_eq!(nothing.get("_aws"), None);
    assert_eq!(not_queued["_aws"], metric(&["JobsFailed", "JobsNotQueued"]));
    assert!(
        lines(&Concealed::default(), None, write).iter().all(|line| line.get("_aws").is_none())
    );
}

#[test]
fn no_line_contains_a_known_secret() {
    let secrets = Concealed::default();
    let known = KnownSecrets::new(BTreeMap::from([(
        "KEY".to_owned(),
        Secret::new("correct horse".into(), None).unwrap(),
    )]));
    secrets.set(Arc::new(known));
    let lines = lines(&secrets, None, || {
        tracing::warn!(body = "a correct horse battery", "what a library logs");
    });
    assert!(!lines[0].to_string().contains("correct horse"), "{}", lines[0]);
}
