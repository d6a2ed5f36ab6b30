//! The broadcasts queue on Lambda.

use smartspace_broadcast::Broadcast;
use smartspace_lambda::{Error, batch, edges::Aws, log};

#[tokio::main]
async fn main() -> Result<(), Error> {
    log::start();
    let aws = Aws::new().await?;
    let broadcast = Broadcast { sockets: aws.sockets(), store: aws.pipeline.store, clock: aws.pipeline.clock };
    let broadcast = &broadcast;
    batch::serve(None, async move |job, _| broadcast.handle(&job).await).await
}
