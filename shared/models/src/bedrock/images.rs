//! Pictures of Amazon Bedrock: `InvokeModel` with the body of each vendor.

use aws_sdk_bedrockruntime::primitives::Blob;
use serde::Deserialize;
use serde_json::{Value, json};
use smartspace_domain::runs::FailureCode;

use crate::{
    bedrock::Bedrock,
    port::{
        Drawing, ImageRequest, ModelError,
        images::{broken, decoded},
    },
};

/// Both vendors answer so. `error` and `finish_reasons` say why there is no picture.
#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    images: Option<Vec<Option<String>>>,
    error: Option<String>,
    #[serde(default)]
    finish_reasons: Option<Vec<Option<String>>>,
}

/// Draws a picture. Never retries.
pub(crate) async fn draw(bedrock: &Bedrock, request: &ImageRequest) -> Result<Drawing, ModelError> {
    let body = body(request);
    let answer = bedrock.invoke(&request.model, Blob::new(body.to_string())).await?;
    let answer: Answer = serde_json::from_slice(answer.as_ref())
        .map_err(|_| broken("the provider sent an answer without a picture"))?;
    let images = answer.images.unwrap_or_default();
    let Some(picture) = images.into_iter().flatten().next() else {
        let reasons = answer.finish_reasons.unwrap_or_default();
        let why = answer.error.or_else(|| reasons.into_iter().flatten().next());
        let why = why.map(|why| format!(": {why}")).unwrap_or_default();
        let text = format!("the provider drew nothing{why}");
        return Err(ModelError::new(FailureCode::BadRequest, text));
    };
    Ok(Drawing { image: decoded(&picture)?, usage: request.estimated_usage() })
}

/// <https://docs.aws.amazon.com/nova/latest/userguide/image-gen-req-resp-structure.html> and
/// <https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-stability-diffusion.html>
fn body(request: &ImageRequest) -> Value {
    let ImageRequest { model, size, prompt, .. } = request;
    if model.split('.').any(|part| part == "stability") {
        // Its models take no sizes.
        let ratio = ratio(size.width, size.height);
        return json!({"prompt": prompt, "aspect_ratio": ratio, "output_format": "png"});
    }
    json!({
        "taskType": "TEXT_IMAGE",
        "textToImageParams": {"text": prompt},
        "imageGenerationConfig": {
            "numberOfImages": 1, "width": size.width, "height": size.height,
        },
    })
}

/// The ratio of the sides that a model of Stability AI takes and that is the closest one.
fn ratio(width: u32, height: u32) -> &'static str {
    const RATIOS: [(&str, f64); 9] = [
        ("21:9", 21.0 / 9.0),
        ("16:9", 16.0 / 9.0),
        ("3:2", 3.0 / 2.0),
        ("5:4", 5.0 / 4.0),
        ("1:1", 1.0),
        ("4:5", 4.0 / 5.0),
        ("2:3", 2.0 / 3.0),
        ("9:16", 9.0 / 16.0),
        ("9:21", 9.0 / 21.0),
    ];
    let wanted = f64::from(width) / f64::from(height);
    let far = |ratio: f64| (ratio / wanted).ln().abs();
    let closest = RATIOS.iter().min_by(|one, other| far(one.1).total_cmp(&far(other.1)));
    closest.map_or("1:1", |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use aws_config::{BehaviorVersion, Region, SdkConfig};
    use aws_credential_types::{Credentials, provider::SharedCredentialsProvider};
    use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
    use smartspace_domain::{providers::ProviderApi, tools::ImageSize};

    use super::*;
    use crate::{
        provider::{Part, Provider, Reply},
        samples,
    };

    fn request(model: &str, width: u32, height: u32) -> ImageRequest {
        ImageRequest {
            id: String::new(),
            provider: ProviderApi::Bedrock.into(),
            model: model.into(),
            size: ImageSize { width, height },
            prompt: "A cat".into(),
        }
    }

    async fn drawn(
        request: &ImageRequest,
        status: u16,
        body: &Value,
    ) -> (Result<Drawing, ModelError>, Provider) {
        let parts = vec![Part::Bytes(body.to_string().into())];
        let headers =
            vec![("content-type", "application/json"), ("x-amzn-errortype", "ValidationException")];
        let provider = Provider::start(Reply { status, headers, parts }).await;
        let credentials = Credentials::new("AKIA", "secret", None, None, "test");
        let config = SdkConfig::builder()
            .behavior_version(BehaviorVersion::latest())
            .region(Region::from_static("eu-west-1"))
            .credentials_provider(SharedCredentialsProvider::new(credentials))
            .endpoint_url(&provider.address)
            .build();
        (draw(&Bedrock::with(config), request).await, provider)
    }

    #[tokio::test]
    async fn a_model_of_amazon_draws() {
        let request = request("amazon.nova-canvas-v1:0", 1_024, 768);
        let answer = json!({"images": [BASE64.encode(samples::PNG.0)], "error": null});
        let (drawn, provider) = drawn(&request, 200, &answer).await;
        let drawn = drawn.unwrap();
        assert_eq!(drawn.image.content_type, "image/png");
        assert_eq!((drawn.usage.output_tokens, drawn.usage.images), (1_049, 1));
        let [asked] = &provider.received()[..] else { panic!("expected one request") };
        assert_eq!(asked.path, "/model/amazon.nova-canvas-v1%3A0/invoke");
        let sides = json!({"numberOfImages": 1, "width": 1_024, "height": 768});
        assert_eq!(asked.body["imageGenerationConfig"], sides);
        assert_eq!(asked.body["textToImageParams"], json!({"text": "A cat"}));
    }

    #[tokio::test]
    async fn a_model_of_stability_gets_a_ratio() {
        let request = request("us.stability.stable-image-core-v1:1", 1_536, 1_024);
        let answer = json!({"images": [BASE64.encode(samples::PNG.0)], "finish_reasons": [null]});
        let (drawn, provider) = drawn(&request, 200, &answer).await;
        drawn.unwrap();
        let expected = json!({"prompt": "A cat", "aspect_ratio": "3:2", "output_format": "png"});
        assert_eq!(provider.received()[0].body, expected);
    }

    #[tokio::test]
    async fn a_refusal_says_why() {
        let request = request("amazon.nova-canvas-v1:0", 64, 64);
        let text = |status, body: Value| {
            let request = &request;
            async move { drawn(request, status, &body).await.0.unwrap_err() }
        };
        let filtered = text(200, json!({"images": [], "error": "blocked by a filter"})).await;
        assert_eq!(filtered.message, "the provider drew nothing: blocked by a filter");
        let filtered =
            text(200, json!({"images": [null], "finish_reasons": ["Filter reason: prompt"]})).await;
        assert_eq!(filtered.message, "the provider drew nothing: Filter reason: prompt");
        let refused = text(400, json!({"message": "width must be a multiple of 16"})).await;
        assert_eq!(refused.code, FailureCode::BadRequest);
        assert!(refused.message.contains("width must be a multiple of 16"), "{refused:?}");
    }

    #[test]
    fn the_closest_ratio_is_taken() {
        for (width, height, expected) in [
            (1_024, 1_024, "1:1"),
            (1_792, 1_024, "16:9"),
            (1_024, 1_536, "2:3"),
            (64, 4_096, "9:21"),
        ] {
            assert_eq!(ratio(width, height), expected);
        }
    }
}
