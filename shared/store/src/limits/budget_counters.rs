//! The spending of a day from budgets. Only a scope with a limit has a counter.
//!
//! Before a model call, the most that it may use is reserved on the counter of each scope. The
//! reservation is counted like something spent, and stays listed on the counter until it is
//! settled. So calls at the same moment can't pass the limit together, a reservation that is
//! repeated counts once, and one that a dead worker left is known. After twenty minutes the next
//! reservation unlists it.

use std::{collections::BTreeMap, time::Duration};

use serde::Deserialize;
use smartspace_domain::{
    Time,
    budgets::{Amount, BudgetScope, ScopeBudget, Spent},
    days::Day,
};

use crate::{
    Budgets, Result,
    table::{
        Items, WriteError,
        keys::{self, Key},
        read,
        write::Write,
    },
};

/// How long the counter of a day is stored after that day.
const STORED_FOR: Duration = Duration::from_hours(48);
/// How long a reservation lasts. Its call has ended then, because no answer takes longer.
const RESERVED_FOR: Duration = Duration::from_mins(20);
/// How many reservations one write unlists. An expression has at most 4 KB.
const FORGOTTEN_AT_ONCE: usize = 50;
/// The prefix of the attributes that hold reservations.
const RESERVATION: &str = "r_";

/// The counter of a scope on a day.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct CounterItem {
    #[serde(default)]
    tokens: i64,
    #[serde(default)]
    cost: i64,
    /// The smallest call that found no room.
    #[serde(default)]
    refused_tokens: Option<u64>,
    #[serde(default)]
    refused_cost: Option<u64>,
    /// The reservations, and what other items have, too. In a fixed order, so that the simulation
    /// can repeat a history.
    #[serde(flatten)]
    others: BTreeMap<String, serde_json::Value>,
}

/// A call that has not been settled.
#[derive(Clone, Debug, Deserialize)]
struct Reservation(u64, u64, Time);

impl Reservation {
    fn amount(&self) -> Amount {
        Amount { tokens: self.0, nanodollars: self.1 }
    }
}

impl CounterItem {
    fn spent(&self) -> Spent {
        let count = |count: i64| u64::try_from(count).unwrap_or(0);
        let refused = self.refused_tokens.zip(self.refused_cost);
        let amount = Amount { tokens: count(self.tokens), nanodollars: count(self.cost) };
        let under_way = self.reservations().map(|(_, reservation)| reservation.amount());
        Spent {
            amount,
            settled: under_way.fold(amount, Amount::without),
            refused: refused.map(|(tokens, nanodollars)| Amount { tokens, nanodollars }),
        }
    }

    fn has(&self, id: &str) -> bool {
        self.others.contains_key(&attribute(id))
    }

    /// The reservations, by their ids.
    fn reservations(&self) -> impl Iterator<Item = (&str, Reservation)> {
        self.others.iter().filter_map(|(name, value)| {
            let id = name.strip_prefix(RESERVATION)?;
            Some((id, serde_json::from_value(value.clone()).ok()?))
        })
    }
}

/// Whether an amount could be reserved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reserved {
    Yes,
    /// There is no room for it, even when the calls under way have used nothing.
    No,
    /// There is no room for it beside the most that the calls under way may use.
    NotNow,
    /// It is more than the whole budget.
    Never,
}

/// The attribute that holds a reservation.
fn attribute(id: &str) -> String {
    format!("{RESERVATION}{id}")
}

