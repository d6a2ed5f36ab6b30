//! What a streaming door does: it reads a space, posts what is new, and tells what follows until the
//! turn is over.

use std::{
    collections::{BTreeMap, VecDeque},
    time::Duration,
};

use serde::Deserialize;
use serde_json::{Value, json};
use smartspace_domain::{
    dispatch::Dispatch,
    events::EventKind,
    idempotency::IdempotencyKey,
    ids::{CallId, EntityId, MessageId, RunId, SpaceId},
    messages::Message,
    runs::{Run, RunStatus},
    spaces::Space,
    steps::CallStatus,
    triggers::Trigger,
};
use tokio::time::{Instant, timeout_at};

use crate::{
    api_client::{Refusal, Visitor},
    following::Following,
    narration::{Ending, Narration, Told, card_of},
    turn::Turn,
};

/// How long a turn is told at most. On AWS a response ends after 15 minutes.
const LONGEST: Duration = Duration::from_mins(14);
/// After how much silence the space is read again, since frames can be lost.
const SILENCE: Duration = Duration::from_secs(15);
/// How long a text may stay open after the turn: what a canceled run has written is posted then.
const LATE_MESSAGE: Duration = Duration::from_secs(5);
/// How often a broken connection is opened again without an event in between.
const RECONNECTS: u32 = 3;
/// How long the decision whom a message wakes may take.
const DECIDED_WITHIN: Duration = Duration::from_secs(30);
/// How many messages and runs a page has.
const PAGE: usize = 200;
/// How far back a message with the same key is looked for.
const KNOWN_MESSAGES: usize = 500;
/// How many runs of the space are read.
const RUNS: u64 = 100;

/// A page of a list.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Page<T> {
    pub(crate) items: Vec<T>,
    pub(crate) next_cursor: Option<String>,
}

/// A message of a client.
#[derive(Debug)]
pub(crate) struct Post {
    /// The key under which it is posted once.
    pub(crate) key: IdempotencyKey,
    /// Its text.
    pub(crate) text: String,
}

