//! Scheduled invocations.

use std::sync::Arc;

use lambda_runtime::{Error, LambdaEvent, service_fn};
use serde_json::Value;
use smartspace_ports::trace::{self, TraceParent};
use tracing::Instrument;

use crate::{
    failure::Failure,
    invocation::{self, Gateway},
};

/// Serves a schedule forever.
pub async fn serve<F, Fut>(handle: F) -> Result<(), Error>
where
    F: Fn() -> Fut + Send + Sync + 'static,
    Fut: Future<Output = smartspace_domain::Result<()>> + Send,
{
    let handle = Arc::new(handle);
    lambda_runtime::run_concurrent(service_fn(move |event: LambdaEvent<Value>| {
        let handle = Arc::clone(&handle);
        let invocation = invocation::span(&event.context, Gateway::default());
        let work = async move {
            let trace = TraceParent::begin();
            let span = tracing::info_span!("schedule", trace_id = trace.trace_id());
            let done = trace::within(trace, handle()).instrument(span.clone()).await;
            done.map_err(|error| {
                let failure = Failure::from(error);
                span.in_scope(|| {
                    tracing::error!(
                        event = "schedule_failed",
                        name = failure.name,
                        error = %failure,
                        "a scheduled invocation failed; the next one repeats its work"
                    );
                });
                failure
            })
        };
        work.instrument(invocation)
    }))
    .await
}
