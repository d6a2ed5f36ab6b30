//! Mistakes that are planted on purpose, between the product and its table: what would happen if a mechanism of the design were missing.
//!
//! A check that finds nothing proves nothing. Each of these takes one mechanism away, and the simulation has to notice. The product itself has no
//! switches: its calls are changed on their way.

mod forms;
mod outside;
mod plans;

use clap::ValueEnum;
use serde_json::{Value, json};

use crate::{plan::Weather, world::World};

type Answer = (u16, String);

/// A mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Planted {
    /// Promise 1: a message is answered before it is kept, and then is not.
    AnswersBeforeKeeping,
    /// Promise 1: the runs that a message wakes are not part of its transaction.
    LosesRuns,
    /// Promise 1: idempotency keys are not kept.
    ForgetsKeys,
    /// Promise 1: a failed condition does not say which item was there, so no token is known after a lost answer.
    ForgetsTokens,
    /// Promise 1: what tells deliveries of a service apart is not kept.
    ForgetsDeliveries,
    /// Promise 2: now and then a number is left out.
    SkipsNumbers,
    /// Promise 2: nobody checks that a number is free.
    OverwritesNumbers,
    /// Promise 3: what a call did is kept without its result.
    ForgetsResults,
    /// Promise 3: a model's answer is not kept before its calls are run.
    ForgetsAnswers,
    /// Promise 3: that a hidden call began outside is not kept.
    ForgetsBeginnings,
    /// Promise 3: who takes a run over is not told of hidden calls that began outside, and makes them again.
    RepeatsWhatBegan,
    /// Promise 3: a call that reaches outside gets its result, and its card does not.
    ForgetsCards,
    /// Promise 3: a run ends, and its cards of calls outside stay open.
    LeavesCallsOpen,
    /// Promise 4: writes of a run do not check its lease.
    IgnoresLeases,
    /// Promise 4: a run is claimed whoever has it.
    ClaimsAnyway,
    /// Promise 4: a cancellation is answered, and nothing is kept of it.
    CancelsNothing,
    /// Promise 5: runs are not due, so only queues know of them.
    ForgetsDuties,
    /// Promise 5: nobody looks for what is overdue.
    SweepsNothing,
    /// Promise 5: a run ends without what stands beside it in its transaction.
    FinishesInParts,
    /// Promise 6: every message has the depth of a person's.
    ForgetsDepth,
    /// Promise 6: the depth is counted, and nobody asks for it.
    IgnoresDepth,
    /// Promise 4: a run is told that it ended another one of its agent, and that one goes on.
    AbsorbsNothing,
    /// Promise 4: who ended a run in the name of which call is not kept, so that a repeat finds that it had ended already.
    ForgetsAbsorbing,
    /// Promise 7: an answer is kept, and its run is neither due nor queued.
    ForgetsWaitingRuns,
    /// Promise 7: a run ends, and its forms stay open.
    LeavesFormsOpen,
    /// Promise 7: nobody checks that a form is still open.
    AnswersTwice,
    /// Promise 7: a plan fires, and its next time is set by a second write.
    FiresInParts,
    /// Promise 7: nobody checks that a plan still has the time for which it fires.
    FiresAnyway,
    /// Promise 7: plans are not due, so only alarms know of their times.
    ForgetsTimes,
    /// Promise 8: a completed run's cursor is set to the newest message instead of the last that it was shown.
    ReadsToTheNewest,
    /// Promise 8: cursors do not move.
    ForgetsReading,
    /// Promise 8: cursors move back, too.
    ReadsBackwards,
    /// Promise 9: who leaves does not change the version of the roster.
    KeepsRosterVersion,
    /// Promise 9: nobody checks whether a sender is a member.
    IgnoresMembership,
}

