//! The triggers queue on Lambda.

use smartspace_lambda::{Error, batch, edges::Aws, log};
use smartspace_trigger::Triggers;

#[tokio::main]
async fn main() -> Result<(), Error> {
    log::start();
    let triggers = Triggers { pipeline: Aws::new().await?.pipeline };
    let triggers = &triggers;
    batch::serve(None, async move |job, _| triggers.handle(&job).await).await
}
