//! Rate limits of callers.

use smartspace_domain::{
    Error, Result,
    access::Caller,
    rates::{self, Rate},
};

use crate::Pipeline;

impl Pipeline {
    /// Counts a call. Fails with [`Error::TooMany`] if the caller exceeds its rate. The operator
    /// has no limit.
    pub async fn count_call(&self, caller: Caller) -> Result<()> {
        match caller {
            Caller::Operator => Ok(()),
            Caller::Entity(entity) => self.count(&entity.to_string(), rates::ENTITY).await,
        }
    }

    /// Counts a search. The operator has a limit, too: a search reads much more of the table than
    /// other calls.
    pub async fn count_search(&self, caller: Caller) -> Result<()> {
        self.count(&format!("{} search", caller.label()), rates::SEARCH).await
    }

    /// Counts what a caller has read: each full [`rates::READ_BYTES`] is one more call. Nothing is
    /// refused, but its next calls wait until the bucket has tokens again.
    pub async fn charge_for(&self, caller: Caller, bytes: u64) {
        let calls = u32::try_from(bytes / rates::READ_BYTES).unwrap_or(u32::MAX);
        if let Caller::Entity(entity) = caller
            && self.is_rate_limited
            && calls > 0
        {
            let name = entity.to_string();
            self.store.rates().charge(&name, rates::ENTITY, calls, self.now()).await;
        }
    }

    /// Counts a request of `whom` whose credential opens nothing. Requests with a right credential
    /// are never counted here, so others behind the same address can't be kept out.
    pub async fn count_refused(&self, whom: &str) -> Result<()> {
        self.count(&format!("refused {whom}"), rates::REFUSED).await
    }

    /// Counts a call of anything that has a name and a rate.
    pub async fn count(&self, name: &str, rate: Rate) -> Result<()> {
        if !self.is_rate_limited {
            return Ok(());
        }
        self.store.rates().count_call(name, rate, self.now()).await.map_err(|wait| {
            let Rate { per_second, burst } = rate;
            Error::TooMany {
                text: format!(
                    "too many calls: the limit is {per_second} per second and {burst} at once"
                ),
                wait,
            }
        })
    }
}
