//! Follows a turn to its end: receives frames, and reads the space when frames are not enough.

use std::time::Duration;

use smartspace_client::{
    Page, Refusal, Session as ApiSession, Subscription, SubscriptionOptions, file_links, files_of,
    messages_path,
};
use smartspace_domain::{events::EventKind, ids::SpaceId, messages::Message};
use tokio::time::{Instant, sleep, timeout_at};

use crate::turn::{
    TurnEnd, TurnEvent,
    reads::{self, PAGE_MESSAGES, message, older_runs, runs},
    sequencer::TurnSequencer,
};

/// How long a response follows one turn. AWS ends a response after 15 minutes.
const MAX_DURATION: Duration = Duration::from_mins(14);
/// After how much silence the space is read, since frames can be lost.
const MAX_SILENCE: Duration = Duration::from_secs(15);
/// How long a text may stay open after the turn is over. The text of a canceled run is posted
/// within this time.
const LATE_MESSAGE_WAIT: Duration = Duration::from_secs(5);
/// How often in a row a broken connection is opened again without an event in between.
const MAX_RECONNECTS: u32 = 3;

/// The options of an adapter's subscriptions. `protocol` makes them count towards a limit that each
/// entity has.
const SUBSCRIPTION: SubscriptionOptions = SubscriptionOptions { after_seq: None, protocol: true };

/// A turn that is being followed.
#[derive(Debug)]
pub(crate) struct TurnSession {
    api: ApiSession,
    space: SpaceId,
    subscription: Subscription,
    sequencer: TurnSequencer,
    /// The events before the first frame.
    first: Option<Vec<TurnEvent>>,
    /// Whether the space was read since the turn seems to be over.
    has_reread: bool,
    /// Since when the turn is over, while a text is open.
    over_since: Option<Instant>,
    deadline: Instant,
    /// How often the connection broke since the last event.
    failed_connections: u32,
}

/// The next output of a session: more events of the turn, or the last ones.
#[derive(Debug)]
pub(crate) enum SessionOutput {
    Events(Vec<TurnEvent>),
    End(Vec<TurnEvent>, TurnEnd, EndCause),
}

/// Why a turn is followed no further.
#[derive(Debug)]
pub(crate) enum EndCause {
    Over,
    /// The turn goes on, but the response has reached its time limit.
    TimeLimit,
    /// The space can no longer be followed.
    Lost(Refusal),
}

impl TurnSession {
    pub(super) fn new(
        api: ApiSession,
        subscription: Subscription,
        sequencer: TurnSequencer,
        first: Vec<TurnEvent>,
        space: SpaceId,
    ) -> Self {
        Self {
            api,
            space,
            subscription,
            sequencer,
            first: Some(first),
            has_reread: false,
            over_since: None,
            deadline: Instant::now() + MAX_DURATION,
            failed_connections: 0,
        }
    }

    pub(crate) fn space(&self) -> SpaceId {
        self.space
    }

    /// Waits for the end of the turn.
    pub(crate) async fn until_end(&mut self) {
        while let SessionOutput::Events(_) = self.next().await {}
    }

    /// Waits for the next events, and adds the addresses of files.
    pub(crate) async fn next_with_files(&mut self) -> SessionOutput {
        match self.next().await {
            SessionOutput::Events(events) => SessionOutput::Events(self.with_files(events).await),
            SessionOutput::End(events, end, cause) => {
                SessionOutput::End(self.with_files(events).await, end, cause)
            }
        }
    }

    async fn with_files(&self, events: Vec<TurnEvent>) -> Vec<TurnEvent> {
        let mut all = Vec::with_capacity(events.len());
        for event in events {
            let ended = match &event {
                TurnEvent::TextEnded { message, .. }
                | TurnEvent::Message { message, .. }
                | TurnEvent::CardEnded(message) => {
                    files_of(message).next().map(|_| message.clone())
                }
                _ => None,
            };
            all.push(event);
            if let Some(message) = ended {
                let files = file_links(&self.api, &message).await;
                let in_turn = self.sequencer.is_of_turn(&message);
                all.push(TurnEvent::Files { message, files, in_turn });
            }
        }
        all
    }

    /// Waits for the next events.
    pub(crate) async fn next(&mut self) -> SessionOutput {
        if let Some(first) = self.first.take() {
            return SessionOutput::Events(first);
        }
        match self.advance().await {
            Ok(step) => step,
            Err(refusal) => self.end(EndCause::Lost(refusal)),
        }
    }