impl Planted {
    /// The promise that it breaks.
    pub fn promise(self) -> u8 {
        match self {
            Self::AnswersBeforeKeeping | Self::LosesRuns | Self::ForgetsKeys | Self::ForgetsTokens | Self::ForgetsDeliveries => 1,
            Self::SkipsNumbers | Self::OverwritesNumbers => 2,
            Self::ForgetsResults
            | Self::ForgetsAnswers
            | Self::ForgetsBeginnings
            | Self::RepeatsWhatBegan
            | Self::ForgetsCards
            | Self::LeavesCallsOpen => 3,
            Self::IgnoresLeases | Self::ClaimsAnyway | Self::CancelsNothing | Self::AbsorbsNothing | Self::ForgetsAbsorbing => 4,
            Self::ForgetsDuties | Self::SweepsNothing | Self::FinishesInParts => 5,
            Self::ForgetsDepth | Self::IgnoresDepth => 6,
            Self::ForgetsWaitingRuns
            | Self::LeavesFormsOpen
            | Self::AnswersTwice
            | Self::FiresInParts
            | Self::FiresAnyway
            | Self::ForgetsTimes => 7,
            Self::ReadsToTheNewest | Self::ForgetsReading | Self::ReadsBackwards => 8,
            Self::KeepsRosterVersion | Self::IgnoresMembership => 9,
        }
    }

    /// What a mechanism is there for must happen often enough to be missed.
    pub fn worsen(self, weather: &mut Weather) {
        match self {
            Self::ForgetsTokens | Self::ForgetsAbsorbing | Self::AnswersTwice => weather.lost_answer = 10_000,
            Self::ForgetsBeginnings | Self::RepeatsWhatBegan => weather.under_way = weather.under_way.max(20_000),
            Self::LeavesCallsOpen => weather.outside = 80_000,
            Self::FiresAnyway => weather.slow = weather.slow.max(30_000),
            Self::SweepsNothing | Self::ForgetsDuties => weather.queue = weather.queue.max(5_000),
            Self::ForgetsTimes => weather.alarm = 60_000,
            _ => {}
        }
    }

