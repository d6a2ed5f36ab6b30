use rusqlite::Connection;
use serde_dynamo::AttributeValue::{self, N, S, Ss};
use smartspace_store::table::{
    database::{Database, Failure, TransactFailure},
    indexes::Index,
    keys::Key,
    query::Query,
    write::{Action, Item, WriteCall},
};

use super::*;

fn key(number: usize) -> Key {
    Key { pk: "A".into(), sk: format!("{number:04}") }
}

fn item(number: usize, more: &[(&str, AttributeValue)]) -> Item {
    let Key { pk, sk } = key(number);
    let more = more.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
    [("PK".to_owned(), S(pk)), ("SK".to_owned(), S(sk))].into_iter().chain(more).collect()
}

fn call(number: usize, action: Action) -> WriteCall {
    WriteCall { key: key(number), action, condition: None, names: None, values: None }
}

fn put(number: usize, more: &[(&str, AttributeValue)]) -> WriteCall {
    call(number, Action::Put(item(number, more)))
}

fn due(at: &str) -> [(&str, AttributeValue); 2] {
    [("due", S("DUE#0".into())), ("dueAt", S(at.into()))]
}

fn number(number: &str) -> AttributeValue {
    N(number.into())
}

/// Makes a write with the values `:a` and `:b`, on an item with more attributes.
async fn written(
    more: &[(&str, AttributeValue)],
    write: WriteCall,
    [a, b]: [AttributeValue; 2],
) -> Result<Option<Item>, Failure> {
    let table = SqliteTable::in_memory().unwrap();
    table.write(put(1, more)).await.unwrap();
    let values = Some(Item::from([(":a".to_owned(), a), (":b".to_owned(), b)]));
    table.write(WriteCall { values, ..write }).await
}

/// Makes an update with the values `:a` and `:b`, on an item with more attributes.
async fn updated(
    more: &[(&str, AttributeValue)],
    expression: &str,
    values: [AttributeValue; 2],
) -> Result<Item, Failure> {
    let update = call(1, Action::Update(expression.into()));
    written(more, update, values).await.map(Option::unwrap)
}

/// Whether a condition with the values `:a` and `:b` holds for an item with more attributes.
async fn holds(
    more: &[(&str, AttributeValue)],
    condition: &str,
    values: [AttributeValue; 2],
) -> Result<bool, Failure> {
    let condition = Some(condition.to_owned());
    let delete = WriteCall { condition, ..call(1, Action::Delete) };
    match written(more, delete, values).await {
        Ok(_) => Ok(true),
        Err(Failure::Condition(found)) => {
            assert_eq!(found, Some(item(1, more)));
            Ok(false)
        }
        Err(failure) => Err(failure),
    }
}

#[tokio::test]
async fn a_file_is_opened_again_and_one_with_another_layout_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.sqlite");
    let table = SqliteTable::open(&path).unwrap();
    table.write(put(1, &due("2026-01-01"))).await.unwrap();
    drop(table);
    let table = SqliteTable::open(&path).unwrap();
    let index = Query::of_index(Index::DUE, "DUE#0".into());
    assert_eq!(table.query(index).await.unwrap().items, [item(1, &due("2026-01-01"))]);
    drop(table);
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 7).unwrap();
    let refused = SqliteTable::open(&path).unwrap_err();
    assert!(refused.contains("has layout 7, and this version reads layout 1"), "{refused}");
}

#[tokio::test]
async fn what_was_deleted_is_overwritten_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.sqlite");
    let table = SqliteTable::open(&path).unwrap();
    let words = "nobody else says this";
    let has_words = || {
        Checkpoints::of(&path).unwrap().make().unwrap();
        let file = std::fs::read(&path).unwrap();
        file.windows(words.len()).any(|part| part == words.as_bytes())
    };
    // The long one fills pages of its own.
    for (at, times) in [(1, 1), (2, 1), (3, 1_000)] {
        table.write(put(at, &[("text", S(words.repeat(times)))])).await.unwrap();
    }
    assert!(has_words());
    table.write(put(1, &[])).await.unwrap();
    for at in [2, 3] {
        table.write(call(at, Action::Delete)).await.unwrap();
    }
    assert!(!has_words());
}

#[tokio::test]
async fn what_has_expired_is_deleted_from_the_table_and_its_indexes() {
    let table = SqliteTable::in_memory().unwrap();
    // More than one search looks at.
    for at in 0..1_200 {
        let expires = ("expiresAt", number(if at % 2 == 0 { "100" } else { "101" }));
        let [part, time] = due("2026-01-01");
        table.write(put(at, &[expires, part, time])).await.unwrap();
    }
    table.write(put(1_200, &due("2026-01-01"))).await.unwrap();
    table.write(put(1_201, &[("expiresAt", S("100".into()))])).await.unwrap();
    let deleting = table.clone();
    let deleted = tokio::task::spawn_blocking(move || deleting.delete_expired(100));
    assert_eq!(deleted.await.unwrap(), Ok(600));

    let left = table.scan().await.unwrap();
    assert_eq!(left.len(), 602);
    assert!(left.iter().all(|item| item.get("expiresAt") != Some(&number("100"))));
    let index = Query::of_index(Index::DUE, "DUE#0".into());
    assert_eq!(table.query(index).await.unwrap().items.len(), 601);
}

