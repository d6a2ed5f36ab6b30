//! The data: a table, and a copy for index reads that lags up to two seconds behind.
//!
//! It also records the writes of each run, the states of plans, messages and summaries, and the
//! items of spaces that are deleted, for the oracle.

mod lanes;
mod later;
mod removed;
pub mod samples;
mod shown;
mod spending;

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use serde_json::{Value, json};
use smartspace_embedded_table::{EmbeddedTable, NAME};
use tokio::time::Instant;

pub use self::shown::{ItemState, Shown};
use self::{lanes::Lanes, later::Later, removed::Removed, samples::Samples, spending::Spending};
use crate::{held_writes::HeldWrites, locked};

/// The writes of a run: their times, and their numbers among all writes of the table.
#[derive(Clone, Debug, Default)]
pub struct RunWrites {
    /// When the run was created.
    pub created: Option<(Instant, u64)>,
    /// Whether it repeats or replays another run, or answers a question once more.
    pub is_another_try: bool,
    /// How often it was created.
    pub creations: usize,
    /// When the run ended.
    pub ended: Option<(Instant, u64)>,
    /// The number of the last write of an answer, a result or a message.
    pub wrote: u64,
    /// When the last form of each step got its result.
    pub resolved: BTreeMap<u64, Instant>,
}

/// A state of a plan.
#[derive(Clone, Debug)]
pub struct PlanState {
    /// When the plan got this state.
    pub at: Instant,
    /// The number of this write among all writes of the table.
    pub number: u64,
    /// The stored plan, or `None` if it was deleted.
    pub plan: Option<Value>,
}

/// The table and its copy.
pub struct Storage {
    table: EmbeddedTable,
    copy: EmbeddedTable,
    /// Writes that the copy lacks, with their times.
    pending: Mutex<VecDeque<(Instant, String, Vec<u8>)>>,
    writes: AtomicU64,
    /// The writes that wait until their condition fails.
    pub held_writes: HeldWrites,
    /// The writes of runs, by their ids.
    runs: Mutex<BTreeMap<String, RunWrites>>,
    /// When agents' revisions were written, by agent and revision, with the number of the write.
    revisions: Mutex<BTreeMap<(String, u64), (Instant, u64)>>,
    /// The states of plans, by their agents and ids.
    plans: Mutex<BTreeMap<(String, String), Vec<PlanState>>>,
    /// The states of messages and summaries.
    shown: Mutex<Shown>,
    /// Which runs work at the same time.
    lanes: Mutex<Lanes>,
    /// What was spent of budgets.
    spending: Mutex<Spending>,
    later: Option<Later>,
    samples: Option<Samples>,
    /// The deleted items of spaces.
    removed: Mutex<Removed>,
    /// All items, as plain JSON, until the next write: the checks of the oracle read them in turn.
    unchanged: Mutex<Option<Vec<Value>>>,
}

impl Storage {
    /// An empty table. `later_version` lets a later version add fields to all items, and `samples`
    /// collects an item of each kind.
    pub fn new(later_version: bool, samples: bool) -> Result<Self, String> {
        Ok(Self {
            table: EmbeddedTable::in_memory()?,
            copy: EmbeddedTable::in_memory()?,
            pending: Mutex::default(),
            runs: Mutex::default(),
            revisions: Mutex::default(),
            plans: Mutex::default(),
            shown: Mutex::default(),
            removed: Mutex::default(),
            unchanged: Mutex::default(),
            lanes: Mutex::default(),
            spending: Mutex::default(),
            writes: AtomicU64::new(0),
            later: later_version.then(Later::default),
            samples: samples.then(Samples::default),
            held_writes: HeldWrites::default(),
        })
    }

    /// Answers a call from the table.
    pub fn answer(&self, operation: &str, body: &[u8]) -> (u16, String) {
        let removed = Removed::by(&self.table, operation, body);
        let answer = self.table.answer(operation, body);
        if answer.0 == 200 && !["GetItem", "BatchGetItem", "Query", "Scan"].contains(&operation) {
            self.writes.fetch_add(1, Ordering::Relaxed);
            locked(&self.removed).add(removed);
            match operation {
                "TransactWriteItems" => self.note(body),
                "PutItem" | "UpdateItem" | "DeleteItem" => self.note_one(operation, body),
                "CreateTable" => return self.copy.answer(operation, body),
                _ => {}
            }
            self.held_writes.wake(operation, body);
            locked(&self.pending).push_back((Instant::now(), operation.to_owned(), body.to_vec()));
            self.look_at_written(operation, body);
            locked(&self.unchanged).take();
        }
        answer
    }

    /// Answers a read from the copy. It contains all writes that are older than `lag`, and all
    /// writes that an earlier read saw.
    pub fn answer_stale(&self, lag: Duration, operation: &str, body: &[u8]) -> (u16, String) {
        let mut pending = locked(&self.pending);
        while let Some((_, operation, body)) =
            pending.pop_front_if(|(at, _, _)| at.elapsed() >= lag)
        {
            let _ = self.copy.answer(&operation, &body);
        }
        self.copy.answer(operation, body)
    }

