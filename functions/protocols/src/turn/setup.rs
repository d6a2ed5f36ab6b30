//! Prepares a turn: reads the space, posts what is new, and decides where the events start.

mod roots;

use std::{
    collections::{BTreeSet, VecDeque},
    time::Duration,
};

use serde_json::{Value, json};
use smartspace_client::{
    FileUpload, NewMessage, Page, Refusal, Session as ApiSession, Subscription, files_of,
    messages_path,
};
use smartspace_domain::{
    client_pages::ClientPage,
    dispatch::Dispatch,
    idempotency::IdempotencyKey,
    ids::{CallId, EntityId, MessageId, RunId, SpaceId},
    messages::Message,
    runs::Run,
    spaces::Space,
};
use tokio::time::{Instant, sleep};

use crate::following::follow;
use crate::turn::{
    TurnSession, TurnTracker, card_of,
    cards::{is_open_page_call, waits_for_answer},
    id_for_clients, is_open_form,
    reads::{PAGE_MESSAGES, message, older_runs},
    sequencer::TurnSequencer,
};

/// Time limit of the decision which agents a message triggers.
const DISPATCH_TIMEOUT: Duration = Duration::from_secs(30);
/// How many messages are searched for one with the same key.
const MAX_SEARCHED_MESSAGES: usize = 500;

/// A message of a client.
#[derive(Debug)]
pub(crate) struct Post {
    pub(crate) key: IdempotencyKey,
    pub(crate) text: String,
    pub(crate) files: Vec<FileUpload>,
    /// What the client's page offers to the agents that the message triggers.
    pub(crate) page: Option<ClientPage>,
}

/// A client's answer to a form, or its decision of a call that waits for approval.
#[derive(Debug)]
pub(crate) struct FormAnswer {
    /// The call that shows the form.
    pub(crate) call: CallId,
    /// The body of the request: `{output}`, or `{declined, reason}`.
    pub(crate) body: Value,
}

impl FormAnswer {
    /// An answer with this value; `{"declined": true}` declines the form.
    pub(crate) fn new(call: CallId, value: &Value) -> Self {
        let is_declined = *value == json!({"declined": true});
        let body = if is_declined { value.clone() } else { json!({"output": value}) };
        Self { call, body }
    }
}

/// A space before a turn is followed.
#[derive(Debug)]
pub(crate) struct TurnSetup {
    api: ApiSession,
    caller: EntityId,
    pub(crate) space: Space,
    /// The newest messages, oldest first.
    messages: VecDeque<Message>,
    /// The `seq` of the last message when the space was read.
    read_to: u64,
    /// Whether the space has messages before `messages`.
    has_older: bool,
    subscription: Subscription,
    /// The messages with which the turn starts.
    roots: Vec<Message>,
    /// The roots that this request has posted.
    posted: Vec<MessageId>,
    /// The runs whose forms this request answers. A run is in it once for each form.
    answered: Vec<RunId>,
    /// Other runs with which the turn starts.
    followed: Vec<RunId>,
}

/// The part of a turn that a client already shows.
#[derive(Debug, Default)]
pub(crate) struct ClientView {
    /// The cards, without the results of their calls.
    pub(crate) cards: Vec<CallId>,
    /// The messages, by their ids for clients.
    pub(crate) messages: BTreeSet<String>,
}

impl TurnSetup {
    /// Subscribes to a space and reads it.
    pub(crate) async fn open(
        api: &ApiSession,
        caller: EntityId,
        space: &str,
    ) -> Result<Self, Refusal> {
        let no_such_space = |_| Refusal::new(404, "there is no such space");
        let id: SpaceId = space.parse().map_err(no_such_space)?;
        let path = format!("/v1/spaces/{id}");
        // The messages are read after the subscription is confirmed. The other way round, a
        // message that is posted in between would be in neither.
        let (space, subscription) = futures::try_join!(api.get(&path, &[]), follow(api, id, None))?;
        let page: Page<Message> =
            api.get(&messages_path(id), &[("limit", PAGE_MESSAGES.to_string())]).await?;
        Ok(Self {
            api: api.clone(),
            caller,
            space,
            read_to: page.items.last().map_or(0, |last| last.seq),
            has_older: page.next_cursor.is_some(),
            messages: page.items.into(),
            subscription,
            roots: Vec::new(),
            posted: Vec::new(),
            answered: Vec::new(),
            followed: Vec::new(),
        })
    }

