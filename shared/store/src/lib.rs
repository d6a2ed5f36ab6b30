//! The table: the only way to read and write stored items.
//!
//! [`table`] is the thin layer over the database: [`table::keys`] names every item, and
//! [`table::write`] builds conditional writes.
//!
//! `shared` holds the stored forms that several aggregates read. Above it is one module per
//! aggregate, and imports go down only: deliveries and agents, messages, runs, spaces, entities.
//! Each module gives [`Store`] a small handle, so that a call names its aggregate:
//! `store.messages().append(…)`, `store.runs().claim(…)`, `store.plans().fire(…)`.
//!
//! No type of the SDK leaves this crate, except the client that is passed in.
//! Reads are consistent. An index only finds candidates: the item in the table decides.
//! Expired items count as deleted.
//!
//! `docs/internals/table.md` lists the items of the table.

pub mod agents;
pub mod attachments;
pub mod connections;
pub mod deliveries;
pub mod due;
pub mod entities;
mod handles;
pub mod idempotency;
pub mod inbox;
pub mod invites;
pub mod limits;
mod locks;
pub mod messages;
pub mod optimistic_retry;
pub mod projects;
pub mod runs;
pub mod search;
mod shared;
pub mod spaces;
pub mod table;
pub mod usage;

use std::{sync::Arc, time::Duration};

use smartspace_domain::{
    Time,
    append_limits::AppendLimit,
    attachments::FileLimits,
    budgets::{BudgetScope, DailyLimit, ScopeBudget},
    dispatch::WakeLimits,
    ids::EntityId,
    limits::{EMPTY_SPACES_KEPT, RoomLimits},
    prices::Prices,
};

pub use smartspace_domain::{Error, Result};

pub use crate::handles::{
    AgentState, Allowances, Attachments, Blocks, Budgets, Calls, Connections, Deliveries, Due,
    Entities, Forms, Goals, Idempotency, Inbox, Invites, Members, Memories, Mentions, Messages,
    Plans, Projects, Prompts, Quota, Rates, Relationships, Runs, Spaces, Steps, Summaries,
    Triggers, UsageRows,
};
use crate::{
    limits::{quota::MinutesSeen, rates::RatesSeen, seconds::SecondsSeen},
    locks::Locks,
    messages::append::TalkingSpaces,
    runs::prompts::KnownParts,
    spaces::rosters::RosterCache,
    table::{Table, database::Database},
};

/// Random bits, for jitter.
pub type Random = Arc<dyn Fn() -> u128 + Send + Sync>;

/// The trace that the current work belongs to, as a `traceparent`.
pub type CurrentTrace = Arc<dyn Fn() -> String + Send + Sync>;

/// Access to all stored items.
#[derive(Clone)]
pub struct Store {
    table: Table,
    rosters: Arc<RosterCache>,
    talking_spaces: Arc<TalkingSpaces>,
    space_locks: Arc<Locks>,
    agent_locks: Arc<Locks>,
    parts: Arc<KnownParts>,
    minutes: Arc<MinutesSeen>,
    rates: Arc<RatesSeen>,
    seconds: Arc<SecondsSeen>,
    run_retention: Option<Duration>,
    append_limit: Option<AppendLimit>,
    room_limits: RoomLimits,
    budget: DailyLimit,
    prices: Arc<Prices>,
    file_limits: FileLimits,
    empty_spaces_kept: Duration,
    trace: Option<CurrentTrace>,
    has_router_model: bool,
}

impl Store {
    /// The table `name` of DynamoDB, reached through `client`.
    #[cfg(feature = "aws")]
    pub fn new(
        client: aws_sdk_dynamodb::Client,
        name: impl Into<Arc<str>>,
        run_retention: Option<Duration>,
        random: Random,
    ) -> Self {
        let database = table::dynamodb::DynamoDb::new(client, name);
        Self::on(Arc::new(database), run_retention, random)
    }

