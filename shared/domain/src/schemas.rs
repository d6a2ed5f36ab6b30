//! What the API's description says that a derive can't: limits that are constants, and objects that hold another's fields.
//!
//! All other schemas derive from the types themselves. `tests/contract` holds them against the running product.

use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        RefOr,
        schema::{AnyOfBuilder, ArrayBuilder, KnownFormat, Object, ObjectBuilder, Ref, Schema, SchemaFormat, SchemaType, Type},
    },
};

use crate::{
    Time,
    agents::AgentConfig,
    durations::WrittenDuration,
    ids::{EntityId, SpaceId},
    limits,
    spaces::{Me, Member, Space, SpaceSettings},
    triggers::{HiddenTrigger, Trigger},
};

type Schemas = Vec<(String, RefOr<Schema>)>;

/// Any text without NUL.
const NO_NUL: &str = r"^[^\u0000]*$";

fn text(description: &str) -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String).description(Some(description))
}

/// An id of this kind.
pub(crate) fn id(prefix: &str) -> RefOr<Schema> {
    let pattern = format!("^{prefix}_[0-7][0-9A-HJKMNP-TV-Z]{{25}}$");
    text("Opaque; only `seq` is an order.").pattern(Some(pattern)).into()
}

/// The name of an entity or a space.
pub(crate) fn name() -> Object {
    let pattern = r"^[^\u0000]*[^\s\u0000][^\u0000]*$";
    text("1 to 128 characters, not only blanks, without NUL.").min_length(Some(1)).max_length(Some(128)).pattern(Some(pattern)).build()
}

/// An entity's id elsewhere.
pub(crate) fn external_id() -> Object {
    text("Its id in the deployment's own user directory; not like one of our ids.")
        .schema_type(SchemaType::from_iter([Type::String, Type::Null]))
        .min_length(Some(1))
        .max_length(Some(256))
        .pattern(Some(NO_NUL))
        .build()
}

/// An agent's instructions.
pub(crate) fn instructions() -> Object {
    text("The beginning of every prompt; at most 32 KiB without NUL.")
        .max_length(Some(limits::INSTRUCTIONS_BYTES))
        .pattern(Some(NO_NUL))
        .default(Some("".into()))
        .build()
}

/// A message's text.
pub fn message_text() -> Object {
    text("1 to 32,768 bytes without NUL.").min_length(Some(1)).max_length(Some(limits::MESSAGE_BYTES)).pattern(Some(NO_NUL)).build()
}

/// A place in a space's order.
pub fn seq() -> Object {
    ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(0)).maximum(Some(u64::MAX)).build()
}

/// A model's name.
pub(crate) fn model_name() -> Object {
    text("The model's name there, 1 to 200 bytes without control characters.")
        .min_length(Some(1))
        .max_length(Some(200))
        .pattern(Some(r"^[^\u0000-\u001f\u007f-\u009f]+$"))
        .build()
}

/// The names of secrets that may have signed.
pub(crate) fn secret_names() -> RefOr<Schema> {
    let name = text("The name of a secret.").pattern(Some("^[A-Z][A-Z0-9_]{0,63}$"));
    ArrayBuilder::new().items(name).min_items(Some(1)).max_items(Some(5)).into()
}

/// Where a request of an agent goes.
pub(crate) fn url() -> Object {
    text("http:// or https:// and a host without placeholders.")
        .max_length(Some(2_048))
        .pattern(Some(r"^https?://[^/?#{$ @\\\u0000-\u001f\u007f-\u009f]+([/?#][^\\\u0000-\u001f\u007f-\u009f]*)?$"))
        .build()
}

/// A JSON Schema.
pub(crate) fn json_schema() -> Object {
    ObjectBuilder::new().schema_type(SchemaType::from_iter([Type::Object, Type::Boolean])).description(Some("A JSON Schema.")).build()
}

/// A JSON Schema, or none.
pub(crate) fn json_schema_or_null() -> Object {
    let mut schema = json_schema();
    schema.schema_type = SchemaType::from_iter([Type::Object, Type::Boolean, Type::Null]);
    schema
}

/// Texts that are keys or values of maps: each with what it must look like.
macro_rules! described_text {
    ($($(#[$doc:meta])* $name:ident: $pattern:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name;

        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                ObjectBuilder::new().schema_type(Type::String).pattern(Some($pattern)).into()
            }
        }

        impl ToSchema for $name {}
    )*};
}