    pub(crate) fn table(&self) -> &EmbeddedTable {
        &self.table
    }

    /// Whether the conditions of a transaction hold that writes nothing.
    pub fn holds(&self, checks: &Value) -> bool {
        self.table.answer("TransactWriteItems", checks.to_string().as_bytes()).0 == 200
    }

    /// The items of a deleted space, as they were before they were deleted.
    pub fn removed(&self, space: &str) -> Vec<Value> {
        locked(&self.removed).of(space)
    }

    /// The number of writes so far.
    pub fn writes(&self) -> u64 {
        self.writes.load(Ordering::Relaxed)
    }

    /// The writes of a run.
    pub fn run_writes(&self, run: &str) -> RunWrites {
        locked(&self.runs).get(run).cloned().unwrap_or_default()
    }

    /// The states of plans, by their agents and ids.
    pub fn plans(&self) -> BTreeMap<(String, String), Vec<PlanState>> {
        locked(&self.plans).clone()
    }

    /// The states of messages and summaries.
    pub fn shown(&self) -> Shown {
        locked(&self.shown).clone()
    }

    /// The most runs of each agent that worked at the same time.
    pub fn most_at_once(&self) -> BTreeMap<String, usize> {
        locked(&self.lanes).most.clone()
    }

    /// The most tokens that each counter of a budget has had.
    pub fn most_spent(&self) -> BTreeMap<String, u64> {
        locked(&self.spending).0.clone()
    }

    /// The runs that worked in a lane when it was not their turn.
    pub fn out_of_turn(&self) -> BTreeSet<String> {
        locked(&self.lanes).found.clone()
    }

    /// When plans are due, by their ids.
    pub fn plans_due(&self) -> BTreeMap<String, String> {
        let items = self.items();
        let due = |item: &Value| {
            Some((plan_of(item["SK"].as_str()?)?.to_owned(), item["dueAt"].as_str()?.to_owned()))
        };
        items.iter().filter_map(due).collect()
    }

    /// Records a write that is not part of a transaction.
    fn note_one(&self, operation: &str, body: &[u8]) {
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        let key = &body["Key"];
        if key["PK"]["S"].as_str().is_some_and(|pk| pk.starts_with("BUDGET#")) {
            locked(&self.spending).note(&plain_item(&self.item(key)));
        }
        let part = match operation {
            "PutItem" => json!({"Put": body}),
            "UpdateItem" => json!({"Update": body}),
            _ => json!({"Delete": body}),
        };
        self.note_plan(&part, self.writes());
        self.note_shown(&part);
    }

    fn note_shown(&self, part: &Value) {
        locked(&self.shown).note(part, |key| shown::read(&self.item(key)));
    }

    fn note_plan(&self, part: &Value, number: u64) {
        let update = &part["Update"];
        // A plan that is put off stays in its state.
        if !update.is_null() && update["ExpressionAttributeValues"][":new_rev"].is_null() {
            return;
        }
        let keys = [&part["Put"]["Item"], &update["Key"], &part["Delete"]["Key"]];
        let Some(key) = keys.into_iter().find(|key| !key.is_null()) else { return };
        let (Some(agent), Some(plan)) =
            (key["PK"]["S"].as_str(), key["SK"]["S"].as_str().and_then(plan_of))
        else {
            return;
        };
        let item = self.item(key);
        // Plans of files are never due, and the client that applies the files looks at them.
        if !item["managedBy"].is_null() {
            return;
        }
        let mut plans = locked(&self.plans);
        let noted = plans
            .entry((agent.trim_start_matches("ENTITY#").to_owned(), plan.to_owned()))
            .or_default();
        let plan = (!item.is_null()).then(|| plain_item(&item));
        if plan.is_some() || noted.last().is_some_and(|last| last.plan.is_some()) {
            noted.push(PlanState { at: Instant::now(), number, plan });
        }
    }

    /// When an agent's revision was written, with the number of the write.
    pub fn revision_written(&self, agent: &str, revision: u64) -> Option<(Instant, u64)> {
        locked(&self.revisions).get(&(agent.to_owned(), revision)).copied()
    }

    fn note_revision(&self, pk: &str, sk: &str, number: u64) {
        let agent = pk.strip_prefix("ENTITY#");
        let revision = sk.strip_prefix("REV#").and_then(|number| number.parse().ok());
        if let (Some(agent), Some(revision)) = (agent, revision) {
            locked(&self.revisions)
                .entry((agent.to_owned(), revision))
                .or_insert((Instant::now(), number));
        }
    }

