//! Posts the step that a run works on to the followers of the spaces that show the run.
//!
//! One task of the run posts the states of its steps, so that no slow connection delays the run. It
//! posts only if a space has followers, and to each only changes that it may see: members see less
//! of a step than the operator. While a connection is slow, only the newest state of a step is
//! posted. In a large room jobs of the broadcasts queue post the frames.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures::future::join_all;
use smartspace_domain::{
    Time,
    access::{Caller, KnownBy},
    events::{Event, EventKind},
    ids::{RunId, SpaceId},
    jobs::{BroadcastJob, EventJob, Recipient},
    steps::LiveStep,
};
use smartspace_pipeline::frames::send_frame;
use smartspace_store::runs::RunRecord;
use tokio::{sync::mpsc, task::JoinHandle, time::Instant};

use crate::streaming::{
    PendingAudience, ReadAudience, StreamDeps, is_roster_fresh, read_audience, recent_audience,
};

/// Each worker of a run numbers its states from its own multiple of this.
const REVS_OF_WORKER: u64 = 1_000_000;

/// A state that takes longer to post is one that a slow connection delays.
const SLOW_AFTER: Duration = Duration::from_millis(100);

/// How old the list of followers may be.
const AUDIENCE_VALID: Duration = Duration::from_millis(800);
/// The same for an empty list, so that steps without followers cost little.
const EMPTY_AUDIENCE_VALID: Duration = Duration::from_secs(5);

/// The step that a run works on, as its spaces show it.
#[derive(Debug, Default)]
pub(crate) struct LiveSteps(Mutex<CurrentStep>);

#[derive(Debug, Default)]
struct CurrentStep {
    state: Option<StepState>,
    /// How many states were posted.
    count: u64,
    poster: Option<(mpsc::UnboundedSender<StepState>, JoinHandle<()>)>,
}

/// A step, and where it is shown.
#[derive(Clone, Debug)]
pub(crate) struct StepState {
    pub(crate) step: LiveStep,
    pub(crate) spaces: Vec<SpaceId>,
    /// The followers of one of the spaces, if somebody reads them already.
    pub(crate) audience: Option<(SpaceId, PendingAudience)>,
    /// When the step came into this state.
    pub(crate) at: Time,
}

impl LiveSteps {
    /// Replaces the step that is shown.
    pub(crate) fn show(&self, deps: &StreamDeps, run: &RunRecord, state: StepState) {
        let mut current = self.current();
        current.state = Some(state);
        current.post(deps, run);
    }

    /// Replaces the step, and shows it with its next change.
    pub(crate) fn prepare(&self, state: StepState) {
        self.current().state = Some(state);
    }

    /// Changes the step that is shown.
    pub(crate) fn change(
        &self,
        deps: &StreamDeps,
        run: &RunRecord,
        now: Time,
        change: impl FnOnce(&mut LiveStep),
    ) {
        let mut current = self.current();
        if let Some(state) = &mut current.state {
            change(&mut state.step);
            state.at = now;
            current.post(deps, run);
        }
    }

    /// Waits until all frames are posted.
    pub(crate) async fn close(&self, run: RunId) {
        let Some((states, task)) = self.current().poster.take() else { return };
        drop(states);
        if let Err(error) = task.await {
            tracing::error!(%run, %error, "the task that shows steps failed");
        }
    }

    fn current(&self) -> MutexGuard<'_, CurrentStep> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CurrentStep {
    fn post(&mut self, deps: &StreamDeps, run: &RunRecord) {
        let Some(mut state) = self.state.clone() else { return };
        if state.spaces.is_empty() {
            return;
        }
        self.count += 1;
        state.step.rev = u64::from(run.claims) * REVS_OF_WORKER + self.count;
        let (states, _) = self.poster.get_or_insert_with(|| {
            let (states, received) = mpsc::unbounded_channel();
            let poster = Poster { deps: deps.clone(), run: run.id, spaces: BTreeMap::new() };
            (states, tokio::spawn(poster.post_all(received)))
        });
        // The task takes states until the sender is dropped.
        let _ = states.send(state);
    }
}

/// Whether two states say the same.
fn same(one: &LiveStep, other: &LiveStep) -> bool {
    one.index == other.index && one.answer == other.answer && one.calls == other.calls
}

struct Poster {
    deps: StreamDeps,
    run: RunId,
    spaces: BTreeMap<SpaceId, ShownSpace>,
}

/// A space in which steps are shown.
struct ShownSpace {
    read: ReadAudience,
    /// The state of the step that was posted last.
    last_posted: Option<LiveStep>,
}

impl Poster {
    async fn post_all(mut self, mut states: mpsc::UnboundedReceiver<StepState>) {
        let mut next = states.recv().await;
        let mut is_slow = false;
        while let Some(mut state) = next {
            next = None;
            while is_slow && let Ok(newer) = states.try_recv() {
                if newer.step.index != state.step.index {
                    next = Some(newer);
                    break;
                }
                state = newer;
            }
            let began = Instant::now();
            for space in state.spaces.clone() {
                self.post(space, &state).await;
            }
            is_slow = began.elapsed() > SLOW_AFTER;
            if next.is_none() {
                next = states.recv().await;
            }
        }
    }

