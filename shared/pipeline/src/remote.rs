//! What a remote agent does about its run: it posts messages, shows what it is writing, and
//! completes the run. The caller has checked the token of the run.

use serde_json::json;
use smartspace_domain::{
    Error, Result,
    events::{EventKind, MessageReactions, StreamKind, pieces},
    ids::{AttachmentId, CallId, MessageId, SpaceId, StreamId},
    limits,
    messages::{Message, Origin, excerpt},
    rates,
    runs::{EndReason, FailureCode, ReportedUsage, Run, RunError, RunStatus},
};
use smartspace_store::{
    attachments::FileRecord,
    idempotency::PostKey,
    messages::append::{Appended, Authority, Content, MessageSource, NewMessage, RunSender},
    runs::{RemoteRecord, RunRecord, endings::Ending, steps::CallRecord},
};

use crate::{Pipeline, queue, reactions::ReactionChange};

/// How much of a message is stored with its call, in characters.
const EXCERPT_CHARS: usize = 200;
/// How often a request is tried again that met another one of the same run.
const TRIES: usize = 20;

/// A message that a remote agent posts.
#[derive(Clone, Debug)]
pub struct RemoteMessage {
    /// Its text, if it has one.
    pub content: Content,
    /// Its files, which its space has.
    pub files: Vec<AttachmentId>,
    /// The space that it is for. `None` is the space that triggered the run.
    pub space: Option<SpaceId>,
    /// The key of the stream that it ends.
    pub stream_key: Option<String>,
    /// The number of the message to which it replies, or 0 for none. `None` leaves it to the run's
    /// trigger.
    pub reply_to: Option<u64>,
    /// The idempotency key of the request.
    pub key: PostKey,
}

/// A text that a remote agent is writing.
#[derive(Clone, Debug)]
pub struct RemoteText {
    /// The key of the stream.
    pub stream_key: String,
    /// The space of its message. `None` is the space that triggered the run.
    pub space: Option<SpaceId>,
    /// The position of the text in the stream, in UTF-16 code units.
    pub offset: usize,
    pub text: String,
    /// Whether it is the whole text so far.
    pub is_snapshot: bool,
}

/// How a remote agent completes its run.
#[derive(Clone, Debug)]
pub struct RemoteEnd {
    /// Whether it failed.
    pub is_failed: bool,
    /// Why it failed, or why it says nothing.
    pub reason: Option<String>,
    pub usage: Option<ReportedUsage>,
}

impl Pipeline {
    /// Posts a message of a remote agent. The message, its call and the check of the lease are one
    /// transaction. Fails with [`Error::Conflict`] if the run is over.
    pub async fn post_for_remote(&self, run: &RunRecord, new: &RemoteMessage) -> Result<Message> {
        let space = space_of(run, new.space)?;
        if let Err(over) = self.still_remote(run) {
            let repeated = self.store.messages().repeated(space, &new.key, self.now()).await?;
            return repeated.map(|appended| appended.message).ok_or(over);
        }
        self.count(&format!("{} answers", run.id), rates::REMOTE_ANSWERS).await?;
        // A repeated request gets the same answer, whatever has become of its files since.
        if !new.files.is_empty()
            && let Some(posted) =
                self.store.messages().repeated(space, &new.key, self.now()).await?
        {
            return Ok(posted.message);
        }
        let shown_in = match run.space_id() {
            Some(_) => None,
            None => Some(self.shown_in(run).await?),
        };
        let trigger = self.store.triggers().of(run).await?;
        let origin = Origin { trigger: trigger.clone().in_short(), tools_used: Vec::new() };
        let files = self.files_of_remote(run, space, &new.files).await?;
        let posted = self.post_counted(run, space, new, files, origin).await?;
        if let Some(spaces) = shown_in {
            let shown = self.store.runs().show_active(run, space, self.now()).await;
            if let Err(error) = shown {
                tracing::warn!(run = %run.id, %space, %error, "a space does not list a run");
            }
            if !spaces.contains(&space) {
                let view = Run { active_space_id: Some(space), ..run.view(trigger.clone(), None) };
                self.announce(space, EventKind::RunStarted { run: Box::new(view) }).await;
            }
        }
        if let Some(key) = new.stream_key.as_ref().filter(|_| !posted.repeated) {
            let stream_id = stream_of(run, key).1;
            let message_id = Some(posted.message.id);
            let ended = EventKind::StreamEnded { stream_id, message_id, reason: None };
            self.announce(space, ended).await;
        }
        Ok(posted.message)
    }

