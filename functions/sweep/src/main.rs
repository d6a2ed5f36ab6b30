//! The schedule on Lambda.

use smartspace_lambda::{Error, batch, edges::Aws, log};
use smartspace_sweep::Sweep;

#[tokio::main]
async fn main() -> Result<(), Error> {
    log::start();
    let sweep = Sweep { pipeline: Aws::new().await?.pipeline };
    let sweep = &sweep;
    batch::serve_schedule(async move || Ok(sweep.handle().await.map(drop)?)).await
}