    /// The table of `database`. Ended runs are stored for `run_retention`, or forever if that is
    /// `None`.
    pub fn on(
        database: Arc<dyn Database>,
        run_retention: Option<Duration>,
        random: Random,
    ) -> Self {
        Self {
            table: Table::new(database, random),
            rosters: Arc::default(),
            talking_spaces: Arc::default(),
            space_locks: Arc::default(),
            agent_locks: Arc::default(),
            parts: Arc::default(),
            minutes: Arc::default(),
            rates: Arc::default(),
            seconds: Arc::default(),
            run_retention,
            append_limit: Some(AppendLimit::SPACE),
            room_limits: RoomLimits::SPACE,
            budget: DailyLimit::default(),
            prices: Arc::default(),
            file_limits: FileLimits::DEFAULT,
            empty_spaces_kept: EMPTY_SPACES_KEPT,
            trace: None,
            has_router_model: false,
        }
    }

    /// The same store with another limit of appends to a space, or with none.
    #[must_use]
    pub fn with_append_limit(self, append_limit: Option<AppendLimit>) -> Self {
        Self { append_limit, ..self }
    }

    /// The same store with other limits of rooms. The functions of one deployment share them.
    #[must_use]
    pub fn with_room_limits(self, room_limits: RoomLimits) -> Self {
        Self { room_limits, ..self }
    }

    /// The same store with a budget for the whole deployment. The functions of one deployment share
    /// it.
    #[must_use]
    pub fn with_budget(self, budget: DailyLimit) -> Self {
        Self { budget, ..self }
    }

    /// The same store, which knows by the prices of models whose runs cost nothing.
    #[must_use]
    pub fn with_prices(self, prices: Arc<Prices>) -> Self {
        Self { prices, ..self }
    }

    /// The same store with other limits of files. The functions of one deployment share them.
    #[must_use]
    pub fn with_file_limits(self, file_limits: FileLimits) -> Self {
        Self { file_limits, ..self }
    }

    /// The same store, in which a space ends so long after its last member has left.
    #[must_use]
    pub fn with_empty_spaces_kept(self, empty_spaces_kept: Duration) -> Self {
        Self { empty_spaces_kept, ..self }
    }

    /// The same store, in which new runs keep the trace that they belong to. All functions of a
    /// deployment do, or none.
    #[must_use]
    pub fn with_traces(self, trace: Option<CurrentTrace>) -> Self {
        Self { trace, ..self }
    }

    /// The same store of a deployment that has a router model for spaces without one of their own.
    #[must_use]
    pub fn with_router_model(self, has_router_model: bool) -> Self {
        Self { has_router_model, ..self }
    }

    fn trace(&self) -> Option<String> {
        self.trace.as_ref().map(|trace| trace())
    }

    /// The budget of the whole deployment for a day, if it has one.
    pub fn deployment_budget(&self) -> Option<ScopeBudget> {
        ScopeBudget::of(BudgetScope::Deployment, self.budget)
    }

    /// The budgets that the runs of an agent are paid from: its own, that of `space`, and that of
    /// the deployment. Dollars do not limit an agent whose model costs nothing.
    pub(crate) fn budgets_of(
        &self,
        agent: EntityId,
        limits: &WakeLimits,
        space: Option<ScopeBudget>,
    ) -> impl Iterator<Item = ScopeBudget> {
        let own = ScopeBudget::of(BudgetScope::Agent(agent), limits.per_day);
        let all = own.into_iter().chain(space).chain(self.deployment_budget());
        let is_free = self.prices.is_free(limits);
        all.filter_map(move |budget| if is_free { budget.without_dollars() } else { Some(budget) })
    }

    /// How the frames of a space reach many connections.
    pub fn room_limits(&self) -> RoomLimits {
        self.room_limits
    }

    /// When a run that ends `now` expires, in seconds since the epoch, as the table's TTL requires.
    fn run_expiry(&self, now: Time) -> Option<i64> {
        self.run_retention.map(|retention| (now + retention).as_seconds())
    }

    /// When steps and calls that are stored `now` expire. They are stored for a week longer than an
    /// ended run, since their run may go on for some time.
    pub fn work_expiry(&self, now: Time) -> Option<i64> {
        self.run_expiry(now + Duration::from_hours(7 * 24))
    }
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").finish_non_exhaustive()
    }
}
