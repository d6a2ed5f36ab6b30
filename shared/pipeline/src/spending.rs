//! Pays for model calls: reserves what a call may use before it is made, and settles that to what
//! it has used.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use futures::future::join_all;
use smartspace_domain::{
    Error,
    budgets::{Amount, Budget, BudgetScope, ScopeBudget, Spent},
    days::Day,
    ids::{EntityId, RunId, SpaceId},
    prices::Prices,
    usage::{Usage, billionths},
};
use smartspace_store::limits::budget_counters::Reserved;

use crate::Pipeline;

/// The shares of a budget whose use is announced to people and to the model, in percent.
const SHARES: [u64; 2] = [100, 80];

/// Why a call must not be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unpaid {
    /// A budget has no room for it. The text says which.
    #[error("{0}")]
    Refused(String),
    /// The table did not answer.
    #[error(transparent)]
    StoreFailed(Error),
}

/// The most that a model may write in a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutputLimit {
    /// Tokens.
    pub tokens: u64,
    /// Pictures.
    pub images: u64,
}

impl OutputLimit {
    /// A text of so many tokens.
    pub fn text(tokens: u32) -> Self {
        Self { tokens: tokens.into(), images: 0 }
    }
}

/// What a run announces of a budget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BudgetNotice {
    pub scope: BudgetScope,
    /// The text for the model and for people.
    pub text: String,
}

/// The budgets that the model calls of one worker are paid from. Without budgets it does nothing.
pub struct Spending {
    pipeline: Pipeline,
    prices: Arc<Prices>,
    budgets: Vec<ScopeBudget>,
    /// The run that announces to people that a share of a budget is used. `None` outside of runs.
    announcer: Option<RunId>,
    open: Mutex<BTreeMap<String, Reservation>>,
    notices: Mutex<Vec<BudgetNotice>>,
    /// The shares that this worker has announced, or tried to.
    announced: Mutex<BTreeSet<(BudgetScope, u64)>>,
}

/// The amount that was reserved for a call.
#[derive(Clone)]
struct Reservation {
    day: Day,
    amount: Amount,
    /// The budgets that it is reserved on.
    budgets: Vec<ScopeBudget>,
}

impl Pipeline {
    /// The budgets that the model calls of an agent, in a space, are paid from.
    pub fn budgets(
        &self,
        agent: Option<(EntityId, &Budget)>,
        space: Option<(SpaceId, &Budget)>,
    ) -> Vec<ScopeBudget> {
        let agent = agent
            .and_then(|(id, budget)| ScopeBudget::of(BudgetScope::Agent(id), budget.per_day()));
        let space = space
            .and_then(|(id, budget)| ScopeBudget::of(BudgetScope::Space(id), budget.per_day()));
        agent.into_iter().chain(space).chain(self.store.deployment_budget()).collect()
    }
}

impl Spending {
    /// Pays from `budgets`. Only a run, the `announcer`, announces that they are nearly used.
    pub fn new(
        pipeline: &Pipeline,
        prices: &Arc<Prices>,
        budgets: Vec<ScopeBudget>,
        announcer: Option<RunId>,
    ) -> Self {
        Self {
            pipeline: pipeline.clone(),
            prices: Arc::clone(prices),
            budgets,
            announcer,
            open: Mutex::default(),
            notices: Mutex::default(),
            announced: Mutex::default(),
        }
    }

    /// Reserves the most that a call of `model` (`provider/model`) may use. The call must be
    /// [settled](Self::settle). `id` identifies it: letters, digits and `_`. `input_tokens`
    /// estimates the request, if that is needed.
    ///
    /// # Errors
    /// The call must not be made. Nothing is reserved then.
    pub async fn reserve(
        &self,
        id: &str,
        model: &str,
        input_tokens: impl FnOnce() -> u64,
        most: OutputLimit,
    ) -> Result<(), Unpaid> {
        if self.budgets.is_empty() {
            return Ok(());
        }
        let input_tokens = input_tokens();
        let OutputLimit { tokens, images } = most;
        let cost = self.prices.most(model, input_tokens, tokens, images);
        let now = self.pipeline.now();
        let day = Day::of(now);
        let tokens = input_tokens.saturating_add(tokens);
        let amount = Amount { tokens, nanodollars: billionths(cost) };
        // A call that costs nothing is made even if a budget of dollars is used up.
        let is_free = amount.nanodollars == 0;
        let limits = self.budgets.iter().copied();
        let budgets: Vec<_> = limits
            .filter_map(|budget| if is_free { budget.without_dollars() } else { Some(budget) })
            .collect();
        let reservation = Reservation { day, amount, budgets: budgets.clone() };
        self.open().insert(id.to_owned(), reservation);
        let counters = self.pipeline.store.budgets();
        let reserving = budgets.iter().map(|budget| counters.reserve(budget, id, amount, now));
        let mut refused = None;
        for (budget, reserved) in budgets.iter().zip(join_all(reserving).await) {
            match reserved {
                Ok(Reserved::Yes) => {}
                Ok(reserved @ (Reserved::No | Reserved::NotNow)) => {
                    if reserved == Reserved::No {
                        self.announce(budget.scope, day, 100).await;
                    }
                    refused = Some(Unpaid::Refused(budget.scope.used_text(day)));
                }
                Ok(Reserved::Never) => {
                    refused = Some(Unpaid::Refused(budget.scope.too_small_text()));
                }
                Err(error) => refused = Some(Unpaid::StoreFailed(error)),
            }
        }
        match refused {
            Some(refused) => {
                self.settle(id, Some(&Usage::default())).await;
                Err(refused)
            }
            None => Ok(()),
        }
    }

