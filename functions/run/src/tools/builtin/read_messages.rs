//! `read_messages`: reads further back, in any space that the agent belongs to.

use async_trait::async_trait;
use serde_json::{Value, json};
use smartspace_domain::Result;
use smartspace_store::{messages::Range, runs::steps::ShownPage};

use crate::{
    prompt::{
        lines::Lines,
        page::{Extent, Page},
    },
    tools::{
        builtin::shared::history::{lines_of, names_with},
        calling::{Calling, Outcome},
        input::text_of,
        naming::space_of,
        output::MAX_OUTPUT_BYTES,
        tool::{BuiltInTool, Spec},
    },
};

pub(crate) struct ReadMessages;

#[async_trait]
impl BuiltInTool for ReadMessages {
    fn spec(&self) -> Spec {
        Spec {
            name: "read_messages".into(),
            description:
                "Read messages of a space: the last ones, or those before or around a number."
                    .into(),
            input: json!({
                "type": "object",
                "properties": {
                    "spaceId": {
                        "type": "string",
                        "description": "Name or id; else the active space."
                    },
                    "limit": {
                        "type": "integer",
                        "minimum": 1,
                        "maximum": 100,
                        "default": 20
                    },
                    "before": {"type": "integer", "minimum": 1},
                    "around": {"type": "integer", "minimum": 1}
                },
                "additionalProperties": false
            }),
            read_only: true,
            changes_space: false,
            group: None,
        }
    }

    async fn call(&self, calling: &Calling<'_>, input: &Value) -> Result<Outcome> {
        let space = match space_of(calling, input, "spaceId").await? {
            Some(Ok(space)) => space,
            Some(Err(text)) => return Ok(Outcome::error(text)),
            None => match calling.active_space {
                Some(space) => space,
                None => return Ok(Outcome::error("no space is active; give spaceId")),
            },
        };
        let limit = input.get("limit").and_then(Value::as_u64).unwrap_or(20) as usize;
        let number = |field: &str| input.get(field).and_then(Value::as_u64);
        let before = match (number("before"), number("around")) {
            (Some(_), Some(_)) => {
                return Ok(Outcome::error("expected before or around, not both"));
            }
            // The message itself is one of the later half.
            (None, Some(around)) => around.saturating_add(limit.div_ceil(2) as u64),
            (before, None) => before.unwrap_or(u64::MAX),
        };
        let store = calling.context.store();
        let agent = calling.context.run.agent_id;
        let Some((record, member)) = store.members().membership(space, agent).await? else {
            return Ok(Outcome::error(format!(
                "you are not a member of {space}; YOUR SPACES lists where you are"
            )));
        };
        let (messages, head) = futures::try_join!(
            store.messages().whole_records(space, Range::Before(before), limit),
            store.members().head(space)
        )?;
        let newest = messages.last().map_or(0, |message| message.seq);
        let total = head.map_or(0, |head| head.seq).max(newest);
        let names = names_with(calling, space, [], &messages).await?;
        // All of a text that a timeline cuts.
        let max_chars = usize::MAX;
        let lines = Lines { max_chars, ..lines_of(calling, &names, space, &member) };
        let page = match number("around") {
            Some(around) => {
                let index = messages.partition_point(|message| message.seq < around);
                Page::next_to(&messages, &lines, index, MAX_OUTPUT_BYTES)
            }
            None => Page::newest(&messages, &lines, MAX_OUTPUT_BYTES),
        };
        let shown = page.first().zip(page.last()).map(|(first, last)| ShownPage {
            space,
            first,
            last,
            cursor: member.cursor,
        });
        // The hint names the space as the model has named it.
        let named = Some(text_of(input, "spaceId")).filter(|_| calling.active_space != Some(space));
        let text = page.write(&record.settings.name, &lines, Extent { before, total }, named);
        Ok(Outcome { page: shown, ..Outcome::lines(text.trimmed_end()) })
    }
}
