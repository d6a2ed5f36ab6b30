//! Schemas of `openapi.json` that cannot be derived from a type, such as texts whose
//! limits are constants.
//!
//! All other schemas are derived from the types, with their doc comments as descriptions.
//! `tests/api-contract` tests the running product against the description.

use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        RefOr,
        schema::{KnownFormat, Object, ObjectBuilder, Schema, SchemaFormat, SchemaType, Type},
    },
};

use crate::{Time, durations::WrittenDuration, limits};

/// The pattern of a text without NUL.
const NO_NUL: &str = r"^[^\u0000]*$";

/// A text with a description.
pub(crate) fn text(description: &str) -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String).description(Some(description))
}

/// A text of 1 to `most` characters without NUL.
pub(crate) fn without_nul(most: usize) -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .min_length(Some(1))
        .max_length(Some(most))
        .pattern(Some(NO_NUL))
}

/// A text of at most `most` characters without NUL, which may be empty.
pub fn with_at_most(most: usize, description: &str) -> Object {
    text(description).max_length(Some(most)).pattern(Some(NO_NUL)).build()
}

/// A text with a pattern.
pub(crate) fn with_pattern(pattern: &str) -> RefOr<Schema> {
    ObjectBuilder::new().schema_type(Type::String).pattern(Some(pattern)).into()
}

/// The same schema, which also allows null.
pub(crate) fn or_null(mut schema: Object) -> Object {
    let SchemaType::Type(only) = schema.schema_type else { return schema };
    schema.schema_type = SchemaType::from_iter([only, Type::Null]);
    schema
}

/// An id with this prefix.
pub(crate) fn id(prefix: &str) -> RefOr<Schema> {
    let pattern = format!("^{prefix}_[0-7][0-9A-HJKMNP-TV-Z]{{25}}$");
    text("Opaque: do not parse it, and do not sort by it.").pattern(Some(pattern)).into()
}

/// An entity's id in the deployment's own user directory.
pub(crate) fn external_id() -> Object {
    text(
        "The entity's id in the deployment's own user directory. It may not start with an id \
         prefix such as `ent_`.",
    )
    .schema_type(SchemaType::from_iter([Type::String, Type::Null]))
    .min_length(Some(1))
    .max_length(Some(256))
    .pattern(Some(NO_NUL))
    .build()
}

/// An agent's instructions.
pub(crate) fn instructions() -> Object {
    text("The start of every prompt: at most 32 KiB without NUL.")
        .max_length(Some(limits::INSTRUCTIONS_BYTES))
        .pattern(Some(NO_NUL))
        .default(Some("".into()))
        .build()
}

/// A message's `seq`.
pub fn seq() -> Object {
    ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(0)).maximum(Some(u64::MAX)).build()
}

/// A model's name.
pub(crate) fn model_name() -> Object {
    text("The model's name at its provider: 1 to 200 bytes without control characters.")
        .min_length(Some(1))
        .max_length(Some(200))
        .pattern(Some(r"^[^\u0000-\u001f\u007f-\u009f]+$"))
        .build()
}

/// The URL of a tool or of an MCP server.
pub(crate) fn url() -> Object {
    text("`http://` or `https://` and a host without placeholders.")
        .max_length(Some(2_048))
        .pattern(Some(concat!(
            r"^https?://[^/?#{$ @\\\u0000-\u001f\u007f-\u009f]+",
            r"([/?#][^\\\u0000-\u001f\u007f-\u009f]*)?$"
        )))
        .build()
}

/// The role of those who accept an invite.
pub(crate) fn only_member() -> Object {
    or_null(
        ObjectBuilder::new()
            .schema_type(Type::String)
            .enum_values(Some([Some("member"), None]))
            .build(),
    )
}

/// A JSON Schema, or null where there may be none. It has no type: common generators of clients
/// cannot read a value that is an object or a boolean.
pub(crate) fn json_schema() -> Object {
    ObjectBuilder::new()
        .schema_type(SchemaType::AnyValue)
        .description(Some("A JSON Schema: an object, `true` or `false`."))
        .build()
}

/// Defines schemas of texts that are keys or values of maps, each with its pattern.
macro_rules! described_text {
    ($($(#[$doc:meta])* $name:ident: $pattern:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name;

        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                with_pattern($pattern)
            }
        }

        impl ToSchema for $name {}
    )*};
}

described_text! {
    /// The name of a header.
    HeaderName: "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$";
    /// The value of a header. It may hold placeholders such as `${secret.NAME}`.
    HeaderValue: r"^[^\u0000-\u001f\u007f-\u009f]*$";
}

impl PartialSchema for Time {
    fn schema() -> RefOr<Schema> {
        text("A time in RFC 3339, in UTC and with milliseconds.")
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
            .into()
    }
}

impl ToSchema for Time {}

impl PartialSchema for WrittenDuration {
    fn schema() -> RefOr<Schema> {
        text("A duration like `30 seconds`, `2 hours`, `1 day` or `1 week`.")
            .pattern(Some("^[1-9][0-9]{0,8} (second|minute|hour|day|week)s?$"))
            .into()
    }
}

impl ToSchema for WrittenDuration {}
