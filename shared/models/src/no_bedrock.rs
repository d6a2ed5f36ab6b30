//! Refuses the provider bedrock in a build without the AWS SDK.

use async_trait::async_trait;
use smartspace_domain::runs::FailureCode;

use crate::port::{Drawing, ImageRequest, Model, ModelError, Pieces, Request};

pub(crate) const NO_BEDROCK: &str =
    "this build has no Bedrock: start it with cargo run --features bedrock, or use a release";

/// Stands where the provider bedrock would be.
#[derive(Clone, Copy, Debug)]
pub struct NoBedrock;

#[async_trait]
impl Model for NoBedrock {
    async fn ask(&self, _: &Request) -> Result<Pieces, ModelError> {
        Err(not_configured())
    }

    async fn draw(&self, _: &ImageRequest) -> Result<Drawing, ModelError> {
        Err(not_configured())
    }
}

fn not_configured() -> ModelError {
    ModelError::new(FailureCode::NotConfigured, NO_BEDROCK)
}
