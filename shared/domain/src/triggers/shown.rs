//! A trigger as the API shows it: all of it, a reference to it, or only its type.

use serde::{Deserialize, Deserializer};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        RefOr,
        schema::{AnyOfBuilder, Ref, Schema},
    },
};

use crate::triggers::{HiddenTrigger, Trigger, TriggerReference};

/// Reads a trigger as the API shows it: all of it, a reference to it, or only its type.
pub(crate) fn shown<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Trigger, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Shown {
        Whole(Box<Trigger>),
        Reference(TriggerReference),
        Hidden(HiddenTrigger),
    }
    Ok(match Shown::deserialize(deserializer)? {
        Shown::Whole(trigger) => *trigger,
        Shown::Reference(reference) => Trigger::Reference(reference),
        Shown::Hidden(hidden) => Trigger::Hidden(hidden),
    })
}

/// The schema of a message's trigger: all of it, or only its `type`.
#[derive(Debug)]
pub struct ShownTrigger;

/// The schema of a run's trigger: all of it, a reference to it, or only its `type`.
#[derive(Debug)]
pub struct RunTrigger;

fn any_of(schemas: &[std::borrow::Cow<'static, str>], description: &str) -> RefOr<Schema> {
    let refs = schemas.iter().cloned().map(Ref::from_schema_name);
    refs.fold(AnyOfBuilder::new(), AnyOfBuilder::item).description(Some(description)).into()
}

impl PartialSchema for ShownTrigger {
    fn schema() -> RefOr<Schema> {
        any_of(
            &[Trigger::name(), HiddenTrigger::name()],
            "Why the run was started. Readers who may know no more see only `type`.",
        )
    }
}

impl PartialSchema for RunTrigger {
    fn schema() -> RefOr<Schema> {
        any_of(
            &[Trigger::name(), TriggerReference::name(), HiddenTrigger::name()],
            "Why the run was started: all of it in the answers of calls about one run, and without \
             its texts in lists and events. Readers who may know no more see only `type`.",
        )
    }
}

impl ToSchema for ShownTrigger {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((Trigger::name().into(), Trigger::schema()));
        schemas.push((HiddenTrigger::name().into(), HiddenTrigger::schema()));
        Trigger::schemas(schemas);
        HiddenTrigger::schemas(schemas);
    }
}

impl ToSchema for RunTrigger {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        ShownTrigger::schemas(schemas);
        schemas.push((TriggerReference::name().into(), TriggerReference::schema()));
        TriggerReference::schemas(schemas);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_hidden_trigger_can_be_read_again() {
        for kind in ["space_message", "plan", "service"] {
            let text = json!({"type": kind});
            let read = shown(&text).unwrap();
            assert!(matches!(read, Trigger::Hidden(_)));
            assert_eq!(serde_json::to_value(read).unwrap(), text);
        }
        assert!(
            shown(&json!({"type": "space_message", "seq": 1})).is_err(),
            "an incomplete trigger is refused"
        );
    }
}
