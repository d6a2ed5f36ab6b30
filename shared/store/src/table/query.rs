//! Queries: the items of one partition, page by page.

use crate::{
    Result,
    table::{Table, indexes::Index, write::Item},
};

/// One page of a query.
#[derive(Debug, PartialEq)]
pub struct Page {
    pub items: Vec<Item>,
    /// Where the next page begins.
    pub next: Option<Item>,
}

/// A range of a partition, or of an index's partition.
#[derive(Debug, Clone)]
pub struct Query {
    /// The index, or the table itself. Reads of the table are consistent.
    pub index: Option<Index>,
    pub partition: String,
    /// Only these sort keys.
    pub range: Option<Range>,
    /// Whether the order is descending.
    pub newest_first: bool,
    /// At most this many items.
    pub limit: Option<usize>,
    /// Only items after this key.
    pub after: Option<Item>,
}

/// Sort keys from `first` to `last`, both included.
#[derive(Debug, Clone)]
pub struct Range {
    pub first: String,
    pub last: String,
}

impl Query {
    /// A partition of the table.
    pub fn of(partition: String) -> Self {
        Self { index: None, partition, range: None, newest_first: false, limit: None, after: None }
    }

    /// A partition of an index. Indexes project keys only, and may lag behind the table.
    pub fn of_index(index: Index, partition: String) -> Self {
        Self { index: Some(index), ..Self::of(partition) }
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
}

impl Table {
    /// One page of a query. Reads of the table are consistent; reads of an index are not.
    pub async fn page(&self, query: Query) -> Result<Page> {
        let mut retries = self.retries();
        loop {
            match self.database.query(query.clone()).await {
                Ok(page) => return Ok(page),
                Err(failure) => retries.wait_after_read(failure).await?,
            }
        }
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