    /// The files that a message of a remote agent names. Only a member learns whether a space has
    /// a file.
    async fn files_of_remote(
        &self,
        run: &RunRecord,
        space: SpaceId,
        ids: &[AttachmentId],
    ) -> Result<Vec<FileRecord>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let member = self.store.members().membership(space, run.agent_id).await?;
        member.ok_or_else(no_member)?;
        self.files_named(space, ids).await
    }

    /// Posts a message as the next one of its run. If another message of the run is stored first,
    /// this one counts again.
    async fn post_counted(
        &self,
        run: &RunRecord,
        space: SpaceId,
        new: &RemoteMessage,
        files: Vec<FileRecord>,
        origin: Origin,
    ) -> Result<Appended> {
        // By its id a request knows whether a stored message is its own: two requests with the same
        // key may come at the same moment.
        let id = MessageId::new(self.now(), self.ids.random());
        let mut run = run.clone();
        for _ in 0..TRIES {
            let remote = self.still_remote(&run)?;
            if let Err(refusal) = self.may_post(&run, new).await {
                let repeated = self.store.messages().repeated(space, &new.key, self.now()).await?;
                return repeated.ok_or(refusal);
            }
            let message = NewMessage {
                files: files.clone(),
                ..self.new_message(&run, remote, id, space, new, origin.clone())
            };
            match self.post(&message).await {
                Err(Error::Conflict(_)) => {}
                // It is over, or another message of the run was stored first.
                Err(Error::LeaseLost) => {}
                Err(Error::NotAMember) => return Err(no_member()),
                posted => return posted,
            }
            run = self.store.runs().record(run.id).await?;
        }
        Err(Error::Retry("the run posts too many messages at once; repeat the call".into()))
    }

    /// Whether a run may post one more message, which no other one uses the stream of.
    async fn may_post(&self, run: &RunRecord, new: &RemoteMessage) -> Result<()> {
        if posted(run) >= limits::REMOTE_MESSAGES {
            let most = limits::REMOTE_MESSAGES;
            let detail = format!("expected at most {most} messages in a run; complete it");
            return Err(Error::invalid("", detail));
        }
        match &new.stream_key {
            Some(key) => self.is_not_replaced(run, key).await,
            None => Ok(()),
        }
    }

    /// Fails if a message has replaced the stream with this key.
    async fn is_not_replaced(&self, run: &RunRecord, key: &str) -> Result<()> {
        let count = posted(run) as usize;
        if count == 0 {
            return Ok(());
        }
        let stream = json!(stream_of(run, key).1);
        let calls = self.store.steps().last_calls(run.id, count).await?;
        if calls.iter().any(|call| call.output["streamId"] == stream) {
            let detail = "expected a key of its own: a message has replaced this text";
            return Err(Error::invalid("/streamKey", detail));
        }
        Ok(())
    }

    fn new_message(
        &self,
        run: &RunRecord,
        remote: &RemoteRecord,
        id: MessageId,
        space: SpaceId,
        new: &RemoteMessage,
        origin: Origin,
    ) -> NewMessage {
        let call_id = CallId::of_remote(run.id, &new.key.given);
        let stream = new.stream_key.as_ref().map(|key| stream_of(run, key).1);
        let stream = stream.unwrap_or_else(|| StreamId::of(call_id, 1));
        let text = new.content.text().unwrap_or_default();
        let name = "send_message".to_owned();
        let call = CallRecord {
            output: json!({
                "success": true, "messageId": id, "status": "delivered", "streamId": stream,
            }),
            active_space: Some(space),
            sent_excerpt: Some(excerpt(text, EXCERPT_CHARS).0.to_owned()),
            expires_at: self.store.work_expiry(self.now()),
            ..CallRecord::completed(call_id, run.step_count, 0, name, self.now())
        };
        let authority = Authority::Remote {
            lease: remote.lease.clone(),
            call,
            marks: run.marks.clone(),
            key: new.key.clone(),
        };
        NewMessage {
            id,
            space,
            sender: run.agent_id,
            content: new.content.clone(),
            files: Vec::new(),
            reply_to: run.triggered_by.parent_in(space, new.reply_to),
            by: MessageSource::Run(Box::new(RunSender {
                run: run.id,
                depth: run.chain_depth + 1,
                chain: run.chain_id(),
                origin,
                stream,
                is_cut: false,
                authority,
            })),
        }
    }

    /// Shows a text that a remote agent is writing to those who follow the space of its run.
    /// Nothing is stored. A snapshot, and the beginning of a text, also say whose text it is.
    pub async fn stream_for_remote(&self, run: &RunRecord, new: &RemoteText) -> Result<StreamId> {
        self.still_remote(run)?;
        let space = space_of(run, new.space)?;
        self.count(&run.id.to_string(), rates::REMOTE_STREAM).await?;
        self.is_not_replaced(run, &new.stream_key).await?;
        let member = self.store.members().membership(space, run.agent_id).await?;
        let sender = member.map(|(_, member)| member.sender()).ok_or_else(no_member)?;
        let (call_id, stream_id) = stream_of(run, &new.stream_key);
        let mut frames = Vec::new();
        if new.is_snapshot || new.offset == 0 {
            frames.push(EventKind::StreamStarted {
                stream_id,
                run_id: run.id,
                call_id,
                attempt: 1,
                sender,
                kind: StreamKind::Message,
                tool_name: None,
            });
        }
        let mut offset = new.offset;
        for piece in pieces(&new.text) {
            let text = piece.to_owned();
            frames.push(if new.is_snapshot {
                let offset = (offset > 0).then_some(offset);
                EventKind::StreamSnapshot { stream_id, offset, text }
            } else {
                EventKind::StreamDelta { stream_id, offset, text }
            });
            offset += piece.encode_utf16().count();
        }
        let at = self.now();
        let event = |what| smartspace_domain::events::Event { space_id: space, at, what }.into();
        queue(&*self.broadcasts, frames.into_iter().map(event).collect()).await;
        Ok(stream_id)
    }

    /// Lets a remote agent react to a message of a space. Fails with [`Error::Conflict`] if the run
    /// is over.
    pub async fn react_for_remote(
        &self,
        run: &RunRecord,
        space: Option<SpaceId>,
        change: ReactionChange,
    ) -> Result<MessageReactions> {
        let space = space_of(run, space)?;
        let remote = self.still_remote(run)?;
        self.count(&format!("{} answers", run.id), rates::REMOTE_ANSWERS).await?;
        let new = change.by(space, run.agent_id);
        let messages = self.store.messages();
        match messages.react_for_remote(&new, run.id, &remote.lease, self.now()).await {
            Ok(reacted) => Ok(self.announce_reacted(space, reacted).await),
            Err(Error::NotAMember) => Err(no_member()),
            Err(Error::LeaseLost) => Err(Error::Conflict("the run has ended".into())),
            Err(error) => Err(error),
        }
    }

    /// Completes a run for its remote agent. Repeated, it answers with the same run. Fails with
    /// [`Error::Conflict`] if the run is over otherwise.
    pub async fn complete_for_remote(&self, run: &RunRecord, end: &RemoteEnd) -> Result<Run> {
        let status = if end.is_failed { RunStatus::Failed } else { RunStatus::Completed };
        self.count(&format!("{} answers", run.id), rates::REMOTE_ANSWERS).await?;
        let mut run = run.clone();
        for _ in 0..TRIES {
            let is_ours = |remote: &RemoteRecord| run.ended_by.as_ref() == Some(&remote.lease);
            if run.status == status && run.remote.as_ref().is_some_and(is_ours) {
                let view = self.store.runs().get(&run).await?;
                // Smartspace fails a run under the same lease.
                if view.error.as_ref().is_none_or(|error| error.code == FailureCode::Remote) {
                    return Ok(view);
                }
            }
            let lease = self.still_remote(&run)?.lease.clone();
            run.reported = end.usage.map(ReportedUsage::believable);
            match self.end_run(&run, &lease, &ending(&run, end)).await {
                Ok(ended) if ended.status == status => return Ok(ended),
                // Another request of the agent was stored first.
                Ok(_) | Err(Error::LeaseLost) => {}
                Err(error) => return Err(error),
            }
            run = self.store.runs().record(run.id).await?;
        }
        Err(Error::Retry("the run changes too often; repeat the call".into()))
    }

    /// The remote agent's part in a run that it may still answer.
    fn still_remote<'a>(&self, run: &'a RunRecord) -> Result<&'a RemoteRecord> {
        let over = |text: String| Error::Conflict(text);
        let remote =
            run.remote.as_ref().ok_or_else(|| over("no remote agent works on the run".into()))?;
        if !run.status.is_active() {
            return Err(over(format!("the run has ended: it is {}", run.status.as_str())));
        }
        if self.now() >= remote.until {
            return Err(over(format!("the time of the run was up at {}", remote.until)));
        }
        Ok(remote)
    }
}

