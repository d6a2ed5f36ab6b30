//! The space of a card. The model may choose it with an extra input, which visible tools have.

use serde_json::{Value, json};
use smartspace_domain::ids::SpaceId;

use crate::tools::{
    configured::{Configured, ToolKind},
    output::bounded_to,
};

/// An extra input of visible tools: the space for the card, if not the active one. It is removed
/// before the call.
pub(crate) const TARGET: &str = "targetSpaceId";

impl Configured {
    /// Whether the model may choose the space of the card. It may not if the tool has an input of
    /// that name itself, or if a page waits for its calls in one space.
    pub(crate) fn takes_target(&self) -> bool {
        let properties = self.input_schema.get("properties");
        self.is_visible
            && !matches!(self.kind, ToolKind::Page(_))
            && self.input_schema.is_object()
            && properties.is_none_or(|properties| properties.get(TARGET).is_none())
    }

    /// The input schema as models read it: with [`TARGET`], if they may choose.
    pub(super) fn offered_schema(&self) -> Value {
        let mut input_schema = self.input_schema.clone();
        if self.takes_target()
            && let Some(schema) = input_schema.as_object_mut()
        {
            schema.entry("type").or_insert_with(|| json!("object"));
            let about = "The id of another space of yours where this is to be shown, instead of \
                         the active one. Write it first.";
            if let Some(properties) =
                schema.entry("properties").or_insert_with(|| json!({})).as_object_mut()
            {
                properties
                    .insert(TARGET.to_owned(), json!({"type": "string", "description": about}));
            }
        }
        input_schema
    }

    /// The space in which a call is shown, and its input without the target. `active` is the active
    /// space.
    pub(super) fn shown_in(
        &self,
        active: Option<SpaceId>,
        mut input: Value,
    ) -> Result<(SpaceId, Value), String> {
        let target = if self.takes_target() {
            match input.as_object_mut().and_then(|input| input.shift_remove(TARGET)) {
                Some(Value::String(target)) => Some(target),
                Some(Value::Null) | None => None,
                Some(other) => {
                    return Err(format!(
                        "{TARGET}: expected the id of a space, got {}",
                        bounded_to(other, 100)
                    ));
                }
            }
        } else {
            None
        };
        let space = match target {
            Some(target) => {
                target.parse().map(Some).map_err(|error| format!("{TARGET}: {error}"))?
            }
            None => self.target.or(active),
        };
        match space {
            Some(space) => Ok((space, input)),
            None => Err(format!(
                "this is shown in a space, and none is active; call enter_space first, or give \
                    {TARGET}"
            )),
        }
    }
}
