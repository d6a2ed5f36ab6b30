//! A space before its turn is told: what it holds, what is posted, and what the turn begins with.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    time::Duration,
};

use serde_json::{Value, json};
use smartspace_domain::{
    dispatch::Dispatch,
    idempotency::IdempotencyKey,
    ids::{CallId, EntityId, MessageId, RunId, SpaceId},
    messages::Message,
    runs::{Run, RunStatus},
    spaces::Space,
    triggers::Trigger,
};
use tokio::time::{Instant, sleep};

use crate::{
    api_client::{Refusal, Visitor, messages_path},
    conversation::{
        Conversation, Page, id_for_clients, is_open_form,
        reads::{PAGE, message, older_runs, runs},
    },
    files::{SentFile, files_of},
    following::Following,
    narration::{Narration, card_of},
    posting::NewMessage,
    turn::Turn,
};

/// How long the decision whom a message wakes may take.
const DECIDED_WITHIN: Duration = Duration::from_secs(30);
/// How far back a message with the same key is looked for.
const KNOWN_MESSAGES: usize = 500;

/// A message of a client.
#[derive(Debug)]
pub(crate) struct Post {
    /// The key under which it is posted once.
    pub(crate) key: IdempotencyKey,
    /// Its text.
    pub(crate) text: String,
    /// Its files.
    pub(crate) files: Vec<SentFile>,
}

/// The answer of a client to a form.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The call that asks.
    pub(crate) call: CallId,
    /// The body of the request: `{output}`, or `{declined, reason}`.
    pub(crate) body: Value,
}

impl Answer {
    /// An answer with this value; `{"declined": true}` declines the form.
    pub(crate) fn new(call: CallId, value: &Value) -> Self {
        let is_declined = *value == json!({"declined": true});
        let body = if is_declined { value.clone() } else { json!({"output": value}) };
        Self { call, body }
    }
}

/// A space before a turn is told.
#[derive(Debug)]
pub(crate) struct Opening {
    visitor: Visitor,
    me: EntityId,
    pub(crate) space: Space,
    /// The newest messages, oldest first.
    messages: VecDeque<Message>,
    /// The number of the last message that was there when the space was read.
    read_to: u64,
    /// Whether there are older messages.
    has_older: bool,
    following: Following,
    /// The messages that the turn begins with, and those of them that were posted now.
    roots: Vec<Message>,
    posted: Vec<MessageId>,
    /// The runs whose forms were answered now.
    answered: Vec<RunId>,
    /// Other runs that the turn begins with.
    followed: Vec<RunId>,
}

/// What a client shows already of a turn that it goes on with.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    /// The cards, without the results of their calls.
    pub(crate) cards: Vec<CallId>,
    /// The messages, by the ids under which clients know them.
    pub(crate) messages: BTreeSet<String>,
}

