//! How often someone may call.

use smartspace_domain::{
    Error, Result,
    access::Caller,
    rates::{self, Rate},
};

use crate::Pipeline;

impl Pipeline {
    /// Counts a call. [`Error::TooMany`] where its caller calls too often; the operator never does.
    pub async fn count_call(&self, caller: Caller) -> Result<()> {
        match caller {
            Caller::Operator => Ok(()),
            Caller::Entity(entity) => self.count(&entity.to_string(), rates::ENTITY).await,
        }
    }

    /// The same for anything that has a name and a rate.
    pub async fn count(&self, who: &str, rate: Rate) -> Result<()> {
        if !self.is_rate_limited {
            return Ok(());
        }
        self.store.call_of(who, rate, self.now()).await.map_err(|wait| {
            let Rate { per_second, burst } = rate;
            Error::TooMany { text: format!("too many calls: {per_second} a second are taken, and {burst} at once"), wait }
        })
    }
}