    /// Posts the step to those followers of a space for whom it is new. Frames that cannot be sent
    /// are lost: the next one says all that they said.
    async fn post(&mut self, space: SpaceId, state: &StepState) {
        let step = &state.step;
        let seen = self.spaces.get_mut(&space).and_then(|shown| shown.last_posted.take());
        let is_new_step = seen.as_ref().is_none_or(|seen| seen.index != step.index);
        let is_same = seen.as_ref().is_some_and(|seen| same(seen, step));
        if is_same || !self.read(space, state, is_new_step).await {
            self.spaces.entry(space).and_modify(|shown| shown.last_posted = seen);
            return;
        }
        let is_new_for_members =
            seen.is_none_or(|seen| !same(&seen.for_members(), &step.for_members()));
        if is_new_for_members && !self.check_roster(space).await {
            return;
        }
        let Some(shown) = self.spaces.get_mut(&space) else { return };
        shown.last_posted = Some(step.clone());
        let what = EventKind::RunStep { run_id: self.run, step: Box::new(step.clone()) };
        let event = Event { space_id: space, at: state.at, what };
        let read = shown.read.clone();
        self.send(&event, &read, is_new_for_members).await;
    }

    /// Reads the followers of a space, if those that are known are too old. Where nobody listened,
    /// it looks again with the next step. Returns whether anybody may listen.
    async fn read(&mut self, space: SpaceId, state: &StepState, is_new_step: bool) -> bool {
        if let Some(shown) = self.spaces.get(&space) {
            let has_followers = !shown.read.audience.connections.is_empty();
            let age = shown.read.began.elapsed();
            let valid = if has_followers { AUDIENCE_VALID } else { EMPTY_AUDIENCE_VALID };
            if age < valid || !(has_followers || is_new_step) {
                return has_followers;
            }
        }
        let pending = state.audience.clone().filter(|(of, _)| *of == space);
        let pending = pending.filter(|_| !self.spaces.contains_key(&space));
        let pending = pending.map_or_else(|| recent_audience(&self.deps, space), |(_, it)| it);
        let Some(read) = pending.await else {
            self.spaces.remove(&space);
            return false;
        };
        let has_followers = !read.audience.connections.is_empty();
        self.spaces.insert(space, ShownSpace { read, last_posted: None });
        has_followers
    }

    /// Reads the followers again if the members have changed since. Returns false if it is not
    /// known who may see the step.
    async fn check_roster(&mut self, space: SpaceId) -> bool {
        let Some(shown) = self.spaces.get(&space) else { return false };
        let is_member = |caller: Caller| matches!(caller, Caller::Entity(_));
        let audience = &shown.read.audience;
        let roster = audience.roster.head.roster;
        if is_roster_fresh(&self.deps, space, roster, shown.read.began)
            || !audience.connections.iter().any(|it| is_member(it.caller))
        {
            return true;
        }
        match self.deps.store.members().head(space).await {
            Ok(Some(head)) if head.roster == roster => return true,
            Ok(Some(_)) => {}
            Ok(None) | Err(_) => return false,
        }
        match read_audience(&self.deps, space).await {
            Some(read) => {
                self.spaces.insert(space, ShownSpace { read, last_posted: None });
                true
            }
            None => false,
        }
    }

    /// Sends the event to the operator and, if it is new for them, to members.
    async fn send(&self, event: &Event, read: &ReadAudience, to_members: bool) {
        let now = self.deps.clock.now();
        let connections = &read.audience.connections;
        let gets_it = |caller: Caller| to_members || caller == Caller::Operator;
        let recipients = connections.iter().filter(|it| it.valid_until > now && gets_it(it.caller));
        let limits = self.deps.store.room_limits();
        if connections.len() > limits.direct {
            let recipients = recipients.map(|it| Recipient::new(it.id.clone(), it.caller));
            let recipients: Vec<_> = recipients.collect();
            let roster = Some(read.audience.roster.head.roster);
            let jobs = EventJob::split(event, &recipients, roster, limits.per_job);
            let jobs: Vec<_> = jobs.map(BroadcastJob::Event).collect();
            if !jobs.is_empty()
                && let Err(error) = self.deps.broadcasts.send(jobs).await
            {
                tracing::warn!(run = %self.run, %error, "frames of a step were not queued");
            }
            return;
        }
        let whole: Arc<str> = event.to_frame().into();
        let reduced: Arc<str> = event.for_others_than(KnownBy::Operator).to_frame().into();
        join_all(recipients.map(|it| {
            let frame = if it.caller == Caller::Operator { &whole } else { &reduced };
            send_frame(&self.deps.store, &*self.deps.sockets, &it.id, Arc::clone(frame))
        }))
        .await;
    }
}