/// How a remote agent ends its run.
fn ending(run: &RunRecord, end: &RemoteEnd) -> Ending {
    let reason = end.reason.as_deref();
    let used = run.used.clone();
    if end.is_failed {
        let message = reason.unwrap_or("the remote agent reported no reason").to_owned();
        return Ending::failed(RunError { code: FailureCode::Remote, message }, used);
    }
    let is_silent = posted(run) == 0 && !run.reacted;
    let is_skip = is_silent && reason.is_some();
    Ending {
        reason: Some(if is_skip { EndReason::Skipped } else { EndReason::Done }),
        is_silent,
        skip_reason: reason.map(|reason| excerpt(reason, limits::SKIP_REASON_CHARS).0.to_owned()),
        marks: run.marks.clone(),
        ..Ending::new(RunStatus::Completed, used)
    }
}

/// How many messages the remote agent has posted.
fn posted(run: &RunRecord) -> u32 {
    run.step_count - run.remote.as_ref().map_or(0, |remote| remote.steps_before)
}

/// The answer for a space that the agent is not in: as if it did not exist.
fn no_member() -> Error {
    Error::NotFound("there is no such space".into())
}

/// The space that something of a run is for.
fn space_of(run: &RunRecord, given: Option<SpaceId>) -> Result<SpaceId> {
    given.or_else(|| run.space_id()).or(run.active_space_id).ok_or_else(|| {
        Error::invalid("/spaceId", "expected a space: no message triggered this run")
    })
}

/// The stream of a remote agent with this key, and the call that it shows.
fn stream_of(run: &RunRecord, key: &str) -> (CallId, StreamId) {
    let call = CallId::of_remote_stream(run.id, key);
    (call, StreamId::of(call, 1))
}
