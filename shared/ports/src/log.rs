//! Writes the log: one JSON object per event, with the fields of its spans and without secrets.
//!
//! On AWS some lines are also CloudWatch metrics (embedded metric format). This module alone
//! defines which events are counted.

use std::{
    collections::BTreeMap,
    io::Write,
    sync::{Arc, Mutex, PoisonError, RwLock},
    time::{SystemTime, UNIX_EPOCH},
};

use serde_json::{Map, Value, json};
use smartspace_domain::Time;
use tracing::{
    Event, Level, Subscriber,
    field::{Field, Visit},
    span,
};
use tracing_subscriber::{
    Layer,
    layer::Context,
    registry::{LookupSpan, SpanRef},
};

use crate::secrets::KnownSecrets;

/// The namespace of all metrics.
const NAMESPACE: &str = "Smartspace";

/// The metric that an event counts towards, besides `Faults`.
const COUNTED: [(&str, &str); 12] = [
    ("given_up", "GivenUp"),
    ("job_failed", "JobsFailed"),
    ("job_panicked", "JobsFailed"),
    ("unreadable_job", "JobsFailed"),
    ("jobs_not_queued", "JobsFailed"),
    ("jobs_not_queued", "JobsNotQueued"),
    ("alarm_not_set", "JobsNotQueued"),
    ("run_failed", "RunsFailed"),
    ("run_failed", "RunsEnded"),
    ("run_completed", "RunsEnded"),
    ("daily_budget_used", "SpendingNearLimit"),
    (LATE_POSTS, "LatePosts"),
];

/// The event that stands for several posts. Its field `posts` is their number.
const LATE_POSTS: &str = "late_posts";

/// The known secrets, which are removed from all lines.
#[derive(Clone, Debug, Default)]
pub struct Concealed(Arc<RwLock<Arc<KnownSecrets>>>);

impl Concealed {
    /// Replaces the known secrets.
    pub fn set(&self, secrets: Arc<KnownSecrets>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = secrets;
    }

    /// A line without the known secrets.
    pub fn redact(&self, line: &str) -> String {
        self.0.read().unwrap_or_else(PoisonError::into_inner).redact(line).into_owned()
    }
}

/// Writes events as lines of JSON.
pub struct JsonLines<W> {
    to: Mutex<W>,
    secrets: Concealed,
    /// The deployment that the metrics belong to. `None` writes no metrics.
    stack: Option<String>,
}

impl<W> JsonLines<W> {
    /// Writes lines without `secrets` to `to`. With `stack`, some lines are also metrics.
    pub fn new(to: W, secrets: Concealed, stack: Option<String>) -> Self {
        Self { to: Mutex::new(to), secrets, stack }
    }

    fn line(&self, level: Level, fields: Map<String, Value>) -> String {
        let millis =
            SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis());
        let now = i64::try_from(millis).map_or(Time::from_millis(0), Time::from_millis);
        let mut line = Map::from_iter([
            ("timestamp".into(), json!(now)),
            ("level".into(), json!(level.as_str())),
        ]);
        let event = fields.get("event").and_then(Value::as_str).unwrap_or_default();
        let mut counted: Vec<&str> =
            COUNTED.iter().filter(|(name, _)| *name == event).map(|(_, metric)| *metric).collect();
        if level == Level::ERROR {
            counted.push("Faults");
        }
        if let (Some(stack), false) = (&self.stack, counted.is_empty()) {
            let metrics: Vec<_> =
                counted.iter().map(|name| json!({"Name": name, "Unit": "Count"})).collect();
            let definition = json!({
                "Namespace": NAMESPACE, "Dimensions": [["Stack"]], "Metrics": metrics
            });
            line.insert(
                "_aws".into(),
                json!({"Timestamp": now.as_millis(), "CloudWatchMetrics": [definition]}),
            );
            line.insert("Stack".into(), json!(stack));
            let posts = fields.get("posts").filter(|_| event == LATE_POSTS).cloned();
            let count = posts.unwrap_or_else(|| json!(1));
            line.extend(counted.into_iter().map(|name| (name.to_owned(), count.clone())));
        }
        line.extend(fields);
        Value::Object(line).to_string()
    }
}

impl<S, W> Layer<S> for JsonLines<W>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    W: Write + 'static,
{
    fn on_new_span(
        &self,
        attributes: &span::Attributes<'_>,
        id: &span::Id,
        context: Context<'_, S>,
    ) {
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        if let Some(span) = context.span(id) {
            span.extensions_mut().insert(fields);
        }
    }

    fn on_record(&self, id: &span::Id, values: &span::Record<'_>, context: Context<'_, S>) {
        if let Some(span) = context.span(id)
            && let Some(fields) = span.extensions_mut().get_mut::<Fields>()
        {
            values.record(fields);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        for span in context.event_scope(event).into_iter().flatten() {
            fields.add_those_of(&span);
        }
        let level = *event.metadata().level();
        fields.0.insert("target".into(), event.metadata().target().into());
        let mut line = self.secrets.redact(&self.line(level, fields.0.into_iter().collect()));
        line.push('\n');
        // There is no place to report that a line was lost.
        let _ = self.to.lock().unwrap_or_else(PoisonError::into_inner).write_all(line.as_bytes());
    }
}

/// The fields of an event or a span, by their names in the log.
#[derive(Default)]
struct Fields(BTreeMap<String, Value>);

impl Fields {
    /// Adds the fields of a span. A field of a nearer span wins.
    fn add_those_of<'a, S: LookupSpan<'a>>(&mut self, span: &SpanRef<'a, S>) {
        if let Some(fields) = span.extensions().get::<Self>() {
            for (name, value) in &fields.0 {
                self.0.entry(name.clone()).or_insert_with(|| value.clone());
            }
        }
    }

    fn add(&mut self, field: &Field, value: Value) {
        self.0.insert(shown(field.name()), value);
    }
}

/// The name of a field in the log: ids are named as in the API, the rest is camel case.
fn shown(name: &str) -> String {
    if matches!(name, "run" | "space" | "agent" | "connection" | "plan" | "delivery") {
        return format!("{name}Id");
    }
    let mut words = name.split('_').filter(|word| !word.is_empty());
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| {
        let (head, rest) = word.split_at(word.chars().next().map_or(0, char::len_utf8));
        name + &head.to_uppercase() + rest
    })
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.add(field, format!("{value:?}").into());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.add(field, value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.add(field, value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.add(field, value.into());
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.add(field, value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.add(field, value.into());
    }
}

#[cfg(test)]
mod tests;
