//! Tools of the type `image`: a call draws a picture, which its card shows. The run's budgets pay
//! for it as for a question to a model.

use serde_json::Value;
use smartspace_domain::{
    Error, attachments::file_stem, ids::SpaceId, providers::ProviderName, runs::Usage,
    tools::ImageSize,
};
use smartspace_models::port::{Drawing, ImageRequest, ModelError};
use smartspace_pipeline::spending::OutputLimit;
use smartspace_store::runs::steps::CallUsage;

use crate::{
    run_context::image_call_id,
    tools::{
        calling::{Calling, Outcome},
        configured::call_response::{self, CallResponse},
        input::text_of,
    },
};

/// A tool that draws pictures, as it is configured.
#[derive(Debug)]
pub(crate) struct ImageTool {
    pub(crate) provider: ProviderName,
    /// The model's name at its provider.
    pub(crate) model: String,
    pub(crate) size: ImageSize,
}

impl ImageTool {
    /// The request of a call. The error says what is missing.
    pub(super) fn request(
        &self,
        calling: &Calling<'_>,
        input: &Value,
    ) -> Result<ImageRequest, String> {
        let prompt = text_of(input, "prompt");
        if prompt.trim().is_empty() {
            return Err(
                "the picture was not drawn: expected a prompt that says what it shows".into()
            );
        }
        let Self { provider, model, size } = self;
        Ok(ImageRequest {
            id: calling.begun.call_id.to_string(),
            provider: provider.clone(),
            model: model.clone(),
            size: *size,
            prompt: prompt.to_owned(),
        })
    }
}

/// Draws the picture of a call, for the space that will store it.
pub(super) async fn draw(
    calling: &Calling<'_>,
    request: ImageRequest,
    space: Option<SpaceId>,
) -> CallResponse {
    if let Err(why) = check_room(calling, &request, space).await {
        return Outcome::error(format!("the picture was not drawn: {why}")).into();
    }
    let context = calling.context;
    let model = request.full_name();
    let id = image_call_id(context.run.id, calling.step, calling.index);
    let most = OutputLimit { tokens: request.most_tokens(), images: 1 };
    let spending = &context.spending;
    let reserved = spending.reserve(&id, &model, || request.estimated_tokens(), most).await;
    if let Err(unpaid) = reserved {
        return Outcome::error(format!("the picture was not drawn: {unpaid}")).into();
    }
    let drawn = {
        // Fails only if it is closed, which nobody does.
        let _drawing = context.drawing.acquire().await;
        context.models.draw(&request).await
    };
    let used = match &drawn {
        Ok(Drawing { usage, .. }) => Some(context.prices.priced(&model, usage.believable())),
        Err(error) => error.is_refusal().then(Usage::default),
    };
    spending.settle(&id, used.as_ref()).await;
    match drawn {
        Ok(Drawing { image, .. }) => {
            let mut response = call_response::picture(image);
            response.title = file_stem(&request.prompt);
            response.outcome.used = used.map(|usage| CallUsage { model, usage });
            response
        }
        Err(ModelError { message, .. }) => {
            // The error of a provider may quote the prompt, which may contain a secret.
            let message = match context.egress.secrets().await {
                Ok(known) => known.redact(&message).into_owned(),
                Err(error) => error.to_string(),
            };
            Outcome::error(format!("the picture was not drawn: {message}")).into()
        }
    }
}

/// Fails if the picture could not be stored: it would be paid for and lost.
async fn check_room(
    calling: &Calling<'_>,
    request: &ImageRequest,
    space: Option<SpaceId>,
) -> Result<(), String> {
    let space = space.ok_or("no space is active")?;
    let context = calling.context;
    let files = context.store().attachments();
    match files.must_have_room(space, context.run.agent_id, request.size.bytes()).await {
        Err(Error::NoRoom(text)) => Err(text),
        Err(error) => {
            tracing::warn!(run = %context.run.id, %error, "the room for a picture was not read");
            Err("the room for it is not known at this moment".into())
        }
        Ok(()) => Ok(()),
    }
}
