//! The table of the local host answers the calls of whole simulations as an emulation of DynamoDB
//! does that the SDK asks.

use std::collections::BTreeMap;

use serde_dynamo::AttributeValue;
use smartspace::sqlite_table::SqliteTable;
use smartspace_embedded_table::{EmbeddedTable, NAME};
use smartspace_simulation::{input::Input, recorder::StoreCall, simulate, storage::scan};
use smartspace_store::table::{
    database::{Batch, CONDITION_FAILED, Database, Failure, Reason, TransactFailure},
    dynamodb::DynamoDb,
    key_of,
    keys::Key,
    query::Page,
    schema,
    write::{Action, Item, WriteCall},
};

use crate::golden::items::RELEASES;

/// The seeds whose calls are made again.
const SEEDS: [u64; 4] = [3, 9, 12, 14];

/// An answer, without the texts of errors.
#[derive(Debug, PartialEq)]
enum Answer {
    Item(Option<Item>),
    /// Ordered by their keys, because a batch has no order.
    Batch(BTreeMap<Key, Item>, usize),
    Page(Page),
    Done,
    Failed(&'static str),
    Refused(Option<Item>),
    Canceled(Vec<Reason>),
}

impl Answer {
    fn of_failure(failure: Failure) -> Self {
        match failure {
            Failure::Condition(item) => Self::Refused(item.map(sorted)),
            Failure::Transient(_) => Self::Failed("transient"),
            Failure::Final(_) => Self::Failed("final"),
        }
    }
}

/// An item with its sets in order, which have none.
fn sorted(mut item: Item) -> Item {
    for value in item.values_mut() {
        if let AttributeValue::Ss(texts) = value {
            texts.sort();
        }
    }
    item
}

/// Items by their keys.
fn keyed(items: Vec<Item>) -> BTreeMap<Key, Item> {
    items.into_iter().map(|item| (key_of(&item).unwrap(), sorted(item))).collect()
}

async fn answer(database: &dyn Database, call: StoreCall) -> Answer {
    let answered = match call {
        StoreCall::Get(key) => database.get(key).await.map(|item| Answer::Item(item.map(sorted))),
        StoreCall::GetBatch(keys) => {
            let batch = database.get_batch(keys).await;
            batch.map(|Batch { items, unread }| Answer::Batch(keyed(items), unread.len()))
        }
        StoreCall::Query(call) => database.query(call).await.map(|mut page| {
            page.items = page.items.into_iter().map(sorted).collect();
            Answer::Page(page)
        }),
        StoreCall::Write(call) => {
            database.write(call).await.map(|item| Answer::Item(item.map(sorted)))
        }
        StoreCall::Transact(calls) => match database.transact(calls).await {
            Ok(()) => Ok(Answer::Done),
            Err(TransactFailure::Canceled(mut reasons)) => {
                for reason in &mut reasons {
                    reason.item = reason.item.take().map(sorted);
                    if reason.code.as_deref() != Some(CONDITION_FAILED) {
                        reason.message = None;
                    }
                }
                return Answer::Canceled(reasons);
            }
            Err(TransactFailure::Failed(failure)) => Err(failure),
        },
    };
    answered.unwrap_or_else(Answer::of_failure)
}

/// The table of the local host, and an emulation of DynamoDB.
struct Both {
    local: SqliteTable,
    emulated: EmbeddedTable,
    sdk: DynamoDb,
}

impl Both {
    async fn new() -> Self {
        let emulated = EmbeddedTable::in_memory().unwrap();
        schema::create_table(&emulated.client(), NAME).await.unwrap();
        let sdk = DynamoDb::new(emulated.client(), NAME);
        Self { local: SqliteTable::in_memory().unwrap(), emulated, sdk }
    }

    async fn answer(&self, call: StoreCall) -> Answer {
        let local = answer(&self.local, call.clone()).await;
        assert_eq!(local, answer(&self.sdk, call.clone()).await, "{call:?}");
        local
    }

    /// Fails unless both have the same items. Returns how many.
    async fn expect_same_items(&self, context: &str) -> usize {
        let local = keyed(self.local.scan().await.unwrap());
        let emulated = scan(&self.emulated).into_iter();
        let emulated = keyed(emulated.map(|item| serde_json::from_value(item).unwrap()).collect());
        for (key, item) in &local {
            assert_eq!(Some(item), emulated.get(key), "{context}: {key:?}");
        }
        assert_eq!(local.len(), emulated.len(), "{context}");
        local.len()
    }
}

#[tokio::test]
async fn the_calls_of_whole_simulations_are_answered_in_the_same_way() {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for seed in SEEDS {
        let play = move || simulate(&Input { seed, records_calls: true, ..Input::default() });
        let outcome = tokio::task::spawn_blocking(play).await.unwrap().unwrap();
        let both = Both::new().await;
        for call in outcome.calls {
            let name = match &call {
                StoreCall::Get(_) => "get",
                StoreCall::GetBatch(_) => "batch",
                StoreCall::Query(_) => "query",
                StoreCall::Write(call) => match call.action {
                    Action::Put(_) => "put",
                    Action::Update(_) => "update",
                    Action::Delete => "delete",
                    Action::Check => "check",
                },
                StoreCall::Transact(_) => "transact",
            };
            let outcome = match both.answer(call).await {
                Answer::Refused(_) => "refused",
                Answer::Canceled(_) => "canceled",
                Answer::Failed(kind) => kind,
                _ => "answered",
            };
            *seen.entry(name).or_default() += 1;
            *seen.entry(outcome).or_default() += 1;
        }
        let items = both.expect_same_items(&format!("seed {seed}")).await;
        assert!(items > 0, "seed {seed} leaves no item");
    }
    let every =
        ["get", "batch", "query", "put", "update", "delete", "transact", "refused", "canceled"];
    assert!(every.iter().all(|what| seen.get(what).is_some_and(|count| *count >= 5)), "{seen:?}");
}

#[tokio::test]
async fn items_of_earlier_versions_are_read_and_changed_in_the_same_way() {
    for release in RELEASES {
        for (kind, items) in release.items() {
            let both = Both::new().await;
            for item in &items {
                let item: Item = serde_json::from_value(item.clone()).unwrap();
                let key = key_of(&item).unwrap();
                let put = WriteCall {
                    key: key.clone(),
                    action: Action::Put(item),
                    condition: None,
                    names: None,
                    values: None,
                };
                assert_eq!(both.answer(StoreCall::Write(put)).await, Answer::Item(None), "{kind}");
                let read = both.answer(StoreCall::Get(key.clone())).await;
                assert!(matches!(read, Answer::Item(Some(_))), "{kind}: {read:?}");
                let call = |condition: &str| WriteCall {
                    key: key.clone(),
                    action: Action::Update("SET #seen = PK".into()),
                    condition: Some(condition.into()),
                    names: Some([("#seen".to_owned(), "seen".to_owned())].into()),
                    values: None,
                };
                let refused = call("attribute_not_exists(PK)");
                let canceled = both.answer(StoreCall::Transact(vec![refused.clone()])).await;
                assert!(matches!(canceled, Answer::Canceled(_)), "{kind}: {canceled:?}");
                let refused = both.answer(StoreCall::Write(refused)).await;
                assert!(matches!(refused, Answer::Refused(Some(_))), "{kind}: {refused:?}");
                let changed = both.answer(StoreCall::Write(call("attribute_exists(PK)"))).await;
                assert!(matches!(changed, Answer::Item(Some(_))), "{kind}: {changed:?}");
            }
            both.expect_same_items(&kind).await;
        }
    }
}
