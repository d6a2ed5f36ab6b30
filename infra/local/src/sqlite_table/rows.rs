//! The items as rows of SQLite.
//!
//! Each item is a row, as the JSON in which DynamoDB writes items. Each index is a table of its
//! own, which has a row for each item that has both of the index's key attributes.

use std::{fmt::Write as _, path::Path, time::Duration};

use rusqlite::{Connection, OptionalExtension, Result, Row as SqlRow, params};
use serde_dynamo::AttributeValue;
use smartspace_store::table::{
    indexes::{Index, KeyNames},
    keys::Key,
    query::{Page, Query},
    write::{Item, text},
};

use crate::sqlite_table::values::bytes_of;

/// A page of a query has at most this many bytes.
const PAGE_BYTES: usize = 1 << 20;
/// So many bytes of JSON are read before other tasks have their turn: about half a millisecond.
const READ_AT_ONCE: usize = 64 << 10;
/// How full the write-ahead log must be for a call to copy it itself: 80 MB. Usually
/// [`Checkpoints`](super::Checkpoints) has done that long before.
const LOG_PAGES: u32 = 20_000;
/// The number of the layout that [`Rows::lay_out`] creates.
pub(super) const LAYOUT: u32 = 1;
/// More than the number of different statements.
const STATEMENTS: usize = 64;

const TABLE: &str = "
    CREATE TABLE smartspace (
        pk TEXT NOT NULL,
        sk TEXT NOT NULL,
        item_json TEXT NOT NULL,
        item_size INTEGER NOT NULL,
        PRIMARY KEY (pk, sk)
    );";

/// A connection, for one call at a time.
#[derive(Debug)]
pub(super) struct Rows(Connection);

/// An item and where it is stored.
#[derive(Debug)]
pub(super) struct Row {
    id: i64,
    pub(super) item: Item,
}

/// What a write makes of an item.
#[derive(Debug)]
pub(super) struct Change {
    pub(super) key: Key,
    pub(super) before: Option<Row>,
    pub(super) after: Option<Item>,
}

/// A page as SQLite has found it.
#[derive(Debug)]
pub(super) struct StoredPage {
    items: Vec<StoredItem>,
    /// Whether another page may follow.
    has_more: bool,
}

#[derive(Debug)]
enum StoredItem {
    Json(String),
    Read(Item),
}

impl StoredPage {
    /// Reads the page of the table or of an index. That of a large page takes milliseconds, so it
    /// gives way to other tasks.
    pub(super) async fn read(self, index: Option<Index>) -> Result<Page> {
        let mut items = Vec::with_capacity(self.items.len());
        let mut bytes = 0;
        for item in self.items {
            items.push(match item {
                StoredItem::Json(text) => {
                    bytes += text.len();
                    parsed(&text, 0)?
                }
                StoredItem::Read(item) => item,
            });
            if bytes > READ_AT_ONCE {
                bytes = 0;
                tokio::task::yield_now().await;
            }
        }
        let last = items.last().filter(|_| self.has_more);
        let next = last.map(|last| key_attributes(last, index));
        Ok(Page { items, next })
    }
}