    /// Records the writes of a transaction.
    fn note(&self, body: &[u8]) {
        let number = self.writes();
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        let mut runs = locked(&self.runs);
        for part in body["TransactItems"].as_array().into_iter().flatten() {
            self.note_plan(part, number);
            let update = &part["Update"];
            let item = &part["Put"]["Item"];
            let key = if item.is_null() { &update["Key"] } else { item };
            let pk = key["PK"]["S"].as_str().unwrap_or_default();
            let sk = key["SK"]["S"].as_str().unwrap_or_default();
            self.note_revision(pk, sk, number);
            let redacts = locked(&self.shown).redacts(pk, sk, item);
            self.note_shown(part);
            let sets = |name: &str| {
                update["UpdateExpression"].as_str().is_some_and(|text| text.contains(name))
            };
            let Some(run) = pk.strip_prefix("RUN#").or(item["runId"]["S"].as_str()) else {
                continue;
            };
            let noted = runs.entry(run.to_owned()).or_default();
            if item.is_object() && sk == "META" {
                noted.created.get_or_insert((Instant::now(), number));
                noted.creations += 1;
                noted.is_another_try = !item["retryOf"].is_null()
                    || !item["forkOf"].is_null()
                    || item["source"]["S"] == "unanswered";
            }
            let is_result = sk.starts_with("CALL#") && sets("#finishedAt = :new_finishedAt");
            // What a stopped run had shown is stored after its end, and a list of active runs may
            // be late.
            // Messages are edited and deleted at any time.
            let is_changed = item["deleted"].is_object() || item["editedAt"].is_object() || redacts;
            let is_shown_late = item["partial"]["BOOL"] == true || sk.starts_with("SHOWN#");
            let may_be_late = is_shown_late || is_changed;
            let is_new = item.is_object() && !["META", "TRIGGER"].contains(&sk) && !may_be_late;
            if is_result || is_new {
                noted.wrote = number;
            }
            if sk == "META" && (item.is_object() || sets("#status = ")) {
                locked(&self.lanes).note(&plain_item(&self.item(key)));
            }
            if sk == "META" && sets("#finishedAt") {
                noted.ended.get_or_insert((Instant::now(), number));
            }
            if let (Some(step), true) = (
                sk.strip_prefix("CALL#").and_then(|place| place.split('#').next()?.parse().ok()),
                sets("#answered = "),
            ) {
                noted.resolved.insert(step, Instant::now());
            }
        }
    }

    /// The item with the key of `item`, or null if it does not exist.
    fn item(&self, item: &Value) -> Value {
        let key = json!({"PK": item["PK"], "SK": item["SK"]});
        let request = json!({"TableName": NAME, "Key": key, "ConsistentRead": true});
        let (_, answer) = self.table.answer("GetItem", request.to_string().as_bytes());
        serde_json::from_str::<Value>(&answer).unwrap_or_default()["Item"].take()
    }

    /// Whether there is an item with this key.
    pub(crate) fn has(&self, pk: &str, sk: &str) -> bool {
        !self.item(&json!({"PK": {"S": pk}, "SK": {"S": sk}})).is_null()
    }

    /// The id of a message, or nothing if there is no such message.
    pub(crate) fn message_id(&self, space: &str, seq: u64) -> String {
        let key =
            json!({"PK": {"S": format!("SPACE#{space}")}, "SK": {"S": format!("MSG#{seq:012}")}});
        self.item(&key)["id"]["S"].as_str().unwrap_or_default().to_owned()
    }

    /// All items, as plain JSON.
    pub fn items(&self) -> Vec<Value> {
        let read = || scan(&self.table).iter().map(plain_item).collect();
        locked(&self.unchanged).get_or_insert_with(read).clone()
    }
}

/// All items of a table, as DynamoDB writes them.
pub fn scan(table: &EmbeddedTable) -> Vec<Value> {
    let mut items = Vec::new();
    let mut from = Value::Null;
    loop {
        let mut request = json!({"TableName": NAME});
        if !from.is_null() {
            request["ExclusiveStartKey"] = from;
        }
        let (_, answer) = table.answer("Scan", request.to_string().as_bytes());
        let mut answer: Value = serde_json::from_str(&answer).unwrap_or_default();
        if let Value::Array(page) = answer["Items"].take() {
            items.extend(page);
        }
        from = answer["LastEvaluatedKey"].take();
        if from.is_null() {
            return items;
        }
    }
}

/// The id of a plan, from its sort key.
fn plan_of(sk: &str) -> Option<&str> {
    sk.strip_prefix("CTX#PLAN#")
}

/// An item without the type tags of its attributes.
fn plain_item(item: &Value) -> Value {
    item.as_object()
        .into_iter()
        .flatten()
        .map(|(name, value)| (name.clone(), plain(value)))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

fn plain(value: &Value) -> Value {
    let Some((kind, value)) = value.as_object().and_then(|object| object.iter().next()) else {
        return Value::Null;
    };
    match kind.as_str() {
        "N" => {
            value.as_str().and_then(|text| serde_json::from_str(text).ok()).unwrap_or(Value::Null)
        }
        "M" => plain_item(value),
        "L" => value.as_array().into_iter().flatten().map(plain).collect::<Vec<_>>().into(),
        "NULL" => Value::Null,
        _ => value.clone(),
    }
}
