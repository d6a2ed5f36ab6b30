//! The conditions of the store's writes: each has a line in `conditions.md`, and the oracle notices
//! that it is missing.

use std::collections::BTreeSet;

use smartspace_simulation::{
    conditions::{
        Clause,
        catalog::{CATALOG, Condition, clause},
    },
    search::Trial,
};

use crate::promises::expect_found;

/// How many tests share the mutants that are not played for each change.
const PARTS: usize = 6;
/// The mutants that are played for each change.
const FOR_EACH_CHANGE: [&str; 2] = ["appends-over-messages", "claims-held-run"];

/// Panics with the lines to add if a play has sent clauses that the page does not list.
pub(crate) fn expect_listed(sent: &BTreeSet<Clause>) {
    let unknown: Vec<_> = sent
        .iter()
        .filter(|clause| !CATALOG.iter().any(|condition| condition.clause == **clause))
        .map(|clause| format!("| `NAME` | {clause} | PURPOSE | PROMISE | SEED |"))
        .collect();
    assert!(
        unknown.is_empty(),
        "tests/simulation/conditions.md lacks these conditions:\n{}\n\
         Name each one's mutant, and find the promise and the seed:\n\
         cargo run -p smartspace-simulation -- --count --seeds 60 --drop NAME",
        unknown.join("\n")
    );
}

#[test]
fn each_condition_has_one_line_and_one_mutant() {
    let clauses: BTreeSet<_> = CATALOG.iter().map(|condition| &condition.clause).collect();
    let mutants: BTreeSet<_> = CATALOG.iter().map(|condition| &condition.mutant).collect();
    assert_eq!([clauses.len(), mutants.len()], [CATALOG.len(); 2]);
    for name in FOR_EACH_CHANGE {
        assert!(CATALOG.iter().any(|it| it.mutant == name && it.found.is_some()), "{name}");
    }
}

/// Plays the listed seed without the condition, if there is one.
fn find(condition: &Condition) {
    if let Some(trial) = Trial::of_condition(condition) {
        expect_found(&trial);
    }
}

#[test]
fn finds_dropped_conditions() {
    CATALOG.iter().filter(|it| FOR_EACH_CHANGE.contains(&it.mutant.as_str())).for_each(find);
}

macro_rules! further_conditions {
    ($($name:ident: $part:literal)*) => {
        $(
            #[test]
            #[ignore = "by hand and in the nightly job: tests/run --all"]
            fn $name() {
                CATALOG.iter().skip($part).step_by(PARTS).for_each(find);
            }
        )*
    };
}

further_conditions! {
    finds_further_dropped_conditions_0: 0 finds_further_dropped_conditions_1: 1
    finds_further_dropped_conditions_2: 2 finds_further_dropped_conditions_3: 3
    finds_further_dropped_conditions_4: 4 finds_further_dropped_conditions_5: 5
}

#[test]
fn a_dropped_clause_leaves_the_others_with_their_names_and_values() {
    let update = serde_json::json!({"TransactItems": [{"Update": {
        "Key": {"PK": {"S": "RUN#run_1"}, "SK": {"S": "META"}},
        "UpdateExpression": "SET #kept = #kept + :more",
        "ConditionExpression":
            "attribute_exists(PK) AND (#kept = :seen) AND (#status = :a OR #status = :b)",
        "ExpressionAttributeNames": {"#kept": "kept", "#status": "status"},
        "ExpressionAttributeValues":
            {":more": {"N": "1"}, ":seen": {"N": "2"}, ":a": {"S": "a"}, ":b": {"S": "b"}},
    }}]});
    let dropped = |name: &str| {
        let mut call = update.clone();
        clause(name).unwrap().drop_from("TransactWriteItems", &mut call);
        let update = &call["TransactItems"][0]["Update"];
        let values = update["ExpressionAttributeValues"].as_object().unwrap();
        let values: BTreeSet<_> = values.keys().cloned().collect();
        let values = values.into_iter().collect::<Vec<_>>().join(" ");
        (update["ConditionExpression"].as_str().unwrap().to_owned(), values)
    };
    let either = "#status = :a OR #status = :b";
    let condition = format!("#kept = :seen AND {either}");
    assert_eq!(
        dropped(&format!("update RUN#/META | #kept = :seen | {condition}")),
        (format!("(attribute_exists(PK)) AND ({either})"), ":a :b :more".into())
    );
    assert_eq!(
        dropped(&format!("update RUN#/META | {either} | {condition}")),
        ("(attribute_exists(PK)) AND (#kept = :seen)".into(), ":more :seen".into())
    );
    let whole = update["TransactItems"][0]["Update"]["ConditionExpression"].as_str().unwrap();
    assert_eq!(
        dropped("update RUN#/META | #kept = :seen | "),
        (whole.into(), ":a :b :more :seen".into())
    );
}