#[tokio::test]
async fn an_item_that_cannot_be_read_is_a_fault_and_keeps_no_other_from_expiring() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.sqlite");
    let table = SqliteTable::open(&path).unwrap();
    for at in 1..=2 {
        table.write(put(at, &[("expiresAt", number("100"))])).await.unwrap();
    }
    let broken = "UPDATE smartspace SET item_json = '{bad' WHERE sk = '0001'";
    assert_eq!(Connection::open(&path).unwrap().execute(broken, []), Ok(1));
    let deleting = table.clone();
    let deleted = tokio::task::spawn_blocking(move || deleting.delete_expired(100));
    assert_eq!(deleted.await.unwrap(), Ok(1));
    let read = table.get(key(1)).await;
    assert!(matches!(read, Err(Failure::Final(_))), "{read:?}");
}

#[tokio::test]
async fn a_log_without_its_table_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.sqlite");
    std::fs::write(&path, "").unwrap();
    std::fs::write(folder.path().join("table.sqlite-wal"), "frames").unwrap();
    let refused = SqliteTable::open(&path).unwrap_err();
    assert!(refused.contains("expected both files"), "{refused}");
}

#[tokio::test]
async fn a_table_that_another_program_has_locked_is_tried_again_later() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.sqlite");
    let table = SqliteTable::open(&path).unwrap();
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let written = table.write(put(1, &[])).await;
    assert!(matches!(written, Err(Failure::Transient(_))), "{written:?}");
    other.execute_batch("ROLLBACK").unwrap();
    table.write(put(1, &[])).await.unwrap();
}

#[tokio::test]
async fn a_refused_transaction_changes_nothing() {
    let table = SqliteTable::in_memory().unwrap();
    table.write(put(1, &[])).await.unwrap();
    let absent = Some("attribute_not_exists(PK)".to_owned());
    let refused = WriteCall { condition: absent, ..put(1, &[]) };
    let made = table.transact(vec![put(2, &[]), refused]).await;
    let Err(TransactFailure::Canceled(reasons)) = made else { panic!("{made:?}") };
    assert_eq!(
        reasons.iter().map(|it| it.code.as_deref()).collect::<Vec<_>>(),
        [None, Some("ConditionalCheckFailed")]
    );
    assert_eq!(reasons[1].item, Some(item(1, &[])));

    // The second part is invalid, after the first one was looked at.
    let unfit = call(3, Action::Update("SET n = nothing".into()));
    let made = table.transact(vec![put(2, &[]), unfit]).await;
    let Err(TransactFailure::Canceled(reasons)) = made else { panic!("{made:?}") };
    assert_eq!(
        reasons.iter().map(|it| it.code.as_deref()).collect::<Vec<_>>(),
        [None, Some("ValidationError")]
    );
    let made = table.transact(vec![put(2, &[]), put(2, &[])]).await;
    assert!(matches!(made, Err(TransactFailure::Failed(Failure::Final(_)))), "{made:?}");
    let large = "x".repeat(400 << 10);
    let made = table.transact(vec![put(2, &[]), put(3, &[("text", S(large))])]).await;
    assert!(matches!(made, Err(TransactFailure::Failed(Failure::Final(_)))), "{made:?}");
    assert_eq!(table.scan().await.unwrap(), [item(1, &[])]);
}

#[tokio::test]
async fn a_page_has_at_most_a_megabyte_and_the_next_one_goes_on() {
    let table = SqliteTable::in_memory().unwrap();
    for at in 0..7 {
        let [part, time] = due("2026-01-01");
        table.write(put(at, &[("text", S("x".repeat(300 << 10))), part, time])).await.unwrap();
    }
    for newest_first in [false, true] {
        let mut query = Query { newest_first, ..Query::of("A".into()) };
        let mut pages = Vec::new();
        loop {
            let page = table.query(query.clone()).await.unwrap();
            pages.push(page.items.iter().map(|item| item["SK"].clone()).collect::<Vec<_>>());
            query.after = page.next;
            if query.after.is_none() {
                break;
            }
        }
        assert_eq!(pages.iter().map(Vec::len).collect::<Vec<_>>(), [3, 3, 1]);
        let mut all: Vec<_> = pages.concat();
        if newest_first {
            all.reverse();
        }
        assert_eq!(all, (0..7).map(|at| S(key(at).sk)).collect::<Vec<_>>());
    }
}

