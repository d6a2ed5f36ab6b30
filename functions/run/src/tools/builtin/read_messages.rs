//! `read_messages`: reads further back, in any space that the agent belongs to.

use async_trait::async_trait;
use serde_json::{Value, json};
use smartspace_domain::{
    Result,
    ids::SpaceId,
    messages::{Message, Part},
};
use smartspace_store::{messages::Range, runs::steps::ShownPage, spaces::rosters::MemberRecord};

use crate::{
    prompt::why::write_why,
    tools::{
        calling::{Calling, Outcome},
        naming::space_of,
        output::{MAX_OUTPUT_BYTES, count_that_fit},
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
        let Some(member) = store.members().get(space, agent).await? else {
            return Ok(Outcome::error(format!(
                "you are not a member of {space}; YOUR SPACES lists where you are"
            )));
        };
        let (messages, head) = futures::try_join!(
            store.messages().list(space, Range::Before(before), limit),
            store.members().roster(space)
        )?;
        let newest = messages.last().map_or(0, |message| message.seq);
        let mut written: Vec<Value> =
            messages.iter().map(|message| message_json(space, message, &member)).collect();
        if let Some(around) = number("around") {
            written = fitting_around(written, messages.partition_point(|it| it.seq < around));
        }
        let last = written.last().and_then(|message| message["seq"].as_u64()).unwrap_or(0);
        let shown = fitting(written);
        let first = last + 1 - shown.len() as u64;
        let page =
            (!shown.is_empty()).then_some(ShownPage { space, first, last, cursor: member.cursor });
        let next_before = (first > 1 && !shown.is_empty()).then_some(first);
        let total = head.head.seq.max(newest);
        let output = json!({"messages": shown, "total": total, "nextBefore": next_before});
        Ok(Outcome { page, ..Outcome::completed(output) })
    }
}

/// A message of a space as the model is shown it.
pub(crate) fn message_json(space: SpaceId, message: &Message, member: &MemberRecord) -> Value {
    let mut shown = json!({
        "id": message.id,
        "seq": message.seq,
        "at": message.created_at.to_whole_seconds(),
        "sender": message.sender,
        "text": message.text(),
        "seen": message.seq <= member.cursor || message.sender.id == member.entity_id,
    });
    if let Some(origin) = message.origin.as_ref().filter(|_| message.sender.id == member.entity_id)
    {
        shown["because"] = json!(write_why(space, member.entity_id, origin));
    }
    if message.is_partial() {
        shown["stopped"] = json!(true);
    }
    let files: Vec<_> = message
        .parts
        .iter()
        .filter_map(|part| if let Part::File(file) = part { Some(json!(file)) } else { None })
        .collect();
    if !files.is_empty() {
        shown["files"] = json!(files);
    }
    if let Some(Part::Tool(tool)) = message.parts.first() {
        shown["tool"] = json!({
            "name": tool.name,
            "input": tool.input,
            "output": tool.output,
            "status": tool.status
        });
    }
    shown
}

/// The messages next to the one at `index` that fit a result. That one stays.
fn fitting_around(mut messages: Vec<Value>, index: usize) -> Vec<Value> {
    let sizes: Vec<usize> = messages.iter().map(|message| message.to_string().len() + 1).collect();
    let mut bytes: usize = sizes.iter().sum();
    let mut kept = 0..messages.len();
    while kept.len() > 1 && bytes > MAX_OUTPUT_BYTES {
        let before = index.saturating_sub(kept.start).min(kept.len() - 1);
        if kept.len() - 1 - before >= before {
            kept.end -= 1;
            bytes -= sizes[kept.end];
        } else {
            bytes -= sizes[kept.start];
            kept.start += 1;
        }
    }
    messages.drain(kept).collect()
}

/// The newest of the messages that fit a result, but at least one.
pub(crate) fn fitting(mut messages: Vec<Value>) -> Vec<Value> {
    let fit = count_that_fit(messages.iter().rev(), MAX_OUTPUT_BYTES).max(1).min(messages.len());
    messages.split_off(messages.len() - fit)
}
