//! Who answered a form.

use serde::{Deserialize, Serialize};
use utoipa::{
    ToSchema,
    openapi::schema::{Object, ObjectBuilder, Type},
};

use crate::ids::EntityId;

/// Who answered a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum ResolvedBy {
    /// A member, by its id.
    Member(EntityId),
    /// The operator, in nobody's name.
    Operator {
        /// What answered.
        #[schema(schema_with = operator)]
        kind: OperatorKind,
    },
}

/// Says that the operator acted, in nobody's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OperatorKind {
    /// The operator.
    Operator,
}

fn operator() -> Object {
    ObjectBuilder::new().schema_type(Type::String).enum_values(Some(["operator"])).build()
}

impl ResolvedBy {
    /// The operator, in nobody's name.
    pub const OPERATOR: Self = Self::Operator { kind: OperatorKind::Operator };
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Time;

    #[test]
    fn a_member_is_an_id_and_the_operator_an_object() {
        let member = EntityId::new(Time::from_millis(1), 5);
        for (by, json) in [
            (ResolvedBy::Member(member), json!(member)),
            (ResolvedBy::OPERATOR, json!({"kind": "operator"})),
        ] {
            assert_eq!(serde_json::to_value(by).unwrap(), json);
            assert_eq!(serde_json::from_value::<ResolvedBy>(json).unwrap(), by);
        }
        assert!(serde_json::from_value::<ResolvedBy>(json!({"kind": "owner"})).is_err());
    }
}
