//! The schedule on Lambda.

use std::sync::Arc;

use smartspace_lambda::{Error, aws::Aws, schedule};
use smartspace_sweep::Sweep;

#[tokio::main]
async fn main() -> Result<(), Error> {
    let sweep = Arc::new(Sweep { pipeline: Aws::start()?.pipeline });
    schedule::serve(move || {
        let sweep = Arc::clone(&sweep);
        async move { sweep.handle().await.map(drop) }
    })
    .await
}
