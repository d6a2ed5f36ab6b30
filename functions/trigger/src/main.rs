//! The triggers queue on Lambda.

use std::sync::Arc;

use smartspace_lambda::{Error, aws::Aws, batch};
use smartspace_trigger::Triggers;

#[tokio::main]
async fn main() -> Result<(), Error> {
    let triggers = Arc::new(Triggers { pipeline: Aws::start()?.pipeline });
    batch::serve(None, move |job, _| {
        let triggers = Arc::clone(&triggers);
        async move { triggers.handle(&job).await }
    })
    .await
}
