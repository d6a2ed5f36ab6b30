//! `enter_space`: makes another space the active one, and shows its last messages.

use async_trait::async_trait;
use serde_json::{Value, json};
use smartspace_domain::Result;
use smartspace_store::messages::Range;

use crate::tools::{
    builtin::read_messages::{fitting, message_json},
    calling::{Calling, Outcome},
    naming::space_of,
    tool::{BuiltInTool, Spec},
};

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
                        "minimum": 1,
                        "maximum": 100,
                        "default": 50,
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
        let limit = input.get("limit").and_then(serde_json::Value::as_u64).unwrap_or(50) as usize;
        let store = calling.context.store();
        let agent = calling.context.run.agent_id;
        let Some((record, member)) = store.members().membership(space, agent).await? else {
            return Ok(Outcome::error(format!(
                "you are not a member of {space}; YOUR SPACES lists where you are"
            )));
        };
        let messages = store.messages().list(space, Range::Before(u64::MAX), limit).await?;
        let total = messages.last().map_or(0, |message| message.seq);
        let history =
            fitting(messages.iter().map(|message| message_json(space, message, &member)).collect());
        let first = total + 1 - history.len() as u64;
        // `unreadBefore` counts the new messages that are not shown, so they count as read, too.
        let unread_before = (first - 1).saturating_sub(member.cursor);
        let output = json!({
            "success": true,
            "spaceId": space,
            "spaceName": record.settings.name,
            "history": history,
            "totalMessages": total,
            "unreadBefore": unread_before,
        });
        Ok(Outcome {
            active_space: Some(space),
            read_up_to: Some((space, total)),
            ..Outcome::completed(output)
        })
    }
}
