//! The request to a model that draws pictures, for tools of the type `image`, and its answer. Each
//! provider has a file `images` of its own.

use std::time::Duration;

use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use smartspace_domain::{
    attachments::{FileType, ReturnedImage},
    providers::ProviderName,
    runs::{FailureCode, Usage},
    tools::ImageSize,
};

use crate::port::{ModelError, estimate};

/// How long a picture may take.
pub const DRAWING_LIMIT: Duration = Duration::from_mins(2);

/// The most tokens that a provider counts for a picture: one of `gpt-image-1` in its best quality
/// and largest size has 6,240.
const MOST_TOKENS: u64 = 6_500;

/// The largest answer with a picture, in bytes. In it the picture is base64.
pub(crate) const LONGEST_ANSWER: usize = 16 * 1024 * 1024;

/// A picture to be drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageRequest {
    /// Identifies the request in the provider's logs.
    pub id: String,
    pub provider: ProviderName,
    /// The model's name at its provider.
    pub model: String,
    pub size: ImageSize,
    pub prompt: String,
}

impl ImageRequest {
    /// `provider/model`.
    pub fn full_name(&self) -> String {
        self.provider.full_name(&self.model)
    }

    /// An estimate of the tokens that the model reads.
    pub fn estimated_tokens(&self) -> u64 {
        self.prompt.len().div_ceil(3) as u64
    }

    /// The most tokens that the picture may count as.
    pub fn most_tokens(&self) -> u64 {
        self.size.tokens().max(MOST_TOKENS)
    }

    /// The usage of a picture whose provider reports none.
    pub(crate) fn estimated_usage(&self) -> Usage {
        Usage {
            input_tokens: estimate::tokens(self.prompt.chars().count()),
            output_tokens: self.size.tokens(),
            images: 1,
            ..Usage::default()
        }
    }
}

/// A picture that was drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawing {
    /// The picture. It is not checked.
    pub image: ReturnedImage,
    /// Its usage, without the cost.
    pub usage: Usage,
}

/// The picture of an answer, which has the type that its first bytes say.
pub(crate) fn decoded(base64: &str) -> Result<ReturnedImage, ModelError> {
    let bytes = BASE64.decode(base64.trim());
    let bytes = bytes.map_err(|_| broken("the provider sent a picture that is not base64"))?;
    let content_type = FileType::of_picture(&bytes)
        .ok_or_else(|| broken("the provider sent something that is no picture"))?;
    Ok(ReturnedImage { content_type: content_type.name().to_owned(), bytes })
}

pub(crate) fn broken(text: &str) -> ModelError {
    ModelError::new(FailureCode::BrokenStream, text)
}
