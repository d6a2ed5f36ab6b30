//! The broadcasts queue on Lambda.

use std::sync::Arc;

use smartspace_broadcast::Broadcast;
use smartspace_lambda::{Error, aws::Aws, batch};

#[tokio::main]
async fn main() -> Result<(), Error> {
    let aws = Aws::start()?;
    let broadcast = Arc::new(Broadcast {
        sockets: aws.sockets(),
        store: aws.pipeline.store,
        clock: aws.pipeline.clock,
        queue: aws.pipeline.broadcasts,
    });
    batch::serve(None, move |job, _| {
        let broadcast = Arc::clone(&broadcast);
        async move { broadcast.handle(&job).await }
    })
    .await
}