    /// Changes a call on its way to the table, or answers it instead.
    pub fn before(self, world: &World, operation: &str, request: &mut Value) -> Option<Answer> {
        match self {
            Self::SweepsNothing if request["IndexName"] == "GSI1" => return Some((200, json!({"Items": [], "Count": 0}).to_string())),
            Self::ClaimsAnyway if operation == "UpdateItem" && mentions(&request["UpdateExpression"], "if_not_exists(#startedAt") => {
                request["ConditionExpression"] = json!("attribute_exists(PK)");
                prune(request);
            }
            _ => {}
        }
        if operation != "TransactWriteItems" {
            if self == Self::IgnoresLeases && operation == "UpdateItem" {
                without_lease(request);
            }
            return None;
        }
        let parts = request["TransactItems"].as_array_mut()?;
        let keeps_message = parts.iter().any(|part| sort_key(part).starts_with("MSG#"));
        match self {
            Self::AnswersBeforeKeeping if keeps_message && world.chance.happens("planted", 50) => return Some((200, "{}".into())),
            Self::LosesRuns if keeps_message => {
                drop_where(parts, |part| !part["Put"].is_null() && partition(part).starts_with("RUN#") && sort_key(part) == "META");
            }
            Self::ForgetsKeys => drop_where(parts, |part| partition(part).starts_with("IDEM#")),
            Self::SkipsNumbers if keeps_message && world.chance.happens("planted", 100) => {
                let values = &mut parts[0]["Update"]["ExpressionAttributeValues"];
                let next = values[":next"]["N"].as_str()?.parse::<u64>().ok()? + 1;
                values[":next"] = json!({"N": next.to_string()});
                let message = &mut parts[1]["Put"]["Item"];
                message["seq"] = json!({"N": next.to_string()});
                message["SK"] = json!({"S": format!("MSG#{next:012}")});
            }
            Self::OverwritesNumbers if keeps_message => {
                parts[0]["Update"]["ConditionExpression"] = json!("attribute_exists(PK)");
                prune(&mut parts[0]["Update"]);
                let message = parts[1]["Put"].as_object_mut()?;
                message.remove("ConditionExpression");
                message.remove("ExpressionAttributeNames");
            }
            Self::ForgetsResults if keeps_message => drop_where(parts, |part| sort_key(part).starts_with("CALL#")),
            Self::ForgetsAnswers
                if parts.iter().any(|part| sort_key(part).starts_with("STEP#")) && parts.iter().all(|part| part["Delete"].is_null()) =>
            {
                return Some((200, "{}".into()));
            }
            Self::IgnoresLeases => {
                for part in parts {
                    for kind in ["Update", "ConditionCheck"] {
                        without_lease(&mut part[kind]);
                    }
                }
            }
            Self::CancelsNothing if parts.len() == 2 && mentions(&parts[0]["Update"]["ConditionExpression"], ":waiting") => {
                return Some((200, "{}".into()));
            }
            Self::ForgetsDuties => {
                for part in parts.iter_mut().filter(|part| partition(part).starts_with("RUN#")) {
                    if let Some(item) = part["Put"]["Item"].as_object_mut() {
                        item.remove("due");
                        item.remove("dueAt");
                    }
                }
            }
            Self::FinishesInParts if ends_run(&parts[0]) => parts.truncate(1),
            Self::ForgetsDepth => {
                for part in parts {
                    if !part["Put"]["Item"]["chainDepth"].is_null() {
                        part["Put"]["Item"]["chainDepth"] = json!({"N": "0"});
                    }
                }
            }
            Self::ReadsToTheNewest => {
                let head = world.storage.items();
                for cursor in parts.iter_mut().filter(|part| is_cursor(part)) {
                    let space = partition(cursor).to_owned();
                    let seq =
                        head.iter().find(|item| item["PK"] == space.as_str() && item["SK"] == "HEAD").map(|item| item["seq"].to_string());
                    cursor["Update"]["ExpressionAttributeValues"][":mark"] = json!({"N": seq?});
                }
            }
            Self::ForgetsReading => drop_where(parts, is_cursor),
            Self::ReadsBackwards => {
                for cursor in parts.iter_mut().filter(|part| is_cursor(part)) {
                    cursor["Update"]["ConditionExpression"] = json!("attribute_not_exists(#left)");
                }
            }
            Self::KeepsRosterVersion => {
                for part in parts.iter_mut().filter(|part| mentions(&part["Update"]["UpdateExpression"], "SET #roster = :next")) {
                    let values = &mut part["Update"]["ExpressionAttributeValues"];
                    values[":next"] = values[":roster"].clone();
                }
            }
            Self::IgnoresMembership if keeps_message => {
                let check = &mut parts[2]["ConditionCheck"];
                check["ConditionExpression"] = json!("attribute_exists(PK)");
                prune(check);
            }
            _ => return self.change(world, parts),
        }
        None
    }

    fn change(self, world: &World, parts: &mut [Value]) -> Option<Answer> {
        plans::change(self, world, parts);
        forms::change(self, parts).or_else(|| outside::change(self, parts))
    }

    /// Whether a process dies behind a call.
    pub fn dies(self, request: &Value) -> bool {
        plans::dies(self, request)
    }

