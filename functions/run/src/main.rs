//! The runs queue on Lambda.

use std::sync::Arc;

use smartspace_edges::{names::SystemNames, secrets::FixedSecrets};
use smartspace_egress::Egress;
use smartspace_lambda::{
    Error,
    batch::{self, Queue},
    edges::Aws,
    log,
};
use smartspace_run::Runs;
use tokio::sync::watch;

#[tokio::main]
async fn main() -> Result<(), Error> {
    log::start();
    let aws = Aws::new().await?;
    let secrets = aws.secrets().await?;
    let (sockets, models) = (aws.sockets(), Arc::new(aws.models(&secrets)?));
    let egress = Egress::new(Arc::new(SystemNames), aws.config.tool_hosts.parse()?, Arc::new(FixedSecrets(Arc::new(secrets.known))));
    let prices = Arc::clone(&aws.config.prices);
    let queue = Queue { client: aws.sqs(), url: aws.config.runs_queue.clone() };
    // A Lambda function is not told when it ends; its lease runs out.
    let (_never, stopping) = watch::channel(false);
    let runs = Runs::new(aws.pipeline, sockets, models, egress, prices, stopping);
    let runs = &runs;
    batch::serve(Some(queue), async move |job, delivery| runs.handle(&job, &*delivery).await).await
}
