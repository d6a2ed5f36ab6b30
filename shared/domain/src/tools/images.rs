//! What a tool of the type `image` draws with.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::{Value, json};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        RefOr,
        schema::{ObjectBuilder, Schema, Type},
    },
};

use crate::providers::{ProviderApi, ProviderName};

/// The shortest and the longest side of a picture, in pixels.
const SIDES: std::ops::RangeInclusive<u32> = 64..=4_096;

/// The same for two sides with an `x` between them, as a regular expression.
const PATTERN: &str = "^(6[4-9]|[7-9][0-9]|[1-9][0-9]{2}|[1-3][0-9]{3}|40[0-8][0-9]|409[0-6])\
                       x(6[4-9]|[7-9][0-9]|[1-9][0-9]{2}|[1-3][0-9]{3}|40[0-8][0-9]|409[0-6])$";

/// Why a model can't be one of this provider's.
pub(super) fn model_error(provider: &ProviderName, model: Option<&str>) -> Option<&'static str> {
    let named = model.filter(|name| (1..=256).contains(&name.len()));
    if provider.is(ProviderApi::Scripted) && model.is_none() {
        return None;
    }
    if provider.is(ProviderApi::Bedrock) {
        let vendor =
            |name: &str| name.split('.').any(|part| ["amazon", "stability"].contains(&part));
        return (!named.is_some_and(vendor)).then_some(
            "expected a model of Amazon or Stability AI, such as amazon.nova-canvas-v1:0",
        );
    }
    named.is_none().then_some("expected the name of a model, 1 to 256 bytes")
}

/// The size of a picture to be drawn: `1024x1024`, width and height in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageSize {
    /// The width in pixels.
    pub width: u32,
    /// The height in pixels.
    pub height: u32,
}

impl Default for ImageSize {
    fn default() -> Self {
        Self { width: 1_024, height: 1_024 }
    }
}

impl ImageSize {
    /// The tokens that a picture of this size counts as, if its provider counts none: one for 750
    /// pixels, about what models read for such a picture.
    pub fn tokens(self) -> u64 {
        self.pixels().div_ceil(750)
    }

    /// The bytes of a picture of this size without compression.
    pub fn bytes(self) -> u64 {
        self.pixels() * 3
    }

    fn pixels(self) -> u64 {
        u64::from(self.width) * u64::from(self.height)
    }
}

impl FromStr for ImageSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let side = |text: &str| {
            let is_plain = text.starts_with(|first: char| ('1'..='9').contains(&first));
            text.parse().ok().filter(|side| is_plain && SIDES.contains(side))
        };
        let sides = text
            .split_once('x')
            .and_then(|(width, height)| Some(Self { width: side(width)?, height: side(height)? }));
        sides.ok_or_else(|| {
            let (least, most) = (SIDES.start(), SIDES.end());
            let got: String = text.chars().take(40).collect();
            format!(
                "expected a size like \"1024x1024\" with sides of {least} to {most} pixels, \
                 got {got:?}"
            )
        })
    }
}

impl fmt::Display for ImageSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.width, self.height)
    }
}

impl Serialize for ImageSize {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ImageSize {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        std::borrow::Cow::<str>::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

impl PartialSchema for ImageSize {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .pattern(Some(PATTERN))
            .description(Some("A size like `1024x1024`: width and height in pixels, 64 to 4096."))
            .into()
    }
}

impl ToSchema for ImageSize {}

/// The input of every tool of the type `image`.
pub fn image_input() -> Value {
    let prompt =
        json!({"type": "string", "minLength": 1, "description": "What the picture shows."});
    json!({
        "type": "object",
        "properties": {"prompt": prompt},
        "required": ["prompt"],
        "additionalProperties": false
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_read_as_it_is_written() {
        let size: ImageSize = "1536x1024".parse().unwrap();
        assert_eq!(size, ImageSize { width: 1_536, height: 1_024 });
        assert_eq!(size.to_string(), "1536x1024");
        assert_eq!(size.tokens(), 2_098);
        for wrong in ["", "1024", "1024X1024", "63x64", "64x4097", "+64x64", "064x64", "64x64x64"] {
            assert!(wrong.parse::<ImageSize>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_model_is_one_that_its_provider_may_have() {
        use ProviderApi::{Bedrock, Openai, Scripted};
        for (provider, model, fits) in [
            (Openai, Some("gpt-image-1"), true),
            (Openai, Some(""), false),
            (Openai, None, false),
            (Bedrock, Some("amazon.nova-canvas-v1:0"), true),
            (Bedrock, Some("us.stability.stable-image-core-v1:1"), true),
            (Bedrock, Some("anthropic.claude-3-haiku"), false),
            (Bedrock, None, false),
            (Scripted, None, true),
            (Scripted, Some("demo"), true),
        ] {
            let error = model_error(&provider.into(), model);
            assert_eq!(error.is_none(), fits, "{provider:?} {model:?}");
        }
    }
}
