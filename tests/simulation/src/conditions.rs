//! The conditions of the product's writes, clause by clause.
//!
//! Each clause has a mutant that drops it: the table then accepts writes that the clause alone
//! would have refused. [`catalog`] lists all clauses. `calls` finds the writes of a
//! call, and `expressions` splits their conditions.

mod calls;
pub mod catalog;
mod expressions;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Mutex,
};

use serde_json::{Value, json};

pub use self::calls::{items, prune};
use self::{
    calls::{key_of, kind_of, writes},
    expressions::{is_implied, split, without_ids},
};
use crate::locked;

/// The condition that the store gives to every update: an update creates no item.
const EXISTS: &str = "attribute_exists(PK)";

/// One clause of a condition.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Clause {
    /// The kind of write and the kind of item: `update RUN#/META`.
    pub write: String,
    pub text: String,
    /// The whole condition, if it has other clauses.
    pub condition: String,
}

impl Clause {
    /// Whether it is a condition of an edit, a deletion, a reaction or a reply.
    pub fn is_of_changes(&self) -> bool {
        let items = ["/REACT#", "/THREAD#", "/CHANGES", "PART#/"];
        let names = ["#deleted", "#changed", "#rev", "#pins", "#edited", "#uses", "#redactedAt"];
        items.iter().any(|item| self.write.contains(item))
            || names.iter().any(|name| self.text.contains(name) || self.condition.contains(name))
    }

    /// Whether it is a condition of the blocks of searches.
    pub fn is_of_searches(&self) -> bool {
        self.write.contains("FIND#/")
    }

    /// Whether it is a condition of what files store.
    pub fn is_of_applies(&self) -> bool {
        ["PROJECT#/", "EXT#/"].iter().any(|item| self.write.contains(item))
    }

    /// Drops this clause from every write of a call that has it.
    pub fn drop_from(&self, operation: &str, request: &mut Value) {
        for (verb, write) in writes(operation, request) {
            if clauses(verb, write).contains(self) {
                drop_clause(verb, write, &self.text);
            }
        }
    }
}

impl fmt::Display for Clause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { write, text, condition } = self;
        let condition = if condition.is_empty() { String::new() } else { format!("`{condition}`") };
        write!(f, "{write} | `{text}` | {condition}")
    }
}

/// The clauses that the product has sent, and how often each of them decided.
#[derive(Debug, Default)]
pub struct Conditions {
    /// Whether to find out which clause refused a write.
    finds_deciding: bool,
    sent: Mutex<BTreeSet<Clause>>,
    decided: Mutex<BTreeMap<Clause, u64>>,
}

impl Conditions {
    /// No clauses yet.
    pub fn new(finds_deciding: bool) -> Self {
        Self { finds_deciding, ..Self::default() }
    }

    /// Records the clauses of a call.
    pub fn note(&self, operation: &str, request: &mut Value) {
        for (verb, write) in writes(operation, request) {
            let clauses = clauses(verb, write);
            let mut sent = locked(&self.sent);
            for clause in clauses {
                if !sent.contains(&clause) {
                    sent.insert(clause);
                }
            }
        }
    }

    /// Records the clauses that alone refused a call: without such a clause the table would have
    /// accepted the call. `holds` evaluates the conditions of a transaction.
    pub fn note_refusal(
        &self,
        operation: &str,
        call: &Value,
        answer: &str,
        holds: impl Fn(&Value) -> bool,
    ) {
        if !self.finds_deciding || !answer.contains("ConditionalCheckFailed") {
            return;
        }
        let answer: Value = serde_json::from_str(answer).unwrap_or_default();
        let codes: Vec<_> = answer["CancellationReasons"].as_array().map_or_else(
            || vec![true],
            |reasons| reasons.iter().map(|reason| reason["Code"] != "None").collect(),
        );
        if codes.iter().filter(|failed| **failed).count() != 1 {
            return;
        }
        let mut call = call.clone();
        let failed = writes(operation, &mut call).into_iter().zip(codes).find(|(_, code)| *code);
        let Some(((verb, write), _)) = failed else { return };
        for clause in clauses(verb, write) {
            if holds(&transaction(vec![as_check(verb, write, Some(&clause.text))])) {
                self.count(clause);
            }
        }
    }