impl Budgets<'_> {
    /// Reserves an amount. `id` identifies the call, and is made of letters, digits and `_`.
    pub async fn reserve(
        self,
        budget: &ScopeBudget,
        id: &str,
        amount: Amount,
        now: Time,
    ) -> Result<Reserved> {
        if !budget.limit.has_room(Amount::default(), amount) {
            return Ok(Reserved::Never);
        }
        let day = Day::of(now);
        let key = keys::budget(budget.scope, day);
        match self.store.table.write(reservation(budget, id, amount, now)?).await {
            Ok(item) => {
                if let Some(item) = item {
                    self.forget_old(key, &read(item)?, now).await?;
                }
                Ok(Reserved::Yes)
            }
            Err(WriteError::Other(error)) => Err(error),
            // The first try took effect and its answer was lost.
            Err(WriteError::Refused(refusal))
                if refusal.existing::<CounterItem>(&key).is_some_and(|item| item.has(id)) =>
            {
                Ok(Reserved::Yes)
            }
            Err(WriteError::Refused(refusal)) => {
                let spent = refusal.existing::<CounterItem>(&key).unwrap_or_default().spent();
                self.refuse(key, budget, amount, day).await?;
                let fits_later = budget.limit.has_room(spent.settled, amount);
                Ok(if fits_later { Reserved::NotNow } else { Reserved::No })
            }
        }
    }

    /// Unlists calls that are older than any answer: the worker that should have settled them has
    /// died.
    /// They stay counted as reserved.
    async fn forget_old(self, key: Key, item: &CounterItem, now: Time) -> Result<()> {
        let is_old = |(_, Reservation(_, _, at)): &(&str, Reservation)| *at + RESERVED_FOR <= now;
        let old = item.reservations().filter(is_old).take(FORGOTTEN_AT_ONCE);
        let old: Vec<_> = old.map(|(id, _)| format!("#{}", attribute(id))).collect();
        if old.is_empty() {
            return Ok(());
        }
        let write = Write::update(key, format!("REMOVE {}", old.join(", ")));
        self.store.table.write_where_it_holds(write).await
    }

    /// Remembers the smallest call that found no room, so that messages trigger nobody for it.
    async fn refuse(self, key: Key, budget: &ScopeBudget, amount: Amount, day: Day) -> Result<()> {
        let smaller = if budget.limit.tokens.is_some() {
            "attribute_not_exists(#refusedTokens) OR #refusedTokens > :tokens"
        } else {
            "attribute_not_exists(#refusedCost) OR #refusedCost > :cost"
        };
        let write = Write::count(
            key,
            "SET #refusedTokens = :tokens, #refusedCost = :cost, \
             #expiresAt = if_not_exists(#expiresAt, :expires)",
        )
        .when(smaller)
        .value(":tokens", amount.tokens)?
        .value(":cost", amount.nanodollars)?
        .value(":expires", day.expiry(STORED_FOR))?;
        self.store.table.write_where_it_holds(write).await
    }

    /// Replaces a reservation by what its call has used. Returns what is spent then, or `None` if
    /// the reservation was settled before.
    pub async fn settle(
        self,
        scope: BudgetScope,
        day: Day,
        id: &str,
        reserved: Amount,
        used: Amount,
    ) -> Result<Option<Spent>> {
        let name = attribute(id);
        let change =
            |used: u64, reserved: u64| i64::try_from(i128::from(used) - i128::from(reserved));
        let write = Write::update(
            keys::budget(scope, day),
            format!("ADD #tokens :tokens, #cost :cost REMOVE #{name}"),
        )
        .when(&format!("attribute_exists(#{name})"))
        .value(":tokens", change(used.tokens, reserved.tokens).unwrap_or(i64::MAX))?
        .value(":cost", change(used.nanodollars, reserved.nanodollars).unwrap_or(i64::MAX))?;
        match self.store.table.write(write).await {
            Ok(item) => Ok(item.map(read::<CounterItem>).transpose()?.map(|item| item.spent())),
            Err(WriteError::Refused(_)) => Ok(None),
            Err(WriteError::Other(error)) => Err(error),
        }
    }

    /// Settles the reservations whose ids begin with `prefix`: a worker has died that made them.
    /// `used` says what a call has used; a call without an answer counts as reserved.
    pub async fn settle_left(
        self,
        scope: BudgetScope,
        day: Day,
        prefix: &str,
        used: impl Fn(&str) -> Option<Amount>,
    ) -> Result<()> {
        let item: Option<CounterItem> = self.store.table.get(&keys::budget(scope, day)).await?;
        let Some(item) = item else { return Ok(()) };
        for (id, reservation) in item.reservations() {
            if let Some(call) = id.strip_prefix(prefix) {
                let reserved = reservation.amount();
                self.settle(scope, day, id, reserved, used(call).unwrap_or(reserved)).await?;
            }
        }
        Ok(())
    }

    /// Notes that `announcer` announces that a share of a budget is used. Returns whether it may:
    /// each share has one announcer a day.
    pub async fn may_announce(
        self,
        scope: BudgetScope,
        day: Day,
        percent: u64,
        announcer: &str,
    ) -> Result<bool> {
        let by = format!("#announced{percent}");
        let write = Write::update(keys::budget(scope, day), format!("SET {by} = :announcer"))
            .when(&format!("attribute_not_exists({by}) OR {by} = :announcer"))
            .value(":announcer", announcer)?;
        match self.store.table.write(write).await {
            Ok(_) => Ok(true),
            Err(WriteError::Refused(_)) => Ok(false),
            Err(WriteError::Other(error)) => Err(error),
        }
    }

    /// The key of a scope's counter of today.
    pub(crate) fn key(budget: &ScopeBudget, now: Time) -> Key {
        keys::budget(budget.scope, Day::of(now))
    }

    /// The spending of a scope, from items that were just read.
    pub(crate) fn spent(budget: &ScopeBudget, items: &mut Items, now: Time) -> Result<Spent> {
        let item: Option<CounterItem> = items.take(&Self::key(budget, now))?;
        Ok(item.unwrap_or_default().spent())
    }

    /// The first of these scopes whose budget is used.
    pub(crate) async fn first_used(
        self,
        budgets: &[ScopeBudget],
        now: Time,
    ) -> Result<Option<BudgetScope>> {
        if budgets.is_empty() {
            return Ok(None);
        }
        let keys: Vec<_> = budgets.iter().map(|budget| Self::key(budget, now)).collect();
        let mut items = self.store.table.get_all(&keys).await?;
        for budget in budgets {
            if Self::spent(budget, &mut items, now)?.is_used(budget.limit) {
                return Ok(Some(budget.scope));
            }
        }
        Ok(None)
    }
}

/// The write that reserves an amount, if there is room for it.
fn reservation(budget: &ScopeBudget, id: &str, amount: Amount, now: Time) -> Result<Write> {
    let day = Day::of(now);
    let key = keys::budget(budget.scope, day);
    let name = attribute(id);
    let mut write = Write::count(
        key,
        format!(
            "ADD #tokens :tokens, #cost :cost \
             SET #{name} = :reservation, #expiresAt = if_not_exists(#expiresAt, :expires)"
        ),
    )
    .when(&format!("attribute_not_exists(#{name})"))
    .value(":tokens", amount.tokens)?
    .value(":cost", amount.nanodollars)?
    .value(":reservation", (amount.tokens, amount.nanodollars, now))?
    .value(":expires", day.expiry(STORED_FOR))?;
    let limits = [
        ("tokens", budget.limit.tokens, amount.tokens),
        ("cost", budget.limit.nanodollars, amount.nanodollars),
    ];
    for (name, limit, more) in limits {
        if let Some(limit) = limit {
            write = write
                .when(&format!("attribute_not_exists(#{name}) OR #{name} <= :{name}Before"))
                .value(&format!(":{name}Before"), limit.saturating_sub(more))?;
        }
    }
    Ok(write)
}
