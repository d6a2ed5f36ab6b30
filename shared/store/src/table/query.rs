//! Queries: the items of one partition, page by page.

use aws_sdk_dynamodb::types::AttributeValue;

use crate::{
    Result,
    table::{
        Table,
        indexes::{Index, KeyNames},
        write::Item,
    },
};

/// One page of a query.
#[derive(Debug)]
pub struct Page {
    /// The items, in order.
    pub items: Vec<Item>,
    /// Where the next page begins.
    pub next: Option<Item>,
}

/// A range of a partition, or of an index's partition.
#[derive(Debug, Clone)]
pub struct Query {
    index: Option<&'static str>,
    key_names: KeyNames,
    partition: String,
    range: Option<Range>,
    newest_first: bool,
    limit: Option<usize>,
    after: Option<Item>,
}

/// Sort keys from `first` to `last`, both included.
#[derive(Debug, Clone)]
struct Range {
    first: String,
    last: String,
}

impl Query {
    /// A partition of the table.
    pub fn of(partition: String) -> Self {
        Self {
            index: None,
            key_names: KeyNames::TABLE,
            partition,
            range: None,
            newest_first: false,
            limit: None,
            after: None,
        }
    }

    /// A partition of an index. Indexes project keys only, and may lag behind the table.
    pub fn of_index(index: Index, partition: String) -> Self {
        Self { index: Some(index.name), key_names: index.keys, ..Self::of(partition) }
    }

    /// Only sort keys that begin with `prefix`.
    #[must_use]
    pub fn begins_with(self, prefix: &str) -> Self {
        // '~' sorts after every character that our keys are made of.
        self.between(prefix, &format!("{prefix}~"))
    }

    /// Only sort keys from `first` to `last`, both included.
    #[must_use]
    pub fn between(mut self, first: &str, last: &str) -> Self {
        self.range = Some(Range { first: first.to_owned(), last: last.to_owned() });
        self
    }

    /// In descending order.
    #[must_use]
    pub fn newest_first(mut self) -> Self {
        self.newest_first = true;
        self
    }

    /// At most this many items.
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Only items after this key.
    #[must_use]
    pub fn after(mut self, key: Option<Item>) -> Self {
        self.after = key;
        self
    }

    fn condition(&self) -> String {
        let KeyNames { pk, sk } = self.key_names;
        match self.range {
            Some(_) => format!("{pk} = :pk AND {sk} BETWEEN :first AND :last"),
            None => format!("{pk} = :pk"),
        }
    }

    fn values(&self) -> Item {
        let mut values =
            Item::from([(":pk".to_owned(), AttributeValue::S(self.partition.clone()))]);
        if let Some(Range { first, last }) = &self.range {
            values.insert(":first".into(), AttributeValue::S(first.clone()));
            values.insert(":last".into(), AttributeValue::S(last.clone()));
        }
        values
    }
}

impl Table {
    /// One page of a query. Reads of the table are consistent; reads of an index are not.
    pub async fn page(&self, query: Query) -> Result<Page> {
        let condition = query.condition();
        let values = query.values();
        let mut retries = self.retries();
        let answer = loop {
            let call = self
                .client
                .query()
                .table_name(&*self.name)
                .set_index_name(query.index.map(str::to_owned))
                .key_condition_expression(&condition)
                .set_expression_attribute_values(Some(values.clone()))
                .consistent_read(query.index.is_none())
                .scan_index_forward(!query.newest_first)
                .set_limit(query.limit.map(|limit| limit as i32))
                .set_exclusive_start_key(query.after.clone());
            match call.send().await {
                Ok(answer) => break answer,
                Err(error) => retries.wait_after_read(&error).await?,
            }
        };
        Ok(Page { items: answer.items.unwrap_or_default(), next: answer.last_evaluated_key })
    }

    /// All items that a query finds, up to its limit.
    pub async fn all(&self, query: Query) -> Result<Vec<Item>> {
        let mut items = Vec::new();
        let mut after = query.after.clone();
        loop {
            let rest = query.limit.map(|limit| limit - items.len());
            let page = self.page(Query { after, limit: rest, ..query.clone() }).await?;
            items.extend(page.items);
            after = page.next;
            if after.is_none() || query.limit.is_some_and(|limit| items.len() >= limit) {
                return Ok(items);
            }
        }
    }
}
