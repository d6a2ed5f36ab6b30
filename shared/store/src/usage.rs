//! The tokens and the cost of models, added up by day, agent, space and model.
//!
//! The transaction that ends a run adds what the run has used to the rows of that day. Runs of an
//! agent that end at the same moment conflict in its row, as they do in its slots, and are
//! repeated.

mod names;
mod report;

use smartspace_domain::{
    Time,
    days::Day,
    ids::{EntityId, SpaceId},
    usage::{Usage, UsageByModel, billionths},
};

pub use self::report::{UsageBy, UsageItem, UsageQuery, UsageReport};
use crate::{
    Result, UsageRows,
    table::{keys, write::Write},
};

/// How long the rows of a day are stored after it.
const STORED_FOR: std::time::Duration = std::time::Duration::from_hours(24 * 400);

/// The beginning of the attribute with the cost of an hour, before the hour.
const HOUR: &str = "h_";

/// The agent and the space that usage counts for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UsageScope {
    /// The agent, or the entity whose message asked a router.
    pub agent: Option<EntityId>,
    /// The space; `None` for runs that a plan or a service triggered.
    pub space: Option<SpaceId>,
}

/// The writes that add what a run, or a call outside of runs, has used. A run counts in the row of
/// the model that read the most; a call outside of runs has no run to count.
pub(crate) fn writes(
    scope: UsageScope,
    used: &UsageByModel,
    runs: u32,
    now: Time,
) -> Result<Vec<Write>> {
    let day = Day::of(now);
    let main = used.iter().max_by_key(|(_, usage)| usage.input_tokens).map(|(model, _)| model);
    let write = |(model, usage): (&str, &Usage)| {
        let usage = usage.believable();
        // The hours of a row make its day, so they need no rows of their own.
        let cost = match usage.cost {
            Some(_) => format!(", #cost :cost, #{HOUR}{} :cost", Day::hour_of(now)),
            None => String::new(),
        };
        let images = if usage.images > 0 { ", #images :images" } else { "" };
        let unknown = if usage.price_unknown { ", #priceUnknown = :yes" } else { "" };
        let key = keys::usage(day, scope.agent, scope.space, model);
        let write = Write::count(
            key,
            format!(
                "ADD #runs :runs, #inputTokens :input, #cachedTokens :cached, \
                 #cacheWriteTokens :written, #outputTokens :output{images}{cost} \
                 SET #expiresAt = if_not_exists(#expiresAt, :expires){unknown}"
            ),
        )
        .value(":runs", if main == Some(model) { runs } else { 0 })?
        .value(":input", usage.input_tokens)?
        .value(":cached", usage.cached_tokens)?
        .value(":written", usage.cache_write_tokens)?
        .value(":output", usage.output_tokens)?
        .value(":expires", day.expiry(STORED_FOR))?;
        let write = match usage.images {
            0 => write,
            images => write.value(":images", images)?,
        };
        let write = if usage.price_unknown { write.value(":yes", true)? } else { write };
        match usage.cost {
            Some(cost) => write.value(":cost", billionths(cost)),
            None => Ok(write),
        }
    };
    used.iter().map(write).collect()
}

impl UsageRows<'_> {
    /// Adds what calls outside of runs have used. A failure is only logged, since the calls were
    /// made. If the answer of the table is lost, the calls may count twice.
    pub async fn add(self, scope: UsageScope, model: &str, usage: Usage, now: Time) {
        let added = async {
            for write in writes(scope, &UsageByModel::one(model, usage), 0, now)? {
                self.store.table.write_always(write).await?;
            }
            Ok::<(), crate::Error>(())
        };
        if let Err(error) = added.await {
            tracing::warn!(?scope, model, %error, "the usage of a call was not added");
        }
    }
}
