//! A trigger as the API shows it: all of it, or only its type.

use serde::{Deserialize, Deserializer};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        RefOr,
        schema::{AnyOfBuilder, Ref, Schema},
    },
};

use crate::triggers::{HiddenTrigger, Trigger};

/// Reads a trigger as the API shows it: all of it, or only its type.
pub(crate) fn shown<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Trigger, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Shown {
        Whole(Box<Trigger>),
        Hidden(HiddenTrigger),
    }
    Ok(match Shown::deserialize(deserializer)? {
        Shown::Whole(trigger) => *trigger,
        Shown::Hidden(hidden) => Trigger::Hidden(hidden),
    })
}

/// The schema of a trigger as the API shows it: all of it, or only its `type`.
#[derive(Debug)]
pub struct ShownTrigger;

impl PartialSchema for ShownTrigger {
    fn schema() -> RefOr<Schema> {
        let one_of = [Trigger::name(), HiddenTrigger::name()].map(Ref::from_schema_name);
        let shown = one_of.into_iter().fold(AnyOfBuilder::new(), AnyOfBuilder::item);
        shown
            .description(Some(
                "Why the run was started. Readers who may know no more see only `type`.",
            ))
            .into()
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
