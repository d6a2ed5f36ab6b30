//! Reports of usage: the sums of the rows of some days.

use std::collections::BTreeMap;

use futures::{StreamExt, TryStreamExt, stream};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use smartspace_domain::{
    days::{Day, HOURS},
    ids::{EntityId, SpaceId},
    usage::{Usage, dollars, rounded},
};
use utoipa::ToSchema;

use crate::{
    Result, UsageRows,
    table::{Query, key_of, keys, read},
    usage::{HOUR, UsageScope},
};

/// How many partitions are read at the same time.
const CONCURRENT_READS: usize = 32;

/// The counters of a row.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RowItem {
    runs: u64,
    input_tokens: u64,
    cached_tokens: u64,
    cache_write_tokens: u64,
    output_tokens: u64,
    images: u64,
    /// Billionths of a dollar.
    cost: Option<u64>,
    price_unknown: bool,
    /// The costs of its hours, and what other items have, too.
    #[serde(flatten)]
    others: BTreeMap<String, Value>,
}

impl RowItem {
    /// The cost of an hour in billionths of a dollar. Rows of earlier versions have none.
    fn cost_of_hour(&self, hour: usize) -> u64 {
        self.others.get(&format!("{HOUR}{hour}")).and_then(Value::as_u64).unwrap_or(0)
    }
}

/// A key by which usage is grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UsageBy {
    Day,
    Agent,
    Space,
    /// The provider and the model.
    Model,
}

#[derive(Clone, Debug)]
pub struct UsageQuery {
    pub from: Day,
    pub to: Day,
    /// Only of this agent.
    pub agent: Option<EntityId>,
    /// Only in this space.
    pub space: Option<SpaceId>,
    /// The keys by which the sums are grouped.
    pub by: Vec<UsageBy>,
}

/// The usage of one group.
#[derive(Clone, Debug, Default, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsageItem {
    /// The day, in UTC, such as `2026-02-18`. Only if the sums are grouped by day.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub day: Option<Day>,
    /// The agent, or the entity whose messages asked routers. Only if the sums are grouped by
    /// agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<EntityId>,
    /// The name that it has now, or had when it was retired.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_name: Option<String>,
    /// The space; absent for runs that plans and services triggered, and unless the sums are
    /// grouped by space.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub space_id: Option<SpaceId>,
    /// The name that the space has now. Absent if the space was deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub space_name: Option<String>,
    /// The provider. Only if the sums are grouped by model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The model's name at its provider. Only if the sums are grouped by model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Runs that ended and had asked a model.
    pub runs: u64,
    /// The tokens and the cost.
    #[serde(flatten)]
    pub usage: Usage,
    /// The cost of each hour of the day in UTC, in dollars. Only if the sums are grouped by day.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(min_items = 24, max_items = 24)]
    pub hours: Option<Vec<f64>>,
}

/// The answer to a question about usage.
#[derive(Clone, Debug, Default, PartialEq, Serialize, ToSchema)]
pub struct UsageReport {
    /// The sums, ordered by day, agent, space and model.
    pub items: Vec<UsageItem>,
    /// The sum of all items.
    pub total: UsageItem,
}

/// A row with the values of its key.
struct Row {
    day: Day,
    scope: UsageScope,
    model: String,
    item: RowItem,
}

/// The group that a row belongs to.
type Group = (Option<Day>, Option<EntityId>, Option<SpaceId>, Option<String>);

impl UsageQuery {
    /// The group of a row, if the row is asked for.
    fn group(&self, row: &Row) -> Option<Group> {
        let UsageScope { agent, space } = row.scope;
        if (self.agent.is_some() && self.agent != agent)
            || (self.space.is_some() && self.space != space)
        {
            return None;
        }
        let has = |by| self.by.contains(&by);
        Some((
            has(UsageBy::Day).then_some(row.day),
            agent.filter(|_| has(UsageBy::Agent)),
            space.filter(|_| has(UsageBy::Space)),
            has(UsageBy::Model).then(|| row.model.clone()),
        ))
    }
}

