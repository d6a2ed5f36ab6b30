//! The schemas of a space and of a new space. Both consist of the space's settings and of
//! other fields, which a derive cannot express without a nested schema.

use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        RefOr,
        schema::{ArrayBuilder, Object, Ref, Schema},
    },
};

use crate::{
    Time,
    budgets::Budget,
    ids::{EntityId, SpaceId},
    limits,
    managed_by::ManagedBy,
    spaces::{
        LastMessage, Looked, Member, OwnPosition, Space, SpaceSettings, router::RouterConfig,
    },
};

/// The schema of the body of `POST /v1/spaces`: a space's settings and its first members.
#[derive(Debug)]
pub struct NewSpace;

#[derive(ToSchema)]
#[expect(dead_code, reason = "only the schemas of its fields are used")]
struct NewMembers {
    #[serde(default)]
    #[schema(schema_with = members)]
    members: Vec<EntityId>,
}

fn members() -> RefOr<Schema> {
    let described = "Ids of the first members. Two agents may not have the same name.";
    let id = Ref::from_schema_name(EntityId::name());
    ArrayBuilder::new()
        .items(id)
        .max_items(Some(limits::MEMBERS))
        .default(Some(serde_json::json!([])))
        .description(Some(described))
        .into()
}

impl PartialSchema for NewSpace {
    fn schema() -> RefOr<Schema> {
        settings_with(NewMembers::schema(), |_| {})
    }
}

impl ToSchema for NewSpace {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        SpaceSettings::schemas(schemas);
        NewMembers::schemas(schemas);
    }
}

#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "only the schemas of its fields are used")]
struct OtherFields {
    /// The space's id.
    id: SpaceId,
    /// How the router chooses agents. Absent, as `budget`, unless the reader is an owner or the
    /// operator.
    router: Option<RouterConfig>,
    /// The limits for the space's runs and costs.
    budget: Budget,
    /// The files that manage the space. Only owners and the operator see it. Absent if none do.
    managed_by: Option<ManagedBy>,
    /// The `seq` of the space's last message.
    seq: u64,
    /// How many of its messages are tool cards.
    cards: u64,
    /// The last message, in short; null in a space without messages. Absent in events.
    last_message: Option<LastMessage>,
    /// When the space was created.
    created_at: Time,
    /// The members, people and agents.
    members: Vec<Member>,
    /// The `seq` of the pinned messages, in the order in which they were pinned; absent without.
    pins: Vec<u64>,
    /// The caller's read position; null for the operator.
    #[schema(required)]
    me: Option<OwnPosition>,
    /// How far the operator has looked; null if it never has. Absent for all others.
    looked: Option<Looked>,
}

impl PartialSchema for Space {
    fn schema() -> RefOr<Schema> {
        settings_with(OtherFields::schema(), |space| {
            let hidden = ["router", "budget", "managedBy", "pins", "lastMessage", "looked"];
            let is_hidden = |name: &&String| hidden.contains(&name.as_str());
            space.required =
                space.properties.keys().filter(|name| !is_hidden(name)).cloned().collect();
            space.additional_properties = None;
        })
    }
}

impl ToSchema for Space {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        SpaceSettings::schemas(schemas);
        OtherFields::schemas(schemas);
    }
}

/// The schema of a space's settings with other fields added.
fn settings_with(others: RefOr<Schema>, change: impl FnOnce(&mut Object)) -> RefOr<Schema> {
    let (RefOr::T(Schema::Object(mut whole)), RefOr::T(Schema::Object(others))) =
        (SpaceSettings::schema(), others)
    else {
        unreachable!("structs with named fields are described as objects");
    };
    whole.description = None;
    whole.properties.extend(others.properties);
    whole.required.extend(others.required);
    change(&mut whole);
    RefOr::T(Schema::Object(whole))
}
