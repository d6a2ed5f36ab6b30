//! The bodies of `PATCH`: JSON merge patches (RFC 7396) of the settings. No field is required. A
//! field that is optional in the settings may be null, which resets it to its default.

use utoipa::openapi::{
    Components, RefOr,
    schema::{
        AdditionalProperties, Object, ObjectBuilder, OneOf, OneOfBuilder, Schema, SchemaType, Type,
    },
};

const SCHEMAS: &str = "#/components/schemas/";

/// Replaces the schemas of entity and space settings by their patches.
pub(super) fn describe(components: &mut Components) {
    for settings in ["EntitySettings", "SpaceSettings"] {
        patch_of(settings, components);
        components.schemas.remove(settings);
    }
}

/// Describes a patch of a component that is an object with fields, and returns the patch's name.
fn patch_of(name: &str, components: &mut Components) -> Option<String> {
    let patch_name = format!("{}Patch", name.trim_end_matches("Settings"));
    if components.schemas.contains_key(&patch_name) {
        return Some(patch_name);
    }
    let Some(RefOr::T(Schema::Object(whole))) = components.schemas.get(name) else { return None };
    if whole.properties.is_empty() {
        return None;
    }
    let mut patch = whole.clone();
    let required = std::mem::take(&mut patch.required);
    for (field, schema) in &mut patch.properties {
        *schema = field_of(
            std::mem::replace(schema, Object::new().into()),
            !required.contains(field),
            components,
        );
    }
    components.schemas.insert(patch_name.clone(), Schema::Object(patch).into());
    Some(patch_name)
}

fn field_of(
    schema: RefOr<Schema>,
    may_be_null: bool,
    components: &mut Components,
) -> RefOr<Schema> {
    let schema = match schema {
        RefOr::Ref(mut whole) => {
            whole.default = None;
            if let Some(name) =
                whole.ref_location.strip_prefix(SCHEMAS).and_then(|name| patch_of(name, components))
            {
                whole.ref_location = format!("{SCHEMAS}{name}");
            }
            RefOr::Ref(whole)
        }
        // Null or a reference.
        RefOr::T(Schema::OneOf(choice)) => {
            let OneOf { items, description, .. } = choice;
            let items = items.into_iter().map(|item| {
                if let RefOr::Ref(_) = item { field_of(item, false, components) } else { item }
            });
            return RefOr::T(Schema::OneOf(OneOf {
                items: items.collect(),
                description,
                ..OneOf::new()
            }));
        }
        RefOr::T(Schema::Object(mut object)) => {
            object.default = None;
            if let Some(AdditionalProperties::RefOr(value)) =
                object.additional_properties.as_deref_mut()
            {
                *value = field_of(value.clone(), true, components);
            }
            RefOr::T(Schema::Object(object))
        }
        RefOr::T(Schema::Array(mut array)) => {
            array.default = None;
            RefOr::T(Schema::Array(array))
        }
        RefOr::T(other) => RefOr::T(other),
    };
    if may_be_null { or_null(schema) } else { schema }
}

fn or_null(schema: RefOr<Schema>) -> RefOr<Schema> {
    let with_null = |kind: &SchemaType| match kind {
        SchemaType::Type(kind) => SchemaType::from_iter([kind.clone(), Type::Null]),
        other => other.clone(),
    };
    match schema {
        RefOr::T(Schema::Object(mut object)) => {
            object.schema_type = with_null(&object.schema_type);
            RefOr::T(Schema::Object(object))
        }
        RefOr::T(Schema::Array(mut array)) => {
            array.schema_type = with_null(&array.schema_type);
            RefOr::T(Schema::Array(array))
        }
        other => OneOfBuilder::new()
            .item(ObjectBuilder::new().schema_type(Type::Null))
            .item(other)
            .into(),
    }
}
