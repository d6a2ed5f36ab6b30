//! `enter_space`: makes another space the active one, and shows its last messages.

use async_trait::async_trait;
use serde_json::{Value, json};
use smartspace_domain::{Result, spaces::SpaceSettings};
use smartspace_store::{
    messages::{MessageRecord, Range},
    spaces::SpaceOverview,
};

use crate::{
    prompt::{
        lines::Lines,
        page::{Extent, Page},
        placed::Placed,
        spaces::write_entered_space,
        waking::{CHAIN_ENDS, chain_ends, write_waking},
    },
    tools::{
        builtin::shared::history::{lines_of, names_with},
        calling::{Calling, Outcome},
        naming::space_of,
        output::MAX_OUTPUT_BYTES,
        tool::{BuiltInTool, Spec},
    },
};

/// The number of messages without `limit`.
const DEFAULT_LIMIT: u64 = 20;

pub(crate) struct EnterSpace;

#[async_trait]
impl BuiltInTool for EnterSpace {
    fn spec(&self) -> Spec {
        Spec {
            name: "enter_space".into(),
            description: "Make another of your spaces the active one, and read its last messages."
                .into(),
            input: json!({
                "type": "object",
                "properties": {
                    "spaceId": {
                        "type": "string",
                        "description": "Its name or id."
                    },
                    "limit": {
                        "type": "integer",
                        "minimum": 0,
                        "maximum": 200,
                        "default": DEFAULT_LIMIT,
                        "description": "How many messages."
                    }
                },
                "required": ["spaceId"],
                "additionalProperties": false
            }),
            read_only: true,
            changes_space: true,
            group: None,
        }
    }

    async fn call(&self, calling: &Calling<'_>, input: &Value) -> Result<Outcome> {
        let space = match space_of(calling, input, "spaceId").await? {
            Some(Ok(space)) => space,
            Some(Err(text)) => return Ok(Outcome::error(text)),
            None => return Ok(Outcome::error("spaceId: expected the name or id of a space")),
        };
        let limit = input.get("limit").and_then(Value::as_u64).unwrap_or(DEFAULT_LIMIT) as usize;
        let store = calling.context.store();
        let agent = calling.context.run.agent_id;
        let Some((record, member, head)) = store.members().with_head(space, agent).await? else {
            return Ok(Outcome::error(format!(
                "you are not a member of {space}; YOUR SPACES lists where you are"
            )));
        };
        // One message at least, since the last one has the number of messages.
        let wanted = [space];
        let (mut messages, mut overviews) = futures::try_join!(
            store.messages().records(space, Range::Before(u64::MAX), limit.max(1)),
            store.spaces().overviews(&wanted)
        )?;
        let total = messages.last().map_or(0, |message| message.seq);
        if limit == 0 {
            messages.clear();
        }
        let Some(overview) = overviews.remove(&space) else {
            return Ok(Outcome::error(format!("{space} was deleted")));
        };
        let members = overview.members.iter().map(|member| &member.sender);
        let names = names_with(calling, space, members, &messages).await?;
        let lines = lines_of(calling, &names, space, &member);
        let run = &calling.context.run;
        let ends = chain_ends(&record.settings, Some(&overview), run.agent_id, run.chain_depth);
        let wakes = if ends { CHAIN_ENDS } else { write_waking(&record.settings, Some(&overview)) };
        let output = write_entered(&record.settings, wakes, &overview, &lines, &messages, total);
        // The messages that are not shown are counted, so they count as read, too.
        Ok(Outcome {
            active_space: Some(space),
            read_up_to: Some((space, total)),
            changed: Some(head.changed),
            ..Outcome::lines(output)
        })
    }
}

/// Writes a space that the agent has entered: its members, whom a message `wakes`, and its last
/// messages. `total` is the number of the last one.
pub(crate) fn write_entered(
    settings: &SpaceSettings,
    wakes: &str,
    overview: &SpaceOverview,
    lines: &Lines<'_>,
    messages: &[MessageRecord],
    total: u64,
) -> Placed {
    let entered = write_entered_space(lines.names, lines.space, overview);
    let page = Page::newest(messages, lines, MAX_OUTPUT_BYTES);
    let history = page.write(&settings.name, lines, Extent { before: u64::MAX, total }, None);
    let mut output = Placed::plain(format!("{entered}{wakes}\n"));
    output.append(&history);
    output.trimmed_end()
}

#[cfg(test)]
mod tests;
