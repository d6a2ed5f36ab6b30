//! A model that draws: each picture is unique, and the ledger counts how often a call drew one.

use std::time::Duration;

use smartspace_domain::{
    attachments::ReturnedImage,
    runs::{FailureCode, Usage},
};
use smartspace_models::port::{Drawing, ImageRequest, ModelError};
use tokio::time::sleep;

use crate::{locked, ports::model::SimModel};

/// The longest time that a picture takes.
const SLOWEST: Duration = Duration::from_secs(6);

impl SimModel {
    /// Draws a picture, or fails before or after it is drawn.
    pub(super) async fn picture(&self, request: &ImageRequest) -> Result<Drawing, ModelError> {
        let Self { env, life } = self;
        env.before_call(life, "draw").await;
        let place = format!("model/draw/{}", request.id);
        let fault = env
            .chance
            .strikes(&place, env.parameters.fault_rates.model)
            .then(|| env.chance.below(&place, 4));
        if fault == Some(0) {
            return Err(ModelError::new(FailureCode::RateLimited, "later"));
        }
        *locked(&env.ledger).drawn.entry(request.id.clone()).or_default() += 1;
        env.history.note("model", || format!("draws for {} of {}", request.id, life.name));
        if fault == Some(1) {
            env.kill(life, "while a picture is drawn");
        }
        sleep(env.chance.time(&place, Duration::ZERO, SLOWEST)).await;
        env.after_call(life, "draw").await;
        match fault {
            Some(2) => return Err(ModelError::new(FailureCode::BrokenStream, "broken off")),
            Some(3) => return Ok(drawing(b"no picture".to_vec())),
            _ => {}
        }
        // A GIF of one point, with a comment that no other picture has.
        let comment = request.id.as_bytes();
        let mut bytes = b"GIF89a\x01\x00\x01\x00\x00\x00\x00\x21\xfe".to_vec();
        bytes.push(comment.len() as u8);
        bytes.extend_from_slice(comment);
        bytes.extend_from_slice(b"\x00;");
        Ok(drawing(bytes))
    }
}

fn drawing(bytes: Vec<u8>) -> Drawing {
    let usage = Usage { input_tokens: 10, output_tokens: 20, images: 1, ..Usage::default() };
    Drawing { image: ReturnedImage { content_type: "image/gif".into(), bytes }, usage }
}
