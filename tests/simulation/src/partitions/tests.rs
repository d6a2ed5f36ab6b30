use std::time::Duration;

use tokio::time::advance;

use super::*;

fn put(table: &EmbeddedTable, partitions: &Partitions, item: Value) -> RawResponse {
    let request = json!({"TableName": NAME, "Item": item});
    partitions.answer(table, "PutItem", &request, |request| {
        table.answer("PutItem", request.to_string().as_bytes())
    })
}

fn item(pk: &str, sk: &str, text: &str) -> Value {
    json!({"PK": {"S": pk}, "SK": {"S": sk}, "text": {"S": text}})
}

async fn table() -> EmbeddedTable {
    let table = EmbeddedTable::in_memory().unwrap();
    smartspace_store::table::schema::create_table(&table.client(), NAME).await.unwrap();
    table
}

#[tokio::test(start_paused = true)]
async fn a_partition_is_throttled_until_its_units_are_back_and_others_are_not() {
    let table = table().await;
    let partitions = Partitions::new(Units { write: 4.0, read: 4.0 });
    let large = "x".repeat(5 * 1024);
    assert_eq!(
        put(&table, &partitions, item("A", "1", &large)).0,
        200,
        "it takes more than is left"
    );
    let (status, body) = put(&table, &partitions, item("A", "2", "small"));
    assert!(status == 400 && body.contains("ProvisionedThroughputExceededException"), "{body}");
    assert_eq!(put(&table, &partitions, item("B", "1", "small")).0, 200);
    advance(Duration::from_secs(1)).await;
    assert_eq!(put(&table, &partitions, item("A", "2", "small")).0, 200);
    assert_eq!(partitions.throttled(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_full_partition_of_an_index_refuses_the_write_of_the_item() {
    let table = table().await;
    let partitions = Partitions::new(Units { write: 2.0, read: 4.0 });
    let due = |pk: &str| {
        let mut due = item(pk, "META", "");
        due["due"] = json!({"S": "DUE#1"});
        due["dueAt"] = json!({"S": "now"});
        due
    };
    assert_eq!(put(&table, &partitions, due("A")).0, 200);
    assert_eq!(put(&table, &partitions, due("B")).0, 200);
    assert_eq!(put(&table, &partitions, due("C")).0, 400, "the index has no units left");
    assert_eq!(put(&table, &partitions, item("C", "META", "not due")).0, 200);
}

#[tokio::test(start_paused = true)]
async fn transactions_cost_double_and_say_which_part_was_throttled() {
    let table = table().await;
    let partitions = Partitions::new(Units { write: 2.0, read: 4.0 });
    let transact = |pks: [&str; 2]| {
        let parts = pks.map(|pk| json!({"Put": {"TableName": NAME, "Item": item(pk, "1", "")}}));
        let request = json!({"TransactItems": parts});
        partitions.answer(&table, "TransactWriteItems", &request, |request| {
            table.answer("TransactWriteItems", request.to_string().as_bytes())
        })
    };
    assert_eq!(transact(["A", "B"]).0, 200);
    let (status, body) = transact(["C", "B"]);
    let body: Value = serde_json::from_str(&body).unwrap();
    let expected = json!([{"Code": "None"}, {"Code": "ThrottlingError"}]);
    assert_eq!((status, &body["CancellationReasons"]), (400, &expected));
}

#[tokio::test(start_paused = true)]
async fn a_batch_leaves_out_the_keys_of_a_throttled_partition() {
    let table = table().await;
    let partitions = Partitions::new(Units { write: 99.0, read: 1.0 });
    for pk in ["A", "B"] {
        put(&table, &partitions, item(pk, "1", ""));
    }
    let get = |pks: &[&str]| {
        let keys: Vec<_> =
            pks.iter().map(|pk| json!({"PK": {"S": pk}, "SK": {"S": "1"}})).collect();
        let request = json!({"RequestItems": {NAME: {"Keys": keys, "ConsistentRead": true}}});
        let (status, answer) = partitions.answer(&table, "BatchGetItem", &request, |request| {
            table.answer("BatchGetItem", request.to_string().as_bytes())
        });
        (status, serde_json::from_str::<Value>(&answer).unwrap())
    };
    assert_eq!(get(&["A"]).0, 200);
    let (status, answer) = get(&["A", "B"]);
    assert_eq!(status, 200);
    assert_eq!(answer["Responses"][NAME][0]["PK"]["S"], "B");
    assert_eq!(answer["UnprocessedKeys"][NAME]["Keys"][0]["PK"]["S"], "A");
    assert_eq!(get(&["A"]).0, 400, "no key is left");
}
