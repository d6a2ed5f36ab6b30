//! What a streaming door does: it reads a space, posts what is new, and tells what follows until the
//! turn is over.

mod opening;
mod reads;

use std::time::Duration;

use smartspace_domain::{events::EventKind, ids::SpaceId, messages::Message};
use tokio::time::{Instant, sleep, timeout_at};

use self::reads::{PAGE, message, older_runs};
pub(crate) use self::{
    opening::{Answer, Opening, Post, Shown},
    reads::{Page, id_for_clients, is_open_form, key_of, runs},
};
use crate::{
    api_client::{Refusal, Visitor, messages_path},
    files::{files_of, links},
    following::Following,
    narration::{Ending, Narration, Told},
};

/// How long a response may go on with one turn. AWS ends a response after 15 minutes.
const LONGEST: Duration = Duration::from_mins(14);
/// After how much silence the space is read again, since frames can be lost.
const SILENCE: Duration = Duration::from_secs(15);
/// How long a text may stay open after the turn: what a canceled run has written is posted then.
const LATE_MESSAGE: Duration = Duration::from_secs(5);
/// How often a broken connection is opened again without an event in between.
const RECONNECTS: u32 = 3;

/// A turn, as a client gets it.
#[derive(Debug)]
pub(crate) struct Conversation {
    visitor: Visitor,
    space: SpaceId,
    following: Following,
    narration: Narration,
    /// What the client gets first.
    first: Option<Vec<Told>>,
    /// Whether the space was read since the turn seems over.
    is_checked: bool,
    /// Since when the turn is over, but a text is open.
    over_since: Option<Instant>,
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
    /// Begins to tell `first`, and then what follows.
    fn new(
        visitor: Visitor,
        following: Following,
        narration: Narration,
        first: Vec<Told>,
        space: SpaceId,
    ) -> Self {
        Self {
            visitor,
            space,
            following,
            narration,
            first: Some(first),
            is_checked: false,
            over_since: None,
            until: Instant::now() + LONGEST,
            lost: 0,
        }
    }

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

    /// Waits for what comes next, with the addresses of files.
    pub(crate) async fn next_with_files(&mut self) -> Next {
        match self.next().await {
            Next::Told(told) => Next::Told(self.with_files(told).await),
            Next::End(told, ending, why) => Next::End(self.with_files(told).await, ending, why),
        }
    }

    async fn with_files(&self, all: Vec<Told>) -> Vec<Told> {
        let mut with_files = Vec::with_capacity(all.len());
        for told in all {
            let ended = match &told {
                Told::TextEnded { message, .. }
                | Told::Message(message)
                | Told::CardEnded(message) => files_of(message).next().map(|_| message.clone()),
                _ => None,
            };
            with_files.push(told);
            if let Some(message) = ended {
                let files = links(&self.visitor, &message).await;
                with_files.push(Told::Files { message, files });
            }
        }
        with_files
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
            let now = Instant::now();
            if now >= self.until {
                return Ok(self.end(Why::Continues));
            }
            let is_over = self.narration.is_over();
            self.is_checked &= is_over;
            if is_over && !self.is_checked {
                let told = self.check_patiently().await?;
                if told.is_empty() {
                    continue;
                }
                return Ok(Next::Told(told));
            }
            self.over_since = is_over.then(|| self.over_since.unwrap_or(now));
            let late = self.over_since.map(|since| since + LATE_MESSAGE);
            if is_over && (!self.narration.has_open_text() || late.is_some_and(|late| late <= now))
            {
                return Ok(self.end(Why::Over));
            }
            let until = self.until.min(late.unwrap_or(now + SILENCE));
            let told = match timeout_at(until, self.following.next()).await {
                Ok(Ok(event)) => {
                    self.lost = 0;
                    let what = self.whole(event.what).await?;
                    self.narration.saw(what)
                }
                Ok(Err(refusal)) => {
                    self.reconnect(refusal).await?;
                    continue;
                }
                Err(_) => {
                    self.following.ping().await;
                    self.check_patiently().await?
                }
            };
            if !told.is_empty() {
                return Ok(Next::Told(told));
            }
        }
    }

    fn end(&mut self, why: Why) -> Next {
        let (told, ending) = self.narration.end();
        Next::End(told, ending, why)
    }

    /// Reads what the events should have told, and waits if the caller has made too many requests.
    async fn check_patiently(&mut self) -> Result<Vec<Told>, Refusal> {
        let mut tries = 0;
        loop {
            match self.check().await {
                Err(refusal) => refusal.wait_out(&mut tries).await?,
                read => return read,
            }
        }
    }

    /// Reads what the events should have told.
    async fn check(&mut self) -> Result<Vec<Told>, Refusal> {
        let mut runs = runs(&self.visitor, self.space).await?;
        let mut after = self.narration.complete_to();
        let mut messages = Vec::new();
        loop {
            let query = [("after", after.to_string()), ("limit", PAGE.to_string())];
            let page: Page<Message> = self.visitor.get(&messages_path(self.space), &query).await?;
            messages.extend(page.items);
            match messages.last().filter(|_| page.next_cursor.is_some()) {
                Some(last) => after = last.seq,
                None => break,
            }
        }
        for seq in self.narration.open_cards() {
            messages.extend(message(&self.visitor, self.space, seq).await?);
        }
        runs.extend(older_runs(&self.visitor, &mut self.narration).await?);
        self.is_checked = true;
        Ok(self.narration.knows(&messages, &runs))
    }

    async fn reconnect(&mut self, refusal: Refusal) -> Result<(), Refusal> {
        self.lost += 1;
        if refusal.status != 503 || self.lost > RECONNECTS {
            return Err(refusal);
        }
        sleep(Duration::from_millis(200) * self.lost).await;
        let mut tries = 0;
        self.following = loop {
            match Following::open(&self.visitor, self.space, None).await {
                Ok(following) => break following,
                // Its own lost connection may still count as one of the caller's.
                Err(refusal) => refusal.wait_out(&mut tries).await?,
            }
        };
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
        let mut tries = 0;
        loop {
            match reads::message(&self.visitor, self.space, message.seq).await {
                Ok(Some(message)) => return Ok(EventKind::MessageUpdated { message }),
                Ok(None) => return Ok(event),
                Err(refusal) => refusal.wait_out(&mut tries).await?,
            }
        }
    }
}
