//! The triggers queue on Lambda.

use std::sync::Arc;

use smartspace_lambda::{
    Error,
    aws::{Aws, exporter_when_asked, models_when_asked},
    batch, storage_events,
};
use smartspace_trigger::{Triggers, router::Routers, traces::Traces};

#[tokio::main]
async fn main() -> Result<(), Error> {
    let aws = Aws::start()?.with_files();
    let prices = aws.config.prices.clone();
    let models = models_when_asked(aws.config.clone(), aws.secret(), aws.bedrock());
    let routers = Routers::new(models, prices, aws.config.router_model.clone());
    let traces = aws.config.otlp.clone().map(|settings| {
        let exporter = exporter_when_asked(settings.clone(), aws.secret());
        Traces::new(exporter, &settings)
    });
    let triggers = Arc::new(Triggers { pipeline: aws.pipeline, routers, traces });
    batch::serve_reading(storage_events::or_job, None, move |job, _| {
        let triggers = Arc::clone(&triggers);
        async move { triggers.handle(&job).await }
    })
    .await
}