impl Rows {
    /// The rows in the file `path`, which is created if it is missing.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let connection = Connection::open(path)?;
        connection.pragma_update(None, "journal_mode", "wal")?;
        // One fsync per checkpoint of the write-ahead log instead of one per write. A killed
        // process loses nothing; a power failure may lose the last commits.
        connection.pragma_update(None, "synchronous", "normal")?;
        connection.pragma_update(None, "wal_autocheckpoint", LOG_PAGES)?;
        // What was deleted must not stay in free parts of the file.
        connection.pragma_update(None, "secure_delete", "on")?;
        // A call that finds the file locked by another program must not hold up the other calls.
        // The store tries it again.
        connection.busy_timeout(Duration::ZERO)?;
        Ok(Self::of(connection))
    }

    /// The number of the file's layout. `None` if the file is new.
    pub(super) fn layout(&self) -> Result<Option<u32>> {
        let tables: u32 =
            self.0.query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get(0))?;
        if tables == 0 {
            return Ok(None);
        }
        self.0.pragma_query_value(None, "user_version", |row| row.get(0)).map(Some)
    }

    /// Creates the table and its indexes.
    pub(super) fn lay_out(&mut self) -> Result<()> {
        let transaction = self.0.transaction()?;
        transaction.execute_batch(&layout())?;
        transaction.pragma_update(None, "user_version", LAYOUT)?;
        transaction.commit()
    }

    pub(super) fn in_memory() -> Result<Self> {
        let mut rows = Self::of(Connection::open_in_memory()?);
        rows.lay_out()?;
        Ok(rows)
    }

    fn of(connection: Connection) -> Self {
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        Self(connection)
    }

    pub(super) fn find(&self, key: &Key) -> Result<Option<Row>> {
        let mut find = self
            .0
            .prepare_cached("SELECT rowid, item_json FROM smartspace WHERE pk = ?1 AND sk = ?2")?;
        find.query_row([&key.pk, &key.sk], |row| {
            Ok(Row { id: row.get(0)?, item: item_of(row, 1)? })
        })
        .optional()
    }

    pub(super) fn all(&self) -> Result<Vec<Item>> {
        let mut all = self.0.prepare("SELECT item_json FROM smartspace ORDER BY pk, sk")?;
        all.query_map([], |row| item_of(row, 0))?.collect()
    }

    /// A page of the table or of an index.
    pub(super) fn page(&self, query: &Query) -> Result<StoredPage> {
        let mut select = self.0.prepare_cached(&statement(query))?;
        let parameters = parameters(query);
        for number in 1..=select.parameter_count() {
            select.raw_bind_parameter(number, parameters[number - 1])?;
        }
        let mut rows = select.raw_query();
        let mut page = StoredPage { items: Vec::new(), has_more: false };
        let mut bytes = 0;
        while let Some(row) = rows.next()? {
            let (item, size) = match query.index {
                None => (StoredItem::Json(row.get(0)?), row.get(1)?),
                Some(Index { keys, .. }) => {
                    let item = index_item(row, keys, &query.partition)?;
                    let size = bytes_of(&item);
                    (StoredItem::Read(item), size)
                }
            };
            bytes += size;
            let fits = bytes <= PAGE_BYTES || page.items.is_empty();
            if fits {
                page.items.push(item);
            }
            page.has_more = !fits || Some(page.items.len()) == query.limit;
            if page.has_more {
                break;
            }
        }
        Ok(page)
    }

    /// Makes all changes, or none.
    pub(super) fn make(&mut self, changes: &[Change]) -> Result<()> {
        let transaction =
            self.0.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        for change in changes {
            make(&transaction, change)?;
        }
        transaction.commit()
    }

    /// The last of the `count` rows that follow the row `id`.
    pub(super) fn after(&self, id: i64, count: i64) -> Result<Option<i64>> {
        self.0.query_row(
            "SELECT max(rowid) FROM \
             (SELECT rowid FROM smartspace WHERE rowid > ?1 ORDER BY rowid LIMIT ?2)",
            params![id, count],
            |row| row.get(0),
        )
    }

    /// Deletes what had expired at `now` among the rows after `first` and up to `last`.
    pub(super) fn delete_expired(&mut self, first: i64, last: i64, now: i64) -> Result<usize> {
        let mut select = self.0.prepare_cached(
            "SELECT pk, sk, rowid, item_json FROM smartspace WHERE rowid > ?1 AND rowid <= ?2 \
             AND CASE WHEN json_valid(item_json) \
             THEN CAST(item_json ->> '$.expiresAt.N' AS INTEGER) <= ?3 END",
        )?;
        let found = select.query_map(params![first, last, now], |row| {
            let key = Key { pk: row.get(0)?, sk: row.get(1)? };
            let before = Some(Row { id: row.get(2)?, item: item_of(row, 3)? });
            Ok(Change { key, before, after: None })
        })?;
        let expired = found.collect::<Result<Vec<_>>>()?;
        drop(select);
        if !expired.is_empty() {
            self.make(&expired)?;
        }
        Ok(expired.len())
    }
}

/// The parameters of a statement: the partition, the first and the last sort key, and the position
/// after which the page begins.
fn parameters(query: &Query) -> [Option<&str>; 6] {
    let keys = query.index.map_or(KeyNames::TABLE, |index| index.keys);
    let after = |name| query.after.as_ref().and_then(|after| text(after, name));
    [
        Some(&query.partition),
        query.range.as_ref().map(|range| range.first.as_str()),
        query.range.as_ref().map(|range| range.last.as_str()),
        after(keys.sk),
        after(KeyNames::TABLE.pk),
        after(KeyNames::TABLE.sk),
    ]
}

/// The statement of a query, with the first of [`parameters`].
fn statement(query: &Query) -> String {
    let (columns, table, [pk, sk], order) = match query.index {
        None => ("item_json, item_size", "smartspace".to_owned(), ["pk", "sk"], vec!["sk"]),
        Some(index) => (
            "gsi_sk, table_pk, table_sk",
            index_table(index),
            ["gsi_pk", "gsi_sk"],
            vec!["gsi_sk", "table_pk", "table_sk"],
        ),
    };
    let mut sql = format!("SELECT {columns} FROM {table} WHERE {pk} = ?1");
    // Writing to a String can't fail.
    if query.range.is_some() {
        let _ = write!(sql, " AND {sk} BETWEEN ?2 AND ?3");
    }
    let (beyond, direction) = if query.newest_first { ("<", " DESC") } else { (">", "") };
    if query.after.is_some() {
        let position = if order.len() == 1 { "?4" } else { "(?4, ?5, ?6)" };
        let _ = write!(sql, " AND ({}) {beyond} {position}", order.join(", "));
    }
    let order: Vec<_> = order.iter().map(|column| format!("{column}{direction}")).collect();
    let _ = write!(sql, " ORDER BY {}", order.join(", "));
    sql
}

