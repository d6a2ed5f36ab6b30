//! The local host answers the store's calls itself. Here it answers the calls of whole simulations
//! once in this way and once through the SDK, and both answers must be the same.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use smartspace::embedded_table::{EmbeddedTable, NAME};
use smartspace_simulation::{ports::recorder::StoreCall, setup::Setup, simulate, storage::scan};
use smartspace_store::table::{
    database::{Batch, Database, Failure, Reason, TransactFailure},
    dynamodb::DynamoDb,
    query::Page,
    schema,
    write::{Action, Item, WriteCall},
};

use crate::golden::items::RELEASES;

/// The seeds whose calls are made again.
const SEEDS: [u64; 4] = [1, 3, 9, 14];

/// An answer, without the texts of errors.
#[derive(Debug, PartialEq)]
enum Answer {
    Item(Option<Item>),
    /// Ordered by their keys, because a batch has no order.
    Batch(BTreeMap<String, Item>, usize),
    Page(Page),
    Done,
    Failed(&'static str),
    Refused(Option<Item>),
    Canceled(Vec<Reason>),
}

impl Answer {
    fn of_failure(failure: Failure) -> Self {
        match failure {
            Failure::Condition(item) => Self::Refused(item),
            Failure::Transient(_) => Self::Failed("transient"),
            Failure::Final(_) => Self::Failed("final"),
        }
    }
}

async fn answer(database: &dyn Database, call: StoreCall) -> Answer {
    let answered = match call {
        StoreCall::Get(key) => database.get(key).await.map(Answer::Item),
        StoreCall::GetBatch(keys) => {
            database.get_batch(keys).await.map(|Batch { items, unread }| {
                let keyed = items
                    .into_iter()
                    .map(|item| (format!("{:?}{:?}", item["PK"], item["SK"]), item));
                Answer::Batch(keyed.collect(), unread.len())
            })
        }
        StoreCall::Query(call) => database.query(call).await.map(Answer::Page),
        StoreCall::Write(call) => database.write(call).await.map(Answer::Item),
        StoreCall::Transact(calls) => match database.transact(calls).await {
            Ok(()) => Ok(Answer::Done),
            Err(TransactFailure::Canceled(reasons)) => return Answer::Canceled(reasons),
            Err(TransactFailure::Failed(failure)) => Err(failure),
        },
    };
    answered.unwrap_or_else(Answer::of_failure)
}

/// A table that answers for itself, and one that the SDK asks.
struct Both {
    native: EmbeddedTable,
    asked: EmbeddedTable,
    sdk: DynamoDb,
}

impl Both {
    async fn new() -> Self {
        let [native, asked] = [(); 2].map(|()| EmbeddedTable::in_memory().unwrap());
        for table in [&native, &asked] {
            schema::create_table(&table.client(), NAME).await.unwrap();
        }
        let sdk = DynamoDb::new(asked.client(), NAME);
        Self { native, asked, sdk }
    }

    /// The answer of both.
    async fn answer(&self, call: StoreCall) -> Answer {
        let native = answer(&self.native, call.clone()).await;
        assert_eq!(native, answer(&self.sdk, call.clone()).await, "{call:?}");
        native
    }

    /// Fails unless both have the same items. Returns how many.
    fn expect_same_items(&self, context: &str) -> usize {
        let [native, asked] = [&self.native, &self.asked].map(|table| {
            let keyed = scan(table).into_iter().map(|item| (key_of(&item), item));
            keyed.collect::<BTreeMap<_, _>>()
        });
        for (key, item) in &native {
            assert_eq!(Some(item), asked.get(key), "{context}: {key:?}");
        }
        assert_eq!(native.len(), asked.len(), "{context}");
        native.len()
    }
}

#[tokio::test]
async fn the_calls_of_whole_simulations_are_answered_in_the_same_way() {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for seed in SEEDS {
        let play = move || simulate(&Setup { seed, records_calls: true, ..Setup::default() });
        let outcome = tokio::task::spawn_blocking(play).await.unwrap().unwrap();
        let both = Both::new().await;
        for call in outcome.calls {
            let name = match &call {
                StoreCall::Get(_) => "get",
                StoreCall::GetBatch(_) => "batch",
                StoreCall::Query(_) => "query",
                StoreCall::Write(call) => match call.action {
                    Action::Put(_) => "put",
                    Action::Update { .. } => "update",
                    Action::Delete { .. } => "delete",
                    Action::Check { .. } => "check",
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
        let items = both.expect_same_items(&format!("seed {seed}"));
        assert!(items > 0, "seed {seed} leaves no item");
    }
    let every =
        ["get", "batch", "query", "put", "update", "delete", "transact", "refused", "canceled"];
    assert!(every.iter().all(|what| seen.get(what).is_some_and(|count| *count >= 5)), "{seen:?}");
}

/// The key of an item that is written as DynamoDB writes it.
fn key_of(item: &Value) -> [String; 2] {
    ["PK", "SK"].map(|name| item[name]["S"].as_str().unwrap().to_owned())
}

#[tokio::test]
async fn items_of_earlier_versions_are_read_and_changed_in_the_same_way() {
    for release in RELEASES {
        for (kind, items) in release.items() {
            let both = Both::new().await;
            for item in &items {
                let put = json!({"TableName": NAME, "Item": item}).to_string();
                for table in [&both.native, &both.asked] {
                    assert_eq!(table.answer("PutItem", put.as_bytes()).0, 200, "{kind}");
                }
                let [pk, sk] = key_of(item).map(serde_dynamo::AttributeValue::S);
                let key = Item::from([("PK".to_owned(), pk), ("SK".to_owned(), sk)]);
                let read = both.answer(StoreCall::Get(key.clone())).await;
                assert!(matches!(read, Answer::Item(Some(_))), "{kind}: {read:?}");
                let call = |condition: &str| WriteCall {
                    action: Action::Update {
                        key: key.clone(),
                        expression: "SET #seen = PK".into(),
                    },
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
            both.expect_same_items(&kind);
        }
    }
}