impl UsageItem {
    fn of((day, agent_id, space_id, model): Group) -> Self {
        let (provider, model) = model.map_or((None, None), |full| match full.split_once('/') {
            Some((provider, name)) => (Some(provider.to_owned()), Some(name.to_owned())),
            None => (None, Some(full)),
        });
        let hours = day.map(|_| vec![0.0; HOURS]);
        Self { day, agent_id, space_id, provider, model, hours, ..Self::default() }
    }

    fn add(&mut self, row: &RowItem) {
        self.runs += row.runs;
        for (hour, cost) in self.hours.iter_mut().flatten().enumerate() {
            *cost = rounded(*cost + dollars(row.cost_of_hour(hour)));
        }
        self.usage += Usage {
            input_tokens: row.input_tokens,
            cached_tokens: row.cached_tokens,
            cache_write_tokens: row.cache_write_tokens,
            output_tokens: row.output_tokens,
            images: row.images,
            cost: row.cost.map(dollars),
            price_unknown: row.price_unknown,
        };
    }
}

impl UsageRows<'_> {
    /// Adds up the rows of the days that are asked for.
    pub async fn report(self, query: &UsageQuery) -> Result<UsageReport> {
        let parts = match query.agent {
            Some(_) => {
                let part = keys::usage_part(query.agent);
                part..part + 1
            }
            None => 0..keys::USAGE_PARTS,
        };
        let prefix = query.agent.map(|agent| keys::usage_by(Some(agent)));
        let mut reads = Vec::new();
        for day in query.from.to(query.to) {
            reads.extend(parts.clone().map(|part| self.rows(day, part, prefix.clone())));
        }
        let mut sums: BTreeMap<Group, UsageItem> = BTreeMap::new();
        let mut total = UsageItem::default();
        let mut rows = stream::iter(reads).buffered(CONCURRENT_READS);
        while let Some(rows) = rows.try_next().await? {
            for row in rows {
                if let Some(group) = query.group(&row) {
                    sums.entry(group.clone())
                        .or_insert_with(|| UsageItem::of(group))
                        .add(&row.item);
                    total.add(&row.item);
                }
            }
        }
        Ok(UsageReport { items: sums.into_values().collect(), total })
    }

    /// The rows of one partition of a day.
    async fn rows(self, day: Day, part: u8, prefix: Option<String>) -> Result<Vec<Row>> {
        let query = Query::of(keys::usage_of_day(day, part));
        let query = prefix.iter().fold(query, |query, prefix| query.begins_with(prefix));
        let row = |item| {
            let key = key_of(&item)?;
            let mut words = key.sk.splitn(3, '#');
            let mut word = || words.next().unwrap_or_default();
            let scope = UsageScope { agent: word().parse().ok(), space: word().parse().ok() };
            Ok(Row { day, scope, model: word().to_owned(), item: read(item)? })
        };
        self.store.table.all(query).await?.into_iter().map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_day_has_the_cost_of_each_of_its_hours() {
        let row = |item: Value| serde_json::from_value::<RowItem>(item).unwrap();
        let day: Day = "2026-02-28".parse().unwrap();
        let mut item = UsageItem::of((Some(day), None, None, None));
        item.add(&row(
            json!({"PK": "USAGE#", "cost": 5_000_000, "h_3": 2_000_000, "h_23": 3_000_000}),
        ));
        item.add(&row(json!({"cost": 1_000_000, "h_3": 1_000_000})));
        item.add(&row(json!({"cost": 7_000_000, "runs": 1})));
        let mut hours = vec![0.0; HOURS];
        (hours[3], hours[23]) = (0.003, 0.003);
        assert_eq!((item.hours, item.usage.cost), (Some(hours), Some(0.013)));
        assert_eq!(UsageItem::of((None, None, None, None)).hours, None);
    }
}