    async fn advance(&mut self) -> Result<SessionOutput, Refusal> {
        loop {
            let now = Instant::now();
            if now >= self.deadline {
                return Ok(self.end(EndCause::TimeLimit));
            }
            // A turn that seemed to be over goes on if a late frame shows another run of it. Then
            // it needs a new check at its next end.
            let is_over = self.sequencer.is_over();
            self.has_reread &= is_over;
            // Frames alone cannot end a turn: the last one to arrive may have overtaken a message,
            // or an effect of the turn may have been lost. So the space is read once more.
            if is_over && !self.has_reread {
                let events = self.read_space_with_retries().await?;
                if events.is_empty() {
                    continue;
                }
                return Ok(SessionOutput::Events(events));
            }
            self.over_since = is_over.then(|| self.over_since.unwrap_or(now));
            // A canceled run ends before its text is posted, and that message can be lost. So an
            // open text delays the end, but not for long.
            let late = self.over_since.map(|since| since + LATE_MESSAGE_WAIT);
            let is_late = late.is_some_and(|late| late <= now);
            if is_over && (!self.sequencer.has_open_text() || is_late) {
                return Ok(self.end(EndCause::Over));
            }
            let until = self.deadline.min(late.unwrap_or(now + MAX_SILENCE));
            let events = self.receive(until).await?;
            if !events.is_empty() {
                return Ok(SessionOutput::Events(events));
            }
        }
    }

    /// Receives one frame, or reads the space if none comes until `until`.
    async fn receive(&mut self, until: Instant) -> Result<Vec<TurnEvent>, Refusal> {
        match timeout_at(until, self.subscription.next()).await {
            Ok(Ok(event)) => {
                self.failed_connections = 0;
                let event = self.with_whole_message(event.what).await?;
                Ok(self.sequencer.on_event(event))
            }
            Ok(Err(refusal)) => {
                self.reconnect(refusal).await?;
                Ok(Vec::new())
            }
            Err(_) => {
                self.subscription.ping().await;
                self.read_space_with_retries().await
            }
        }
    }

    fn end(&mut self, cause: EndCause) -> SessionOutput {
        let (events, end) = self.sequencer.end();
        SessionOutput::End(events, end, cause)
    }

    /// Reads the space. Waits while the caller has made too many requests.
    async fn read_space_with_retries(&mut self) -> Result<Vec<TurnEvent>, Refusal> {
        let mut retries = 0;
        loop {
            match self.read_space().await {
                Err(refusal) => refusal.wait_before_retry(&mut retries).await?,
                events => return events,
            }
        }
    }

    /// Reads what late or lost frames contained.
    async fn read_space(&mut self) -> Result<Vec<TurnEvent>, Refusal> {
        // The runs first: a run posts before it ends, so the messages of every run that this read
        // shows as ended are in the next one.
        let mut runs = runs(&self.api, self.space).await?;
        let mut after = self.sequencer.complete_to();
        let mut messages = Vec::new();
        loop {
            let query = [("after", after.to_string()), ("limit", PAGE_MESSAGES.to_string())];
            let page: Page<Message> = self.api.get(&messages_path(self.space), &query).await?;
            messages.extend(page.items);
            match messages.last().filter(|_| page.next_cursor.is_some()) {
                Some(last) => after = last.seq,
                None => break,
            }
        }
        // The results of cards change old messages, which are not after the gap.
        for seq in self.sequencer.seqs_to_reread() {
            messages.extend(message(&self.api, self.space, seq).await?);
        }
        runs.extend(older_runs(&self.api, &mut self.sequencer).await?);
        self.has_reread = true;
        Ok(self.sequencer.sync(&messages, &runs))
    }

    async fn reconnect(&mut self, refusal: Refusal) -> Result<(), Refusal> {
        self.failed_connections += 1;
        if refusal.status != 503 || self.failed_connections > MAX_RECONNECTS {
            return Err(refusal);
        }
        sleep(Duration::from_millis(200) * self.failed_connections).await;
        let mut retries = 0;
        self.subscription = loop {
            match Subscription::open(&self.api, self.space, SUBSCRIPTION).await {
                Ok(subscription) => break subscription,
                // The broken connection may still count towards the caller's limit.
                Err(refusal) => refusal.wait_before_retry(&mut retries).await?,
            }
        };
        // Frames were lost in between.
        self.has_reread = false;
        Ok(())
    }

    /// Reads the whole message if the frame contains only a part of it.
    async fn with_whole_message(&self, event: EventKind) -> Result<EventKind, Refusal> {
        let (EventKind::MessageCreated { message } | EventKind::MessageUpdated { message }) =
            &event
        else {
            return Ok(event);
        };
        if !message.truncated {
            return Ok(event);
        }
        let mut retries = 0;
        loop {
            match reads::message(&self.api, self.space, message.seq).await {
                Ok(Some(message)) => return Ok(EventKind::MessageUpdated { message }),
                Ok(None) => return Ok(event),
                Err(refusal) => refusal.wait_before_retry(&mut retries).await?,
            }
        }
    }
}
