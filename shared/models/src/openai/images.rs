//! `OpenAI`'s image API: one picture, as base64 in JSON.

use std::borrow::Cow;

use bytes::BytesMut;
use futures::StreamExt;
use reqwest::Response;
use serde::Deserialize;
use serde_json::json;
use smartspace_domain::runs::Usage;

use crate::{
    openai::OpenAi,
    port::{
        Drawing, ImageRequest, ModelError,
        images::{LONGEST_ANSWER, broken, decoded},
    },
};

const PATH: [&str; 2] = ["images", "generations"];

#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(borrow)]
    data: Vec<Picture<'a>>,
    usage: Option<Counts>,
}

/// The text is not copied, because it is large.
#[derive(Deserialize)]
struct Picture<'a> {
    #[serde(borrow)]
    b64_json: Option<Cow<'a, str>>,
}

/// Only models that are paid by the token count it.
#[derive(Clone, Copy, Deserialize)]
struct Counts {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
}

/// Draws a picture. Never retries.
pub(super) async fn draw(openai: &OpenAi, request: &ImageRequest) -> Result<Drawing, ModelError> {
    let mut body = json!({
        "model": request.model,
        "prompt": request.prompt,
        "size": request.size,
        "n": 1,
    });
    // Newer models always answer so, and refuse the field. Others would answer with an address.
    if !request.model.contains("gpt-image") {
        body["response_format"] = json!("b64_json");
    }
    let (response, refusals) = openai.post(&PATH, "application/json", &request.id, &body).await?;
    let answer = read(response).await?;
    let answer: Answer = serde_json::from_slice(&answer)
        .map_err(|_| refusals.broken("the provider sent an answer without a picture"))?;
    let picture = answer.data.into_iter().next().and_then(|picture| picture.b64_json);
    let picture =
        picture.ok_or_else(|| refusals.broken("the provider sent no picture as base64"))?;
    Ok(Drawing { image: decoded(&picture)?, usage: usage(answer.usage, request) })
}

fn usage(counts: Option<Counts>, request: &ImageRequest) -> Usage {
    let estimated = request.estimated_usage();
    let Some(counts) = counts else { return estimated };
    Usage {
        input_tokens: counts.input_tokens.unwrap_or(estimated.input_tokens),
        output_tokens: counts.output_tokens.unwrap_or(estimated.output_tokens),
        ..estimated
    }
}

async fn read(response: Response) -> Result<BytesMut, ModelError> {
    let mut answer = BytesMut::new();
    let mut pieces = response.bytes_stream();
    while let Some(piece) = pieces.next().await {
        let piece = piece.map_err(|_| broken("the connection broke before the picture came"))?;
        if answer.len() + piece.len() > LONGEST_ANSWER {
            // It was drawn, so it is paid.
            let most = LONGEST_ANSWER / 1024 / 1024;
            return Err(broken(&format!("the picture is too large: over {most} MB")));
        }
        answer.extend_from_slice(&piece);
    }
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
    use smartspace_domain::{
        providers::{ProviderApi, ProviderEntry},
        runs::FailureCode,
        tools::ImageSize,
    };

    use super::{draw as draw_with, *};
    use crate::{
        http,
        provider::{Part, Provider, Reply},
        samples,
    };

    fn request(model: &str) -> ImageRequest {
        ImageRequest {
            id: "run.1".into(),
            provider: ProviderApi::Openai.into(),
            model: model.into(),
            size: ImageSize { width: 1_536, height: 1_024 },
            prompt: "A cat".into(),
        }
    }

    fn reply(status: u16, body: &serde_json::Value) -> Reply {
        let parts = vec![Part::Bytes(body.to_string().into())];
        Reply { status, headers: vec![("content-type", "application/json")], parts }
    }

    async fn draw(model: &str, reply: Reply) -> (Result<Drawing, ModelError>, Provider) {
        let provider = Provider::start(reply).await;
        let http = http::client().no_proxy().build().unwrap();
        let entry = ProviderEntry::of(ProviderApi::Openai);
        let entry = entry.with(Some("sk-secret"), Some(&provider.address));
        let openai = OpenAi::new(http, &ProviderApi::Openai.into(), &entry);
        (draw_with(&openai, &request(model)).await, provider)
    }

    #[tokio::test]
    async fn a_picture_comes_with_what_it_used() {
        let body = json!({
            "created": 1,
            "data": [{"b64_json": BASE64.encode(samples::PNG.0)}],
            "usage": {"input_tokens": 11, "output_tokens": 1_584, "total_tokens": 1_595},
        });
        let (drawn, provider) = draw("gpt-image-1", reply(200, &body)).await;
        let Drawing { image, usage } = drawn.unwrap();
        assert_eq!(
            (image.content_type.as_str(), image.bytes.as_slice()),
            ("image/png", samples::PNG.0)
        );
        let expected =
            Usage { input_tokens: 11, output_tokens: 1_584, images: 1, ..Usage::default() };
        assert_eq!(usage, expected);
        let [asked] = &provider.received()[..] else { panic!("expected one request") };
        assert_eq!(asked.path, "/images/generations");
        assert_eq!(asked.headers, [("authorization", "Bearer sk-secret".into())]);
        assert_eq!(
            asked.body,
            json!({"model": "gpt-image-1", "prompt": "A cat", "size": "1536x1024", "n": 1})
        );
    }

    #[tokio::test]
    async fn a_model_without_counts_is_asked_for_base64_and_estimated() {
        let body = json!({"data": [{"b64_json": BASE64.encode(samples::PNG.0)}]});
        let (drawn, provider) = draw("dall-e-3", reply(200, &body)).await;
        let usage = drawn.unwrap().usage;
        assert_eq!((usage.input_tokens, usage.output_tokens, usage.images), (2, 2_098, 1));
        assert_eq!(provider.received()[0].body["response_format"], "b64_json");
    }

    #[tokio::test]
    async fn an_answer_without_a_picture_is_an_error_that_says_so() {
        let text = |body: serde_json::Value| async move {
            draw("m", reply(200, &body)).await.0.unwrap_err().message
        };
        assert_eq!(
            text(json!({"data": [{"url": "http://h/a.png"}]})).await,
            "the provider sent no picture as base64"
        );
        assert_eq!(
            text(json!({"data": [{"b64_json": "PGh0bWw+"}]})).await,
            "the provider sent something that is no picture"
        );
        assert_eq!(text(json!([])).await, "the provider sent an answer without a picture");
    }

    #[tokio::test]
    async fn an_answer_that_is_too_large_may_have_been_paid() {
        let body = json!({"data": [{"b64_json": "A".repeat(LONGEST_ANSWER)}]});
        let error = draw("m", reply(200, &body)).await.0.unwrap_err();
        assert!(!error.is_refusal() && error.message.contains("over 16 MB"), "{error:?}");
    }

    #[tokio::test]
    async fn a_refusal_is_one_without_the_key() {
        let body =
            json!({"error": {"message": "not with sk-secret", "code": "moderation_blocked"}});
        let error = draw("m", reply(400, &body)).await.0.unwrap_err();
        assert_eq!(error.code, FailureCode::BadRequest);
        assert_eq!(error.message, "the provider answered 400: not with [key]");
        let error = draw("m", reply(429, &json!({}))).await.0.unwrap_err();
        assert_eq!(error.code, FailureCode::RateLimited);
    }
}