    /// The newest messages, oldest first.
    pub(crate) fn messages(&self) -> impl Iterator<Item = &Message> {
        self.messages.iter()
    }

    /// Posts a message, unless it was posted before. The turn starts with it.
    pub(crate) async fn post(&mut self, post: &Post) -> Result<MessageId, Refusal> {
        let caller = self.caller;
        let key = post.key.as_str();
        // The API stores an idempotency key for a day. A client can repeat a request later than
        // that, so the space itself is searched first.
        let is_same = |message: &Message| {
            message.sender.id == caller && message.client_key.as_deref() == Some(key)
        };
        let message = if let Some(known) = self.find(is_same).await? {
            if known.text() != post.text || !self.has_files(&known, &post.files).await? {
                let detail = "a message with this id and other content is posted already";
                return Err(Refusal::new(422, format!("/messages: {key}: {detail}")));
            }
            known
        } else {
            self.post_new(post).await?
        };
        let id = message.id;
        self.roots.push(message);
        Ok(id)
    }

    async fn post_new(&mut self, post: &Post) -> Result<Message, Refusal> {
        let new = NewMessage {
            text: &post.text,
            files: &post.files,
            key: Some(post.key.as_str()),
            page: post.page.as_ref(),
            ..NewMessage::default()
        };
        let message: Message = new.post(&self.api, self.space.id).await?;
        // With a known key the API answers with the message from before, which may have effects
        // already. The `seq` of that message is not after those that were read.
        let is_new = message.seq > self.read_to;
        if is_new {
            self.posted.push(message.id);
            if self.messages.iter().all(|known| known.id != message.id) {
                self.messages.push_back(message.clone());
            }
        }
        Ok(message)
    }

