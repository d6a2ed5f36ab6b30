//! The actions that a client may request, except `subscribe` and `unsubscribe`.

use std::collections::{BTreeMap, BTreeSet};

use futures::future::{join, join_all};
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
    reply_to: Option<u64>,
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
        if matches!(action, Action::Send { .. } | Action::ToolResult { .. } | Action::Decide { .. })
        {
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
            Action::Send { space_id, text, attachments, reply_to, idempotency_key, sender_id } => {
                let key = idempotency_key;
                let send = Send { space: space_id, text, attachments, reply_to, key };
                let answer = self.send(connection.caller, send, sender_id).await?;
                self.answer(&connection.id, id, answer).await;
                Ok(())
            }
            Action::ToolResult { run_id, call_id, output } => {
                let (caller, answer) = (connection.caller, FormAnswer::Output(output));
                self.pipeline.answer_form(caller, None, run_id, call_id, &answer).await?;
                let answer = json!({"type": "accepted", "runId": run_id, "callId": call_id});
                self.answer(&connection.id, id, answer).await;
                Ok(())
            }
            Action::Decide { run_id, call_id, decision, sender_id } => {
                let caller = connection.caller;
                let decided = self.pipeline.decide(caller, sender_id, run_id, call_id, &decision);
                let mut answer = json!({"type": "accepted", "runId": run_id, "callId": call_id});
                answer["approvals"] = json!(decided.await?);
                self.answer(&connection.id, id, answer).await;
                Ok(())
            }
            Action::Presence { space_id, typing } => {
                self.show_presence(connection, id, space_id, typing).await
            }
            Action::Ping { spaces, present } => {
                let ahead = self.spaces_ahead(connection.caller, &spaces);
                let (ahead, renewed) = join(ahead, self.renew(connection, &present)).await;
                renewed?;
                self.answer(&connection.id, id, json!({"type": "pong", "spaces": ahead?})).await;
                Ok(())
            }
        }
    }

    async fn show_presence(
        &self,
        connection: &ConnectionRecord,
        id: Option<&Value>,
        space_id: SpaceId,
        typing: bool,
    ) -> Result<()> {
        let activity = if typing { Activity::Types } else { Activity::Rests };
        self.pipeline.beat(connection, space_id, activity).await?;
        // Each frame costs. A client that does not name its request needs no answer.
        if id.is_some() {
            let answer = json!({"type": "accepted", "spaceId": space_id});
            self.answer(&connection.id, id, answer).await;
        }
        Ok(())
    }

    async fn send(&self, caller: Caller, send: Send, sender: Option<EntityId>) -> Result<Value> {
        let Send { space, text, attachments, reply_to, key } = send;
        let sender = self.pipeline.speaker(caller, space, sender).await?;
        let mut body = format!("{sender} {text}");
        for file in &attachments {
            // No text has a NUL.
            body.push('\0');
            body.push_str(&file.to_string());
        }
        if let Some(parent) = reply_to {
            body.push_str("\0#");
            body.push_str(&parent.to_string());
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
            reply_to,
            by: MessageSource::External { key, depth: 0, page: None },
        };
        let posted = self.pipeline.post_as(caller, new, &attachments).await?;
        Ok(json!({"type": "sent", "messageId": posted.message.id, "seq": posted.message.seq}))
    }

    /// Renews the presence of a connection in some spaces. One that fails keeps no other from it.
    async fn renew(
        &self,
        connection: &ConnectionRecord,
        present: &BTreeSet<SpaceId>,
    ) -> Result<()> {
        let renew = |space| self.pipeline.beat(connection, space, Activity::Stays);
        join_all(present.iter().copied().map(renew)).await.into_iter().collect()
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