    /// Replaces what was reserved for a call by what it has used. If that is unknown, because its
    /// answer broke off, it counts as reserved.
    pub async fn settle(&self, id: &str, used: Option<&Usage>) {
        // It stays open until it is settled, because this future may be dropped.
        let Some(Reservation { day, amount, budgets }) = self.open().get(id).cloned() else {
            return;
        };
        let used = used.map_or(amount, Amount::of);
        let counters = self.pipeline.store.budgets();
        let settling =
            budgets.iter().map(|budget| counters.settle(budget.scope, day, id, amount, used));
        for (budget, settled) in budgets.iter().zip(join_all(settling).await) {
            match settled {
                Ok(Some(Spent { settled, .. })) => {
                    let percent = budget.limit.percent(settled);
                    if let Some(share) = SHARES.into_iter().find(|share| percent >= *share) {
                        self.announce(budget.scope, day, share).await;
                    }
                }
                Ok(None) => {}
                Err(error) => tracing::warn!(
                    call = id, scope = %budget.scope, %error,
                    "a call was not settled; it counts as reserved"
                ),
            }
        }
        self.open().remove(id);
    }

    /// Settles the calls that another worker of the same work left. Their ids begin with `prefix`.
    /// `used` says what a call has used, by the rest of its id, if that is known.
    pub async fn settle_left(&self, prefix: &str, used: impl Fn(&str) -> Option<Usage>) {
        let day = Day::of(self.pipeline.now());
        let used = |call: &str| used(call).as_ref().map(Amount::of);
        for budget in &self.budgets {
            let counters = self.pipeline.store.budgets();
            if let Err(error) = counters.settle_left(budget.scope, day, prefix, used).await {
                tracing::warn!(calls = prefix, %error, "calls of a dead worker were not settled");
            }
        }
    }

    /// Settles calls that were cut off: they count as reserved.
    pub async fn close(&self) {
        let open: Vec<_> = self.open().keys().cloned().collect();
        for id in open {
            self.settle(&id, None).await;
        }
    }

    /// Notices of budgets that are nearly used, since the last call of this function.
    pub fn take_notices(&self) -> Vec<BudgetNotice> {
        std::mem::take(&mut *locked(&self.notices))
    }

    /// Keeps a text about a budget for [`Self::take_notices`], unless another run announces it
    /// today.
    async fn announce(&self, scope: BudgetScope, day: Day, percent: u64) {
        let Some(announcer) = self.announcer else { return };
        if !locked(&self.announced).insert((scope, percent)) {
            return;
        }
        let counters = self.pipeline.store.budgets();
        match counters.may_announce(scope, day, percent, &announcer.to_string()).await {
            Ok(true) => {
                let text = scope.percent_text(percent);
                // An alarm counts the deployment's: nobody but the operator can raise it.
                if scope == BudgetScope::Deployment {
                    tracing::warn!(event = "daily_budget_used", percent, "{text}");
                } else {
                    tracing::warn!(event = "budget_used", ?scope, percent, "{text}");
                }
                locked(&self.notices).push(BudgetNotice { scope, text });
            }
            Ok(false) => {}
            Err(error) => tracing::warn!(?scope, %error, "the use of a budget was not announced"),
        }
    }

    fn open(&self) -> MutexGuard<'_, BTreeMap<String, Reservation>> {
        locked(&self.open)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl std::fmt::Debug for Spending {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Spending").field("budgets", &self.budgets).finish_non_exhaustive()
    }
}