/// The answer of a client to a form.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The call that asks.
    pub(crate) call: CallId,
    /// The body of the request: `{output}`, or `{declined, reason}`.
    pub(crate) body: Value,
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
    /// The runs whose forms were answered.
    answered: Vec<RunId>,
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
            known
        } else {
            let body = json!({"text": post.text});
            let path = messages_path(self.space.id);
            let message: Message = self.visitor.post(&path, &body, Some(key)).await?;
            if self.messages.back().is_none_or(|last| last.seq < message.seq) {
                self.messages.push_back(message.clone());
            }
            self.posted.push(message.id);
            message
        };
        let id = message.id;
        self.roots.push(message);
        Ok(id)
    }

    /// Answers a form that waits. Forms that have a result already are left alone if `is_lenient`.
    pub(crate) async fn answer(
        &mut self,
        answer: &Answer,
        is_lenient: bool,
    ) -> Result<(), Refusal> {
        let call = answer.call;
        let is_it = |message: &Message| card_of(message).is_some_and(|card| card.call_id == call);
        let form = self.find(is_it).await?;
        let run = form.as_ref().and_then(|form| form.run_id);
        let (Some(form), Some(run)) = (form, run) else {
            return Err(Refusal::new(404, format!("{call}: there is no such form here")));
        };
        let is_pending = card_of(&form).is_some_and(|card| card.status == CallStatus::Pending);
        if !is_pending && is_lenient {
            return Ok(());
        }
        let path = format!("/v1/runs/{run}/toolCalls/{call}/result");
        let _: Value = self.visitor.post(&path, &answer.body, None).await?;
        if is_pending {
            self.answered.push(run);
        }
        Ok(())
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

    /// Begins to tell what follows the newest message that is known. If nothing was posted or
    /// answered, that is what is active in the space. `cards` are those that the client shows
    /// without a result; if it is `None`, the client shows the messages as they are here.
    pub(crate) async fn follow(self, cards: Option<&[CallId]>) -> Result<Conversation, Refusal> {
        let runs = if self.is_all_new() { Vec::new() } else { self.runs().await? };
        let mut turn = self.turn();
        if self.roots.is_empty() && self.answered.is_empty() {
            for run in runs.iter().filter(|run| run.status.is_active()) {
                turn.follows(run);
            }
        }
        let mut narration = Narration::new(self.me, &self.space, turn, self.read_to);
        let mut shown = Vec::new();
        for message in &self.messages {
            let Some(cards) = cards else {
                narration.is_known(message);
                continue;
            };
            narration.leaves_out(message);
            if card_of(message).is_some_and(|card| cards.contains(&card.call_id)) {
                narration.knows_card(message, false);
                shown.push(message.clone());
            }
        }
        Ok(self.tell(narration, &shown, &runs))
    }

    /// Begins to tell all that the messages caused that the turn begins with, also what has happened
    /// already.
    pub(crate) async fn tell_from_start(self) -> Result<Conversation, Refusal> {
        let runs = if self.is_all_new() { Vec::new() } else { self.runs().await? };
        let mut turn = self.turn();
        let first = self.roots.iter().map(|root| root.seq).min();
        let after = first.unwrap_or(self.read_to);
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
        Ok(self.tell(narration, &answers, &runs))
    }

    /// Takes the message of a person that the newest active run of the space goes back to as the
    /// beginning of the turn. `None` if no run works.
    pub(crate) async fn resume(&mut self) -> Result<Option<MessageId>, Refusal> {
        let runs = self.runs().await?;
        let works = |run: &&Run| matches!(run.status, RunStatus::Queued | RunStatus::Running);
        let triggers: BTreeMap<RunId, MessageId> =
            runs.iter().filter_map(|run| Some((run.id, message_of(run)?))).collect();
        for run in runs.iter().filter(works) {
            let Some(mut message) = message_of(run) else { continue };
            loop {
                let known = self.messages.iter().find(|known| known.id == message);
                match known.and_then(|known| triggers.get(&known.run_id?)) {
                    Some(earlier) => message = *earlier,
                    None => break,
                }
            }
            if let Some(root) = self.messages.iter().find(|known| known.id == message) {
                self.roots = vec![root.clone()];
                return Ok(Some(message));
            }
        }
        Ok(None)
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
            tokio::time::sleep(DECIDED_WITHIN / 60).await;
        }
    }

    /// Begins to tell of one run, and of nothing that it causes.
    pub(crate) async fn follow_run(self, run: RunId) -> Result<Conversation, Refusal> {
        let runs = self.runs().await?;
        let turn = self.turn().only(run);
        let mut narration = Narration::new(self.me, &self.space, turn, self.read_to);
        for message in &self.messages {
            narration.is_known(message);
        }
        Ok(self.tell(narration, &[], &runs))
    }

    fn is_all_new(&self) -> bool {
        let is_new = |root: &Message| self.posted.contains(&root.id);
        self.answered.is_empty() && !self.roots.is_empty() && self.roots.iter().all(is_new)
    }

    fn turn(&self) -> Turn {
        let mut turn = Turn::default();
        for root in &self.roots {
            turn.begins_with(root);
        }
        for run in &self.answered {
            let still_asks = |message: &Message| {
                let is_open = card_of(message)
                    .is_some_and(|card| card.status == CallStatus::Pending && card.ui.is_some());
                is_open && message.run_id == Some(*run)
            };
            let asks = self.messages.iter().filter(|message| still_asks(message)).count();
            let answers = self.answered.iter().filter(|answered| *answered == run).count();
            turn.continues_with(*run, asks <= answers);
        }
        turn
    }

    async fn runs(&self) -> Result<Vec<Run>, Refusal> {
        runs(&self.visitor, self.space.id).await
    }

    fn tell(self, mut narration: Narration, messages: &[Message], runs: &[Run]) -> Conversation {
        let first = narration.knows(messages, runs);
        let now = Instant::now();
        Conversation {
            visitor: self.visitor,
            space: self.space.id,
            following: self.following,
            narration,
            first: Some(first),
            is_checked: false,
            until: now + LONGEST,
            lost: 0,
        }
    }
}

/// A turn that is told.
#[derive(Debug)]
pub(crate) struct Conversation {
    visitor: Visitor,
    space: SpaceId,
    following: Following,
    narration: Narration,
    /// What is told first.
    first: Option<Vec<Told>>,
    /// Whether the space was read since the last event.
    is_checked: bool,
    until: Instant,
    /// How often the connection was lost since the last event.
    lost: u32,
}

/// What comes next in a turn.
#[derive(Debug)]
pub(crate) enum Next {
    /// It goes on.
    Told(Vec<Told>),
    /// It has ended.
    End(Vec<Told>, Ending, Why),
}

/// Why a turn is told no further.
#[derive(Debug)]
pub(crate) enum Why {
    /// It is over.
    Over,
    /// It goes on, but has been told for as long as a response may take.
    Continues,
    /// The space cannot be followed any longer.
    Lost(Refusal),
}

impl Conversation {
    pub(crate) fn narration(&self) -> &Narration {
        &self.narration
    }

    pub(crate) fn space(&self) -> SpaceId {
        self.space
    }

    /// Waits for the end of the turn.
    pub(crate) async fn until_end(&mut self) {
        while let Next::Told(_) = self.next().await {}
    }

    /// Waits for what comes next.
    pub(crate) async fn next(&mut self) -> Next {
        if let Some(first) = self.first.take() {
            return Next::Told(first);
        }
        match self.go_on().await {
            Ok(next) => next,
            Err(refusal) => self.end(Why::Lost(refusal)),
        }
    }