described_text! {
    /// The name of a service that may wake an agent.
    ServiceName: "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$";
    /// The name of a header.
    HeaderName: "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$";
    /// The value of a header; `${secret.NAME}` is filled in.
    HeaderValue: r"^[^\u0000-\u001f\u007f-\u009f]*$";
}

impl PartialSchema for Time {
    fn schema() -> RefOr<Schema> {
        text("RFC 3339, UTC, with milliseconds.").format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime))).into()
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

/// A trigger as it is shown: whole, or to those who may know no more its `type` alone.
#[derive(Debug)]
pub struct ShownTrigger;

impl PartialSchema for ShownTrigger {
    fn schema() -> RefOr<Schema> {
        let one_of = [Trigger::name(), HiddenTrigger::name()].map(Ref::from_schema_name);
        let shown = one_of.into_iter().fold(AnyOfBuilder::new(), AnyOfBuilder::item);
        shown.description(Some("Why it was started; to those who may know no more its `type` alone.")).into()
    }
}

impl ToSchema for ShownTrigger {
    fn schemas(schemas: &mut Schemas) {
        schemas.push((Trigger::name().into(), Trigger::schema()));
        schemas.push((HiddenTrigger::name().into(), HiddenTrigger::schema()));
        Trigger::schemas(schemas);
        HiddenTrigger::schemas(schemas);
    }
}

/// The body of `POST /v1/entities`, as the two that it can be.
#[derive(Debug, ToSchema)]
#[serde(tag = "type", rename_all = "lowercase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum NewEntity {
    /// A person.
    #[schema(rename_all = "camelCase")]
    Human {
        /// Its name.
        #[schema(schema_with = name)]
        name: String,
        /// Its id elsewhere.
        #[schema(schema_with = external_id, required = false)]
        external_id: Option<String>,
    },
    /// An agent.
    #[schema(rename_all = "camelCase")]
    Agent {
        /// Its name.
        #[schema(schema_with = name)]
        name: String,
        /// Its id elsewhere.
        #[schema(schema_with = external_id, required = false)]
        external_id: Option<String>,
        /// How it is configured.
        agent: Box<AgentConfig>,
    },
}

/// The body of `POST /v1/spaces`: a space's settings, and who is in it from the beginning.
#[derive(Debug)]
pub struct NewSpace;

#[derive(ToSchema)]
#[expect(dead_code, reason = "stands for its fields' schemas")]
struct NewMembers {
    #[serde(default)]
    #[schema(schema_with = members)]
    members: Vec<EntityId>,
}

fn members() -> RefOr<Schema> {
    let described = "Ids of people and agents; two agents of one name are refused.";
    let id = Ref::from_schema_name(EntityId::name());
    ArrayBuilder::new().items(id).max_items(Some(limits::MEMBERS)).default(Some(serde_json::json!([]))).description(Some(described)).into()
}

impl PartialSchema for NewSpace {
    fn schema() -> RefOr<Schema> {
        settings_and(NewMembers::schema(), |_| {})
    }
}

impl ToSchema for NewSpace {
    fn schemas(schemas: &mut Schemas) {
        SpaceSettings::schemas(schemas);
        NewMembers::schemas(schemas);
    }
}

#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "stands for its fields' schemas")]
struct BesideSettings {
    id: SpaceId,
    /// The number of its last message.
    seq: u64,
    created_at: Time,
    /// Who is in it.
    members: Vec<Member>,
    /// The caller's own place in it; null for the operator.
    #[schema(required)]
    me: Option<Me>,
}

impl PartialSchema for Space {
    fn schema() -> RefOr<Schema> {
        settings_and(BesideSettings::schema(), |space| {
            space.required = space.properties.keys().cloned().collect();
            space.additional_properties = None;
        })
    }
}

impl ToSchema for Space {
    fn schemas(schemas: &mut Schemas) {
        SpaceSettings::schemas(schemas);
        BesideSettings::schemas(schemas);
    }
}

/// A space's settings, with other fields beside them.
fn settings_and(beside: RefOr<Schema>, change: impl FnOnce(&mut Object)) -> RefOr<Schema> {
    let (RefOr::T(Schema::Object(mut whole)), RefOr::T(Schema::Object(beside))) = (SpaceSettings::schema(), beside) else {
        unreachable!("structs with named fields are described as objects");
    };
    whole.description = None;
    whole.properties.extend(beside.properties);
    whole.required.extend(beside.required);
    change(&mut whole);
    RefOr::T(Schema::Object(whole))
}