#[tokio::test]
async fn an_update_calculates_with_what_was_there_before() {
    let before = [("n", number("5")), ("m", number("7")), ("set", Ss(vec!["a".into()]))];
    let [two, half] = ["2", "0.5"].map(number);
    let after =
        async |expression: &str| updated(&before, expression, [two.clone(), half.clone()]).await;
    let swapped = after("SET n = m, m = n + :a REMOVE nothing").await.unwrap();
    assert_eq!([&swapped["n"], &swapped["m"]], [&number("7"), &number("7")]);
    assert_eq!(after("SET n = n - :b").await.unwrap()["n"], number("4.5"));
    assert_eq!(after("ADD n :b, k :a").await.unwrap()["n"], number("5.5"));
    assert_eq!(after("ADD k :a").await.unwrap()["k"], two);
    assert_eq!(after("SET k = if_not_exists(k, :a)").await.unwrap()["k"], two);
    assert_eq!(after("SET k = if_not_exists(n, :a)").await.unwrap()["k"], number("5"));
    let large = [("n", number("9223372036854775807"))];
    let sum = updated(&large, "ADD n :a", [number("1"), half.clone()]).await.unwrap();
    assert_eq!(sum["n"], number("9223372036854775808"));

    for wrong in [
        "SET n = k",
        "SET n = set + :a",
        "ADD set :a",
        "DELETE n :a",
        "SET a.b = :a",
        "SET n :a",
        "SET n = :c",
        "SET #n = :a",
        "PUT n = :a",
        "SET n = list_append(n, :a)",
        "SET",
    ] {
        let failed = after(wrong).await;
        assert!(matches!(failed, Err(Failure::Final(_))), "{wrong}: {failed:?}");
    }
}

#[tokio::test]
async fn an_update_changes_a_map_in_a_list() {
    let map = AttributeValue::M(Item::from([("k".to_owned(), number("1"))]));
    let before = [("list", AttributeValue::L(vec![map.clone(), map.clone()]))];
    let after =
        async |expression: &str| updated(&before, expression, [number("2"), number("0")]).await;
    let changed = AttributeValue::M(Item::from([("k".to_owned(), number("3"))]));
    let item = after("SET list[1].k = list[0].k + :a").await.unwrap();
    assert_eq!(item["list"], AttributeValue::L(vec![map, changed]));
    for wrong in ["SET list[2].k = :a", "SET list[k].k = :a", "SET list.k = :a"] {
        let failed = after(wrong).await;
        assert!(matches!(failed, Err(Failure::Final(_))), "{wrong}: {failed:?}");
    }
}

#[tokio::test]
async fn sets_lose_texts_and_vanish_when_empty() {
    let set = |texts: &[&str]| Ss(texts.iter().map(|text| (*text).to_owned()).collect());
    let before = [("set", set(&["a", "b"]))];
    let after = async |expression: &str, texts: &[&str]| {
        updated(&before, expression, [set(texts), number("0")]).await.unwrap().remove("set")
    };
    assert_eq!(after("ADD set :a", &["b", "c"]).await, Some(set(&["a", "b", "c"])));
    assert_eq!(after("DELETE set :a", &["b", "c"]).await, Some(set(&["a"])));
    assert_eq!(after("DELETE set :a", &["a", "b"]).await, None);
}

#[tokio::test]
async fn conditions_compare_as_dynamodb_does() {
    let map = AttributeValue::M(Item::from([("k".to_owned(), number("1"))]));
    let list = AttributeValue::L(vec![map.clone()]);
    let has = [("n", number("10")), ("text", S("b".into())), ("map", map), ("list", list)];
    let true_or_false =
        async |condition: &str| holds(&has, condition, [number("9"), S("a".into())]).await.unwrap();
    for condition in [
        // Not as texts, where "10" comes before "9".
        "n > :a",
        "n >= :a AND NOT n <= :a",
        "text > :b",
        "n <> :b",
        "nothing <> :a",
        "nothing > :a OR n > :a",
        "(nothing = :a OR n > :a) AND attribute_exists(n)",
        "attribute_not_exists(nothing)",
        "map.k < :a",
        "attribute_not_exists(map.j)",
        "list[0].k < :a",
        "size(list) = list[0].k",
        "n IN (:a, n)",
        "size(text) < :a",
        "size(map) < :a",
    ] {
        assert!(true_or_false(condition).await, "{condition}");
    }
    for condition in [
        "n < :a",
        "n = :b",
        "n < :b",
        "n > :b",
        "nothing = :a",
        "nothing < :a",
        "nothing IN (:a)",
        "text IN (:a, :b)",
        "NOT n > :a",
        "attribute_exists(nothing.k)",
        "list[1].k < :a",
        "n > :a AND n < :a",
    ] {
        assert!(!true_or_false(condition).await, "{condition}");
    }
    for wrong in [
        "n",
        "n =",
        "n ! :a",
        "n > :a n",
        "(n > :a",
        "contains(text, :b)",
        "n > :c",
        "size(n) > :a",
    ] {
        let failed = holds(&has, wrong, [number("9"), number("9")]).await;
        assert!(matches!(failed, Err(Failure::Final(_))), "{wrong}: {failed:?}");
    }
}