    async fn go_on(&mut self) -> Result<Next, Refusal> {
        loop {
            if Instant::now() >= self.until {
                return Ok(self.end(Why::Continues));
            }
            let is_over = self.narration.is_over();
            if is_over && !self.is_checked {
                let told = self.check().await?;
                if !told.is_empty() {
                    return Ok(Next::Told(told));
                }
                continue;
            }
            if is_over && !self.narration.has_open_text() {
                return Ok(self.end(Why::Over));
            }
            let wait = if is_over { LATE_MESSAGE } else { SILENCE };
            let until = self.until.min(Instant::now() + wait);
            match timeout_at(until, self.following.next()).await {
                Ok(Ok(event)) => {
                    self.lost = 0;
                    self.is_checked = false;
                    let what = self.whole(event.what).await?;
                    let told = self.narration.saw(what);
                    if !told.is_empty() {
                        return Ok(Next::Told(told));
                    }
                }
                Ok(Err(refusal)) => self.reconnect(refusal).await?,
                Err(_) => {
                    let told = self.check().await?;
                    if !told.is_empty() {
                        return Ok(Next::Told(told));
                    }
                    if is_over && self.narration.is_over() {
                        return Ok(self.end(Why::Over));
                    }
                    self.following.ping().await;
                }
            }
        }
    }

    fn end(&mut self, why: Why) -> Next {
        let (told, ending) = self.narration.end();
        Next::End(told, ending, why)
    }

    /// Reads what the events should have told.
    async fn check(&mut self) -> Result<Vec<Told>, Refusal> {
        let runs = runs(&self.visitor, self.space).await?;
        let mut after = self.narration.complete_to();
        let mut told = Vec::new();
        loop {
            let query = [("after", after.to_string()), ("limit", PAGE.to_string())];
            let page: Page<Message> = self.visitor.get(&messages_path(self.space), &query).await?;
            told.append(&mut self.narration.knows(&page.items, &runs));
            match page.items.last().filter(|_| page.next_cursor.is_some()) {
                Some(last) => after = last.seq,
                None => break,
            }
        }
        for seq in self.narration.open_cards() {
            let card = message(&self.visitor, self.space, seq).await?;
            told.append(&mut self.narration.knows(card.as_slice(), &[]));
        }
        self.is_checked = true;
        Ok(told)
    }

    async fn reconnect(&mut self, refusal: Refusal) -> Result<(), Refusal> {
        self.lost += 1;
        if refusal.status != 503 || self.lost > RECONNECTS {
            return Err(refusal);
        }
        tokio::time::sleep(Duration::from_millis(200) * self.lost).await;
        self.following = Following::open(&self.visitor, self.space, None).await?;
        self.is_checked = false;
        Ok(())
    }

    /// An event with the whole message, if its frame had room for a part of it only.
    async fn whole(&self, event: EventKind) -> Result<EventKind, Refusal> {
        let (EventKind::MessageCreated { message } | EventKind::MessageUpdated { message }) =
            &event
        else {
            return Ok(event);
        };
        if !message.truncated {
            return Ok(event);
        }
        let whole = self::message(&self.visitor, self.space, message.seq).await?;
        Ok(whole.map_or(event, |message| EventKind::MessageUpdated { message }))
    }
}

/// The key of a client's message: the door's name and the client's id of the message.
pub(crate) fn key_of(door: &str, id: &str) -> Result<IdempotencyKey, Refusal> {
    format!("{door}:{id}").parse().map_err(|_| {
        Refusal::new(422, "/messages: id: expected at most 240 printable ASCII characters")
    })
}

pub(crate) fn messages_path(space: SpaceId) -> String {
    format!("/v1/spaces/{space}/messages")
}

/// The message with this number.
async fn message(visitor: &Visitor, space: SpaceId, seq: u64) -> Result<Option<Message>, Refusal> {
    let query = [("after", (seq - 1).to_string()), ("limit", "1".to_owned())];
    let mut page: Page<Message> = visitor.get(&messages_path(space), &query).await?;
    Ok(page.items.pop())
}

/// The newest runs that the space triggered, newest first.
async fn runs(visitor: &Visitor, space: SpaceId) -> Result<Vec<Run>, Refusal> {
    let query = [("limit", RUNS.to_string())];
    let page: Page<Run> = visitor.get(&format!("/v1/spaces/{space}/runs"), &query).await?;
    Ok(page.items)
}

/// The message that triggered a run.
fn message_of(run: &Run) -> Option<MessageId> {
    if let Trigger::SpaceMessage { message_id, .. } = &run.trigger {
        Some(*message_id)
    } else {
        None
    }
}