    /// Changes an answer of the table on its way back.
    pub fn after(self, operation: &str, request: &Value, answer: &mut String) {
        let changes = match self {
            Self::ForgetsTokens => operation == "TransactWriteItems",
            Self::IgnoresDepth | Self::IgnoresMembership => matches!(operation, "BatchGetItem" | "GetItem"),
            Self::RepeatsWhatBegan => operation == "Query",
            _ => false,
        };
        let Ok(mut parsed) = serde_json::from_str::<Value>(answer) else { return };
        if !changes {
            return;
        }
        match self {
            Self::ForgetsTokens => {
                for reason in parsed["CancellationReasons"].as_array_mut().into_iter().flatten() {
                    if reason["Item"]["SK"]["S"].as_str().is_some_and(|sk| !sk.starts_with("HEAD")) {
                        reason["Item"] = Value::Null;
                    }
                }
            }
            Self::RepeatsWhatBegan => outside::hide(request, &mut parsed),
            Self::IgnoresDepth => visit(&mut parsed, &mut |object| {
                if object.contains_key("maxChainDepth") {
                    object.insert("maxChainDepth".into(), json!({"N": "4"}));
                }
            }),
            _ => visit(&mut parsed, &mut |object| {
                if object.get("SK").and_then(|sk| sk["S"].as_str()).is_some_and(|sk| sk.starts_with("MEMBER#")) {
                    object.remove("left");
                }
            }),
        }
        *answer = parsed.to_string();
    }
}

/// The item that a part of a transaction is about.
fn place(part: &Value) -> &Value {
    let body = part.as_object().and_then(|part| part.values().find(|body| !body.is_null())).unwrap_or(&Value::Null);
    if body["Item"].is_null() { &body["Key"] } else { &body["Item"] }
}

fn partition(part: &Value) -> &str {
    place(part)["PK"]["S"].as_str().unwrap_or_default()
}

fn sort_key(part: &Value) -> &str {
    place(part)["SK"]["S"].as_str().unwrap_or_default()
}

fn mentions(expression: &Value, text: &str) -> bool {
    expression.as_str().is_some_and(|expression| expression.contains(text))
}

fn ends_run(part: &Value) -> bool {
    sort_key(part) == "META" && mentions(&part["Update"]["UpdateExpression"], "#finishedAt = :now")
}

fn is_cursor(part: &Value) -> bool {
    mentions(&part["Update"]["UpdateExpression"], "#cursor = :mark")
}

/// Puts something harmless in the place of some parts, so that the others stay where they are.
fn drop_where(parts: &mut [Value], which: impl Fn(&Value) -> bool) {
    for part in parts.iter_mut().filter(|part| which(part)) {
        let key = json!({"PK": place(part)["PK"], "SK": place(part)["SK"]});
        let table = part.as_object().and_then(|part| part.values().next()).map(|body| body["TableName"].clone());
        *part = json!({"ConditionCheck": {"TableName": table, "Key": key, "ConditionExpression": "attribute_not_exists(nothing)"}});
    }
}

/// Takes the check of the lease out of a write.
fn without_lease(write: &mut Value) {
    if mentions(&write["ConditionExpression"], "#lease = :mine") {
        write["ConditionExpression"] = json!("attribute_exists(PK)");
        prune(write);
    }
}

/// Names and values that no expression uses any more are an error to DynamoDB.
fn prune(write: &mut Value) {
    let text = |name: &str| write[name].as_str().unwrap_or_default().to_owned();
    let used = format!("{} {} ", text("UpdateExpression"), text("ConditionExpression"));
    let uses = |name: &str| {
        used.match_indices(name).any(|(at, _)| !used[at + name.len()..].starts_with(|char: char| char.is_ascii_alphanumeric()))
    };
    for list in ["ExpressionAttributeNames", "ExpressionAttributeValues"] {
        let Some(object) = write[list].as_object_mut() else { continue };
        object.retain(|name, _| uses(name));
        if object.is_empty()
            && let Some(write) = write.as_object_mut()
        {
            write.remove(list);
        }
    }
}

fn visit(value: &mut Value, change: &mut impl FnMut(&mut serde_json::Map<String, Value>)) {
    match value {
        Value::Object(object) => {
            change(object);
            object.values_mut().for_each(|value| visit(value, change));
        }
        Value::Array(values) => values.iter_mut().for_each(|value| visit(value, change)),
        _ => {}
    }
}