impl Opening {
    /// Reads a space and follows it.
    pub(crate) async fn of(visitor: &Visitor, me: EntityId, space: &str) -> Result<Self, Refusal> {
        let no_such_space = |_| Refusal::new(404, "there is no such space");
        let id: SpaceId = space.parse().map_err(no_such_space)?;
        let path = format!("/v1/spaces/{id}");
        // It is followed first, so that no event is missed.
        let (space, following) =
            futures::try_join!(visitor.get(&path, &[]), Following::open(visitor, id, None))?;
        let page: Page<Message> =
            visitor.get(&messages_path(id), &[("limit", PAGE.to_string())]).await?;
        Ok(Self {
            visitor: visitor.clone(),
            me,
            space,
            read_to: page.items.last().map_or(0, |last| last.seq),
            has_older: page.next_cursor.is_some(),
            messages: page.items.into(),
            following,
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

    /// Posts a message, unless it was posted before. The turn begins with it.
    pub(crate) async fn post(&mut self, post: &Post) -> Result<MessageId, Refusal> {
        let (me, key) = (self.me, post.key.as_str());
        let is_it = |message: &Message| {
            message.sender.id == me && message.client_key.as_deref() == Some(key)
        };
        let message = if let Some(known) = self.find(is_it).await? {
            if known.text() != post.text || !self.has_files(&known, &post.files).await? {
                let detail = "a message with this id and other content is posted already";
                return Err(Refusal::new(422, format!("/messages: {key}: {detail}")));
            }
            known
        } else {
            let message = self.post_new(post).await?;
            // The API knows it from before.
            let is_new = message.seq > self.read_to;
            if is_new {
                self.posted.push(message.id);
                if self.messages.iter().all(|known| known.id != message.id) {
                    self.messages.push_back(message.clone());
                }
            }
            message
        };
        let id = message.id;
        self.roots.push(message);
        Ok(id)
    }

    /// Whether a message has just these files.
    async fn has_files(&self, message: &Message, files: &[SentFile]) -> Result<bool, Refusal> {
        let known: Vec<_> = files_of(message).collect();
        if known.len() != files.len() {
            return Ok(false);
        }
        for (file, known) in files.iter().zip(known) {
            if !file.is(&self.visitor, self.space.id, known).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    async fn post_new(&self, post: &Post) -> Result<Message, Refusal> {
        let new = NewMessage {
            text: &post.text,
            files: &post.files,
            key: Some(post.key.as_str()),
            ..NewMessage::default()
        };
        new.post(&self.visitor, self.space.id).await
    }

    /// The card of a call, if it is among the newest messages.
    pub(crate) async fn card(&mut self, call: CallId) -> Result<Option<Message>, Refusal> {
        self.find(|message| card_of(message).is_some_and(|card| card.call_id == call)).await
    }

    /// Answers a form.
    pub(crate) async fn answer(&mut self, answer: &Answer) -> Result<(), Refusal> {
        let call = answer.call;
        let form = self.card(call).await?;
        let run = form.as_ref().and_then(|form| form.run_id);
        let (Some(form), Some(run)) = (form, run) else {
            return Err(Refusal::new(404, format!("{call}: there is no such form here")));
        };
        let path = format!("/v1/runs/{run}/toolCalls/{call}/result");
        let _: Value = self.visitor.post(&path, &answer.body, None).await?;
        if is_open_form(&form) {
            self.answered.push(run);
        } else {
            self.followed.push(run);
        }
        Ok(())
    }

    /// The turn begins with this run, too.
    pub(crate) fn follows(&mut self, run: RunId) {
        self.followed.push(run);
    }

    /// The newest message that `is_it` among the space's last ones.
    pub(crate) async fn find(
        &mut self,
        is_it: impl Fn(&Message) -> bool,
    ) -> Result<Option<Message>, Refusal> {
        loop {
            if let Some(found) = self.messages.iter().rev().find(|message| is_it(message)) {
                return Ok(Some(found.clone()));
            }
            let Some(first) = self.messages.front().filter(|_| self.has_older) else {
                return Ok(None);
            };
            let room = KNOWN_MESSAGES.saturating_sub(self.messages.len()).min(PAGE);
            if room == 0 {
                return Ok(None);
            }
            let query = [("before", first.seq.to_string()), ("limit", room.to_string())];
            let page: Page<Message> =
                self.visitor.get(&messages_path(self.space.id), &query).await?;
            self.has_older = page.next_cursor.is_some() && !page.items.is_empty();
            for message in page.items.into_iter().rev() {
                self.messages.push_front(message);
            }
        }
    }

    /// Begins to tell what follows to a client that shows the messages as they are here. If nothing
    /// was posted or answered, that is what is active in the space.
    pub(crate) async fn follow(self) -> Result<Conversation, Refusal> {
        let runs = self.runs_of_turn().await?;
        let turn = self.turn(&runs);
        self.tell_what_follows(turn, &runs).await
    }

    /// The same for a client that shows a part of the turn. It is told what it lacks: the results
    /// of its cards, and the messages behind them.
    pub(crate) async fn follow_behind(self, shown: &Shown) -> Result<Conversation, Refusal> {
        let runs = self.runs_of_turn().await?;
        let mut turn = self.turn(&runs);
        turn.knows(self.messages.iter(), &runs);
        let of_turn = turn.runs();
        let mut narration = Narration::new(self.me, &self.space, turn, self.read_to);
        let is_shown_card = |message: &Message| {
            card_of(message).is_some_and(|card| shown.cards.contains(&card.call_id))
        };
        let is_of_turn =
            |message: &Message| message.run_id.is_some_and(|run| of_turn.contains(&run));
        let cards =
            self.messages.iter().filter(|message| is_shown_card(message) && is_of_turn(message));
        let behind = cards.map(|card| card.seq).min().unwrap_or(u64::MAX);
        let mut lacking = Vec::new();
        for message in &self.messages {
            let is_known = shown.messages.contains(&id_for_clients(message));
            if is_shown_card(message) {
                narration.leaves_out(message);
                narration.knows_card(message, false);
                lacking.push(message.clone());
            } else if message.seq > behind && is_of_turn(message) && !is_known {
                narration.tells_late(message);
                lacking.push(message.clone());
            } else {
                narration.leaves_out(message);
            }
        }
        self.tell(narration, &lacking, &runs).await
    }

    /// Begins to tell all that the messages caused that the turn begins with, also what has happened
    /// already.
    pub(crate) async fn tell_from_start(self) -> Result<Conversation, Refusal> {
        let runs = self.runs_of_turn().await?;
        let mut turn = self.turn(&runs);
        let first = self.roots.iter().map(|root| root.seq).min().unwrap_or(self.read_to);
        // Nothing is told from before the messages that were read.
        let oldest = self.messages.front().map_or(0, |oldest| oldest.seq - 1);
        let after = first.max(oldest);
        let later: Vec<_> =
            self.messages.iter().filter(|message| message.seq > after).cloned().collect();
        turn.knows(&later, &runs);
        let of_turn = turn.messages();
        let is_answer = |message: &Message| {
            of_turn.contains(&message.id) && self.roots.iter().all(|root| root.id != message.id)
        };
        let (answers, others): (Vec<_>, Vec<_>) = later.into_iter().partition(is_answer);
        let mut narration = Narration::new(self.me, &self.space, turn, after);
        for other in &others {
            narration.leaves_out(other);
        }
        self.tell(narration, &answers, &runs).await
    }

    /// Takes the message to which a working run goes back as the beginning of the turn: the newest
    /// one of the caller, or else of another person. `None` if no run works.
    pub(crate) async fn resume(&mut self) -> Result<Option<MessageId>, Refusal> {
        let runs = self.runs().await?;
        let works = |run: &&Run| matches!(run.status, RunStatus::Queued | RunStatus::Running);
        let triggers: BTreeMap<RunId, MessageId> =
            runs.iter().filter_map(|run| Some((run.id, message_of(run)?))).collect();
        let roots = runs.iter().filter(works).filter_map(|run| {
            let mut message =
                self.messages.iter().find(|known| Some(known.id) == message_of(run))?;
            while let Some(earlier) = message.run_id.and_then(|run| triggers.get(&run)) {
                message = self.messages.iter().find(|known| known.id == *earlier)?;
            }
            Some((run, message.clone()))
        });
        // The newest run comes first.
        let roots: Vec<_> = roots.collect();
        let own = roots.iter().find(|(_, root)| root.sender.id == self.me);
        let Some((_, root)) = own.or_else(|| roots.first()) else { return Ok(None) };
        // A run that was repeated is in no message's dispatch.
        let repeated = roots.iter().filter(|(run, of)| of.id == root.id && run.retry_of.is_some());
        self.followed.extend(repeated.map(|(run, _)| run.id));
        self.roots = vec![root.clone()];
        Ok(Some(root.id))
    }

    /// The agents that a message of this call woke, once that is decided.
    pub(crate) async fn dispatch_of(&self, id: MessageId) -> Result<Vec<Dispatch>, Refusal> {
        let known = self.roots.iter().find(|root| root.id == id);
        let Some(known) = known else { return Ok(Vec::new()) };
        if let Some(dispatch) = &known.dispatch {
            return Ok(dispatch.clone());
        }
        let until = Instant::now() + DECIDED_WITHIN;
        loop {
            let message = message(&self.visitor, self.space.id, known.seq).await?;
            let dispatch = message.and_then(|message| message.dispatch);
            if let Some(dispatch) = dispatch {
                return Ok(dispatch);
            }
            if Instant::now() >= until {
                return Err(Refusal::new(503, "it is not decided yet whom the message wakes"));
            }
            sleep(DECIDED_WITHIN / 60).await;
        }
    }

    /// Begins to tell of one run, and of nothing that it causes.
    pub(crate) async fn follow_run(self, run: RunId) -> Result<Conversation, Refusal> {
        let runs = self.runs().await?;
        let turn = self.turn(&runs).only(run);
        self.tell_what_follows(turn, &runs).await
    }

    async fn tell_what_follows(self, turn: Turn, runs: &[Run]) -> Result<Conversation, Refusal> {
        let mut narration = Narration::new(self.me, &self.space, turn, self.read_to);
        for message in &self.messages {
            narration.is_known(message);
        }
        self.tell(narration, &[], runs).await
    }

    /// The runs of the space, unless all of the turn begins now.
    async fn runs_of_turn(&self) -> Result<Vec<Run>, Refusal> {
        let is_new = |root: &Message| self.posted.contains(&root.id);
        let is_all_new = self.answered.is_empty()
            && self.followed.is_empty()
            && !self.roots.is_empty()
            && self.roots.iter().all(is_new);
        if is_all_new { Ok(Vec::new()) } else { self.runs().await }
    }

    /// The turn that begins with what was posted and answered, or else with the active `runs`.
    fn turn(&self, runs: &[Run]) -> Turn {
        let mut turn = Turn::default();
        for root in &self.roots {
            turn.begins_with(root);
        }
        for run in &self.followed {
            turn.continues_with(*run, false);
        }
        for run in &self.answered {
            let asks = self
                .messages
                .iter()
                .filter(|message| is_open_form(message) && message.run_id == Some(*run));
            let answers = self.answered.iter().filter(|answered| *answered == run);
            turn.continues_with(*run, asks.count() <= answers.count());
        }
        if self.roots.is_empty() && self.followed.is_empty() && self.answered.is_empty() {
            for run in runs.iter().filter(|run| run.status.is_active()) {
                turn.follows(run);
            }
        }
        turn
    }

    async fn runs(&self) -> Result<Vec<Run>, Refusal> {
        runs(&self.visitor, self.space.id).await
    }

    async fn tell(
        self,
        mut narration: Narration,
        messages: &[Message],
        runs: &[Run],
    ) -> Result<Conversation, Refusal> {
        let mut first = narration.begins_with(messages, runs);
        if !runs.is_empty() {
            let older = older_runs(&self.visitor, &mut narration).await?;
            first.extend(narration.begins_with(&[], &older));
        }
        Ok(Conversation::new(self.visitor, self.following, narration, first, self.space.id))
    }
}

/// The message that triggered a run.
fn message_of(run: &Run) -> Option<MessageId> {
    if let Trigger::SpaceMessage { message_id, .. } = &run.trigger {
        Some(*message_id)
    } else {
        None
    }
}