    /// Whether a message has exactly these files.
    async fn has_files(&self, message: &Message, files: &[FileUpload]) -> Result<bool, Refusal> {
        let known: Vec<_> = files_of(message).collect();
        if known.len() != files.len() {
            return Ok(false);
        }
        for (file, known) in files.iter().zip(known) {
            if !file.equals(&self.api, self.space.id, known).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The card of a call, if it is among the searched messages.
    pub(crate) async fn card(&mut self, call: CallId) -> Result<Option<Message>, Refusal> {
        self.find(|message| card_of(message).is_some_and(|card| card.call_id == call)).await
    }

    /// Answers a form. The turn starts with its run.
    pub(crate) async fn answer(&mut self, answer: &FormAnswer) -> Result<(), Refusal> {
        let call = answer.call;
        let form = self.card(call).await?;
        let run = form.as_ref().and_then(|form| form.run_id);
        let (Some(form), Some(run)) = (form, run) else {
            return Err(Refusal::new(404, format!("{call}: there is no such form here")));
        };
        let path = format!("/v1/runs/{run}/toolCalls/{call}/result");
        let _: Value = self.api.post(&path, &answer.body, None).await?;
        // The API accepts the same answer again. Then the run may have continued long ago, so it
        // does not hold the turn open until it resumes.
        if waits_for_answer(&form) && !self.still_waits(&form).await? {
            self.answered.push(run);
        } else {
            self.followed.push(run);
        }
        Ok(())
    }

    /// Brings the result of a call of a tool of the client's page. Clients send the results of
    /// earlier calls again with the whole conversation, so a call that waits for none is passed
    /// over.
    pub(crate) async fn answer_page_call(&mut self, result: &FormAnswer) -> Result<(), Refusal> {
        let member = self.caller;
        let card = self.card(result.call).await?;
        let Some(card) = card.filter(|card| is_open_page_call(card, member)) else {
            return Ok(());
        };
        match self.answer(result).await {
            // It has expired, or another page of the member was faster.
            Err(refusal) if refusal.status == 409 => {
                self.followed.extend(card.run_id);
                Ok(())
            }
            answered => answered,
        }
    }

    /// Whether a call waits for more approvals after one of them. Then its card shows this one.
    async fn still_waits(&mut self, form: &Message) -> Result<bool, Refusal> {
        if card_of(form).is_none_or(|card| card.approval.is_none()) {
            return Ok(false);
        }
        let decided = message(&self.api, self.space.id, form.seq).await?;
        let Some(decided) = decided.filter(is_open_form) else { return Ok(false) };
        if let Some(known) = self.messages.iter_mut().find(|known| known.id == decided.id) {
            *known = decided;
        }
        Ok(true)
    }

    /// Starts the turn with this run, too.
    pub(crate) fn add_run(&mut self, run: RunId) {
        self.followed.push(run);
    }

    /// The newest message that matches. Reads older messages as needed.
    pub(crate) async fn find(
        &mut self,
        matches: impl Fn(&Message) -> bool,
    ) -> Result<Option<Message>, Refusal> {
        loop {
            if let Some(found) = self.messages.iter().rev().find(|message| matches(message)) {
                return Ok(Some(found.clone()));
            }
            let Some(first) = self.messages.front().filter(|_| self.has_older) else {
                return Ok(None);
            };
            let limit =
                MAX_SEARCHED_MESSAGES.saturating_sub(self.messages.len()).min(PAGE_MESSAGES);
            if limit == 0 {
                return Ok(None);
            }
            let query = [("before", first.seq.to_string()), ("limit", limit.to_string())];
            let page: Page<Message> = self.api.get(&messages_path(self.space.id), &query).await?;
            self.has_older = page.next_cursor.is_some() && !page.items.is_empty();
            for message in page.items.into_iter().rev() {
                self.messages.push_front(message);
            }
        }
    }

    /// The agents that a posted message triggers. Waits until that is decided.
    pub(crate) async fn dispatch_of(&self, id: MessageId) -> Result<Vec<Dispatch>, Refusal> {
        let root = self.roots.iter().find(|root| root.id == id);
        let Some(root) = root else { return Ok(Vec::new()) };
        if let Some(dispatch) = &root.dispatch {
            return Ok(dispatch.clone());
        }
        let deadline = Instant::now() + DISPATCH_TIMEOUT;
        loop {
            let message = message(&self.api, self.space.id, root.seq).await?;
            let dispatch = message.and_then(|message| message.dispatch);
            if let Some(dispatch) = dispatch {
                return Ok(dispatch);
            }
            if Instant::now() >= deadline {
                let detail = "it is not decided yet which agents the message triggers";
                return Err(Refusal::new(503, detail));
            }
            sleep(DISPATCH_TIMEOUT / 60).await;
        }
    }

    /// Follows the turn for a client that shows all messages of the setup. Without a post and an
    /// answer, the turn is the active runs of the space.
    pub(crate) async fn follow(self) -> Result<TurnSession, Refusal> {
        let runs = self.runs_of_turn().await?;
        let tracker = self.tracker(&runs);
        self.follow_tracker(tracker, &runs).await
    }

    /// Follows one run, without its effects.
    pub(crate) async fn follow_run(self, run: RunId) -> Result<TurnSession, Refusal> {
        let runs = self.runs().await?;
        let tracker = self.tracker(&runs).only_run(run);
        self.follow_tracker(tracker, &runs).await
    }

    /// Follows one run, without its effects. A run that waits for people is followed until it goes
    /// on, and from then as any other.
    pub(crate) async fn follow_waiting_run(self, run: RunId) -> Result<TurnSession, Refusal> {
        let runs = self.runs().await?;
        let mut tracker = self.tracker(&runs).only_run(run);
        tracker.add_answered_run(run);
        self.follow_tracker(tracker, &runs).await
    }

    async fn follow_tracker(
        self,
        tracker: TurnTracker,
        runs: &[Run],
    ) -> Result<TurnSession, Refusal> {
        let mut sequencer = TurnSequencer::new(self.caller, &self.space, tracker, self.read_to);
        for message in &self.messages {
            sequencer.mark_shown(message);
        }
        self.start(sequencer, &[], runs).await
    }

    /// Follows the turn for a client that shows a part of it. The client first gets what it lacks:
    /// the results of its cards, and the messages of the turn after these.
    pub(crate) async fn resume_after(self, client: &ClientView) -> Result<TurnSession, Refusal> {
        let runs = self.runs_of_turn().await?;
        let mut tracker = self.tracker(&runs);
        tracker.sync(self.messages.iter(), &runs);
        let of_turn = tracker.runs();
        let mut sequencer = TurnSequencer::new(self.caller, &self.space, tracker, self.read_to);
        let is_shown_card = |message: &Message| {
            card_of(message).is_some_and(|card| client.cards.contains(&card.call_id))
        };
        let is_of_turn =
            |message: &Message| message.run_id.is_some_and(|run| of_turn.contains(&run));
        let cards =
            self.messages.iter().filter(|message| is_shown_card(message) && is_of_turn(message));
        // A client shows the answer in one message, up to the card that waits. What comes before
        // its first card is there already, even if it does not name the messages.
        let first_card = cards.map(|card| card.seq).min().unwrap_or(u64::MAX);
        let mut lacking = Vec::new();
        for message in &self.messages {
            let is_known = client.messages.contains(&id_for_clients(message));
            if is_shown_card(message) {
                sequencer.suppress(message);
                sequencer.mark_card(message, false);
                lacking.push(message.clone());
            } else if message.seq > first_card && is_of_turn(message) && !is_known {
                sequencer.emit_late(message);
                lacking.push(message.clone());
            } else {
                sequencer.suppress(message);
            }
        }
        self.start(sequencer, &lacking, &runs).await
    }

    /// Follows the turn for a client that shows nothing of it: emits all effects of the roots,
    /// those from before as well.
    pub(crate) async fn replay(self) -> Result<TurnSession, Refusal> {
        let runs = self.runs_of_turn().await?;
        let mut tracker = self.tracker(&runs);
        let first = self.roots.iter().map(|root| root.seq).min().unwrap_or(self.read_to);
        // A root can be older than the messages that were read. Then the gap is left out: with an
        // `after` before it, the next check would read all of it and emit it after newer messages.
        let oldest = self.messages.front().map_or(0, |oldest| oldest.seq - 1);
        let after = first.max(oldest);
        let later: Vec<_> =
            self.messages.iter().filter(|message| message.seq > after).cloned().collect();
        tracker.sync(&later, &runs);
        let of_turn = tracker.messages();
        let is_effect = |message: &Message| {
            of_turn.contains(&message.id) && self.roots.iter().all(|root| root.id != message.id)
        };
        let (effects, others): (Vec<_>, Vec<_>) = later.into_iter().partition(is_effect);
        let mut sequencer = TurnSequencer::new(self.caller, &self.space, tracker, after);
        for other in &others {
            sequencer.suppress(other);
        }
        self.start(sequencer, &effects, &runs).await
    }

    async fn start(
        self,
        mut sequencer: TurnSequencer,
        messages: &[Message],
        runs: &[Run],
    ) -> Result<TurnSession, Refusal> {
        let mut first = sequencer.preload(messages, runs);
        if !runs.is_empty() {
            let older = older_runs(&self.api, &mut sequencer).await?;
            first.extend(sequencer.preload(&[], &older));
        }
        Ok(TurnSession::new(self.api, self.subscription, sequencer, first, self.space.id))
    }
}
