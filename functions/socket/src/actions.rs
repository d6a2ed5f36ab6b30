//! The actions that a client may request, except `subscribe` and `unsubscribe`.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use smartspace_domain::{
    Error, Result,
    access::{Caller, SpaceAction},
    forms::FormAnswer,
    idempotency::IdempotencyKey,
    ids::{AttachmentId, EntityId, MessageId, SpaceId},
};
use smartspace_pipeline::presence::Activity;
use smartspace_store::{
    connections::ConnectionRecord,
    idempotency::PostKey,
    messages::append::{Content, MessageSource, NewMessage},
};

use crate::{Socket, requests::Action};

struct Send {
    space: SpaceId,
    text: String,
    attachments: Vec<AttachmentId>,
    key: Option<IdempotencyKey>,
}

impl Socket {
    /// Does what a request asks for, and answers it. `id` is the id of the request.
    pub(crate) async fn act(
        &self,
        connection: &ConnectionRecord,
        id: Option<&Value>,
        action: Action,
    ) -> Result<()> {
        if matches!(action, Action::Send { .. } | Action::ToolResult { .. }) {
            self.pipeline.count_call(connection.caller).await?;
        }
        match action {
            Action::Subscribe { space_id, after_seq, n } => {
                self.subscribe(connection, id, space_id, after_seq, n).await
            }
            Action::Unsubscribe { space_id, n } => {
                self.unsubscribe(connection, id, space_id, n).await
            }
            Action::Snapshot { stream_id, space_id } => {
                self.ask_for_snapshot(connection, space_id).await?;
                let answer = json!({"type": "accepted", "streamId": stream_id});
                self.answer(&connection.id, id, answer).await;
                Ok(())
            }
            Action::Send { space_id, text, attachments, idempotency_key, sender_id } => {
                let send = Send { space: space_id, text, attachments, key: idempotency_key };
                let answer = self.send(connection.caller, send, sender_id).await?;
                self.answer(&connection.id, id, answer).await;
                Ok(())
            }
            Action::ToolResult { run_id, call_id, output } => {
                self.pipeline
                    .answer_form(connection.caller, run_id, call_id, &FormAnswer::Output(output))
                    .await?;
                self.answer(
                    &connection.id,
                    id,
                    json!({"type": "accepted", "runId": run_id, "callId": call_id}),
                )
                .await;
                Ok(())
            }
            Action::Presence { space_id, typing, hidden } => {
                let activity = Activity { typing, hidden };
                self.pipeline.beat(connection, space_id, activity).await?;
                let answer = json!({"type": "accepted", "spaceId": space_id});
                self.answer(&connection.id, id, answer).await;
                Ok(())
            }
            Action::Ping { spaces } => {
                let ahead = self.spaces_ahead(connection.caller, &spaces).await?;
                self.answer(&connection.id, id, json!({"type": "pong", "spaces": ahead})).await;
                Ok(())
            }
        }
    }

    async fn send(&self, caller: Caller, send: Send, sender: Option<EntityId>) -> Result<Value> {
        let Send { space, text, attachments, key } = send;
        let sender = self.pipeline.speaker(caller, space, sender).await?;
        let mut body = format!("{sender} {text}");
        for file in &attachments {
            // No text has a NUL.
            body.push('\0');
            body.push_str(&file.to_string());
        }
        let key = key.map(|key| {
            PostKey::new(&caller.label(), "send", &space.to_string(), &key, body.as_bytes())
        });
        let id = MessageId::new(self.pipeline.now(), self.pipeline.ids.random());
        let new = NewMessage {
            id,
            space,
            sender,
            content: Content::of(text, !attachments.is_empty())?,
            files: Vec::new(),
            by: MessageSource::External { key, depth: 0 },
        };
        let posted = self.pipeline.post_as(caller, new, &attachments).await?;
        Ok(json!({"type": "sent", "messageId": posted.message.id, "seq": posted.message.seq}))
    }

    /// The spaces that have a higher `seq` than the client, with their `seq`.
    async fn spaces_ahead(
        &self,
        caller: Caller,
        spaces: &BTreeMap<SpaceId, u64>,
    ) -> Result<BTreeMap<SpaceId, u64>> {
        let mut ahead = BTreeMap::new();
        for (space, seq) in spaces {
            match self.pipeline.authorise(caller, SpaceAction::Read, *space).await {
                Ok(()) => {}
                Err(Error::NotFound(_)) => continue,
                Err(error) => return Err(error),
            }
            // A deleted space has no head.
            if let Some(head) =
                self.pipeline.store.members().head(*space).await?.filter(|head| head.seq > *seq)
            {
                ahead.insert(*space, head.seq);
            }
        }
        Ok(ahead)
    }
}