fn make(connection: &Connection, Change { key, before, after }: &Change) -> Result<()> {
    match (before, after) {
        (Some(before), Some(after)) => connection
            .prepare_cached(
                "UPDATE smartspace SET item_json = ?2, item_size = ?3 WHERE rowid = ?1",
            )?
            .execute(params![before.id, json_of(after)?, bytes_of(after)])?,
        (None, Some(after)) => connection
            .prepare_cached(
                "INSERT INTO smartspace (pk, sk, item_json, item_size) VALUES (?1, ?2, ?3, ?4)",
            )?
            .execute(params![key.pk, key.sk, json_of(after)?, bytes_of(after)])?,
        (Some(before), None) => connection
            .prepare_cached("DELETE FROM smartspace WHERE rowid = ?1")?
            .execute([before.id])?,
        (None, None) => return Ok(()),
    };
    for index in Index::ALL {
        let before = before.as_ref().and_then(|row| place(&row.item, index));
        let after = after.as_ref().and_then(|item| place(item, index));
        if before != after {
            move_in(connection, index, key, before, after)?;
        }
    }
    Ok(())
}

/// Moves an item within an index, or into it, or out of it.
fn move_in(
    connection: &Connection,
    index: Index,
    key: &Key,
    before: Option<[&str; 2]>,
    after: Option<[&str; 2]>,
) -> Result<()> {
    let table = index_table(index);
    if let Some([pk, sk]) = before {
        connection
            .prepare_cached(&format!(
                "DELETE FROM {table} \
                 WHERE gsi_pk = ?1 AND gsi_sk = ?2 AND table_pk = ?3 AND table_sk = ?4"
            ))?
            .execute([pk, sk, &key.pk, &key.sk])?;
    }
    if let Some([pk, sk]) = after {
        connection
            .prepare_cached(&format!(
                "INSERT INTO {table} (gsi_pk, gsi_sk, table_pk, table_sk) VALUES (?1, ?2, ?3, ?4)"
            ))?
            .execute([pk, sk, &key.pk, &key.sk])?;
    }
    Ok(())
}

/// Where an item is in an index, if it is there.
fn place(item: &Item, index: Index) -> Option<[&str; 2]> {
    Some([text(item, index.keys.pk)?, text(item, index.keys.sk)?])
}

/// The key of an item in the table, and in an index too.
fn key_attributes(item: &Item, index: Option<Index>) -> Item {
    let names = [Some(KeyNames::TABLE), index.map(|index| index.keys)].into_iter().flatten();
    let names = names.flat_map(|KeyNames { pk, sk }| [pk, sk]);
    names.filter_map(|name| Some((name.to_owned(), item.get(name)?.clone()))).collect()
}

/// An item of an index, which has key attributes only.
fn index_item(row: &SqlRow<'_>, keys: KeyNames, partition: &str) -> Result<Item> {
    let attribute = |name: &str, text: String| (name.to_owned(), AttributeValue::S(text));
    Ok(Item::from([
        attribute(keys.pk, partition.to_owned()),
        attribute(keys.sk, row.get(0)?),
        attribute(KeyNames::TABLE.pk, row.get(1)?),
        attribute(KeyNames::TABLE.sk, row.get(2)?),
    ]))
}

fn item_of(row: &SqlRow<'_>, column: usize) -> Result<Item> {
    parsed(row.get_ref(column)?.as_str()?, column)
}

fn parsed(text: &str, column: usize) -> Result<Item> {
    serde_json::from_str(text).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, error.into())
    })
}

fn json_of(item: &Item) -> Result<String> {
    serde_json::to_string(item)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
}

/// The tables, as the emulation of DynamoDB lays them out.
fn layout() -> String {
    let indexes = Index::ALL.map(|index| {
        format!(
            "CREATE TABLE {} (
                gsi_pk TEXT NOT NULL,
                gsi_sk TEXT NOT NULL,
                table_pk TEXT NOT NULL,
                table_sk TEXT NOT NULL,
                PRIMARY KEY (gsi_pk, gsi_sk, table_pk, table_sk)
            );",
            index_table(index)
        )
    });
    format!("{TABLE}{}", indexes.concat())
}

fn index_table(index: Index) -> String {
    format!("\"smartspace::gsi::{}\"", index.name)
}