    /// Counts a write that a clause alone refuses, or would have refused if it was not dropped.
    pub fn count(&self, clause: Clause) {
        *locked(&self.decided).entry(clause).or_default() += 1;
    }

    /// The clauses that the product has sent.
    pub fn sent(&self) -> BTreeSet<Clause> {
        locked(&self.sent).clone()
    }

    /// How often each clause alone refused a call.
    pub fn decided(&self) -> BTreeMap<Clause, u64> {
        locked(&self.decided).clone()
    }
}

/// The clauses of a write's condition. All updates share the clause that
/// the item exists, unless another clause implies it.
fn clauses(verb: &str, write: &Value) -> Vec<Clause> {
    let Some(condition) = write["ConditionExpression"].as_str() else { return Vec::new() };
    let texts: Vec<_> = split(condition).iter().map(|text| without_ids(text)).collect();
    let own: Vec<_> = texts.iter().filter(|text| verb != "update" || *text != EXISTS).collect();
    let mut clauses = Vec::new();
    if own.len() < texts.len() && !is_implied(&texts) {
        let text = EXISTS.to_owned();
        clauses.push(Clause { write: verb.to_owned(), text, condition: String::new() });
    }
    let write = format!("{verb} {}", kind_of(write));
    let condition = if own.len() > 1 {
        own.iter().map(|text| text.as_str()).collect::<Vec<_>>().join(" AND ")
    } else {
        String::new()
    };
    clauses.extend(own.into_iter().map(|text| Clause {
        write: write.clone(),
        text: text.clone(),
        condition: condition.clone(),
    }));
    clauses
}

/// Drops a clause from a write, with the names and values that only it uses.
fn drop_clause(verb: &str, write: &mut Value, text: &str) {
    let condition = write["ConditionExpression"].as_str().unwrap_or_default();
    let rest = expressions::without(condition, text);
    if let Some(object) = write.as_object_mut() {
        match rest {
            Some(rest) => object.insert("ConditionExpression".into(), json!(rest)),
            // A check needs a condition.
            None if verb == "check" => {
                object.insert("ConditionExpression".into(), json!("attribute_not_exists(nothing)"))
            }
            None => object.remove("ConditionExpression"),
        };
    }
    prune(write);
}

/// The conditions of a call, or only one clause of them, as a transaction that writes nothing.
/// `None` if the call has no such condition.
pub fn checks(operation: &str, call: &Value, only: Option<&Clause>) -> Option<Value> {
    let mut call = call.clone();
    let mut checks = Vec::new();
    for (verb, write) in writes(operation, &mut call) {
        let clauses = clauses(verb, write);
        match only {
            None if clauses.is_empty() => {}
            None => checks.push(as_check(verb, write, None)),
            Some(only) if clauses.contains(only) => {
                write["ConditionExpression"] = only.text.clone().into();
                checks.push(as_check(verb, write, None));
            }
            Some(_) => {}
        }
    }
    (!checks.is_empty()).then(|| transaction(checks))
}

fn transaction(checks: Vec<Value>) -> Value {
    json!({"TransactItems": checks})
}

/// A write's condition, without one clause if `without` names it, as a write that changes nothing.
fn as_check(verb: &str, write: &Value, without: Option<&str>) -> Value {
    let mut write = write.clone();
    let key = json!({"PK": key_of(&write)["PK"], "SK": key_of(&write)["SK"]});
    if let Some(without) = without {
        drop_clause(verb, &mut write, without);
    }
    if write["ConditionExpression"].is_null() {
        write["ConditionExpression"] = json!("attribute_not_exists(nothing)");
    }
    if let Some(object) = write.as_object_mut() {
        object.remove("UpdateExpression");
        object.remove("Item");
        object.retain(|name, _| name == "TableName" || name.contains("Expression"));
        object.insert("Key".into(), key);
    }
    prune(&mut write);
    json!({"ConditionCheck": write})
}
