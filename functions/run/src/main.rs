//! The runs queue on Lambda.

use std::sync::Arc;

use smartspace_edges::names::SystemNames;
use smartspace_egress::Egress;
use smartspace_lambda::{
    Error, batch,
    edges::{Aws, models},
    failure::Failure,
    secret::Built,
};
use smartspace_run::Runs;
use tokio::sync::watch;

#[tokio::main]
async fn main() -> Result<(), Error> {
    let aws = Aws::start()?;
    let (secret, sockets, queue, bedrock) = (aws.secret(), aws.sockets(), aws.runs_queue(), aws.bedrock());
    let Aws { config, pipeline, .. } = aws;
    // A Lambda function is not told when it ends; its lease runs out.
    let (_never, stopping) = watch::channel(false);
    let egress = Egress::new(Arc::new(SystemNames), config.tool_hosts.parse()?, Arc::new(secret.clone()));
    let runs = Arc::new(Built::new(secret, move |secret| {
        let models = Arc::new(models(&config, secret, bedrock.clone())?);
        Ok(Runs::new(pipeline.clone(), sockets.clone(), models, egress.clone(), config.prices.clone(), stopping.clone()))
    }));
    batch::serve(Some(queue), move |job, delivery| {
        let runs = Arc::clone(&runs);
        async move { runs.get().await.map_err(Failure::into_retry)?.handle(&job, &*delivery).await }
    })
    .await
}
