//! The units of a search, and of the blocks that it needs.

use std::time::Duration;

use serde_json::{Value, json};
use smartspace_domain::ids::MessageId;
use smartspace_embedded_table::NAME;
use smartspace_simulation::units::Units;
use tokio::time::sleep;

use crate::{
    deployment::Deployment,
    ledger::Ledger,
    locked,
    report::Out,
    room::{Plan, Room},
};

/// What people write in a chat: 55 characters on average.
const WORDS_OF_MESSAGE: u64 = 9;
/// How many different words there are.
const WORDS: f64 = 20_000.0;
/// The pause between two searches, while a job builds blocks.
const PAUSE: Duration = Duration::from_secs(70);
/// How many searches it takes at most until all blocks are built.
const SEARCHES: usize = 50;

const HEADER: &str = "\
| messages | read units: blocks | messages | hits | all | calls \
| building: write units | read units |
|---|---|---|---|---|---|---|---|";

/// Writes a row for each number of messages.
pub(crate) async fn show(plan: Plan<'_>, numbers: &[u64], write: Out<'_>) -> Result<(), String> {
    write(HEADER.into())?;
    for messages in numbers {
        let room = Room::make(plan).await?;
        room.say("first").await?;
        fill(&room.deployment, room.parties().1, *messages)?;
        let building = build(&room).await?;
        search(&room).await?;
        *locked(&room.deployment.ledger) = Ledger::default();
        search(&room).await?;
        let ledger = locked(&room.deployment.ledger).clone();
        let read = |is_it: fn(&str) -> bool| -> f64 {
            let items = ledger.items.iter().filter(|((_, what), _)| is_it(what));
            items.map(|(_, (_, units))| units.read).sum()
        };
        let calls: usize = ledger.calls.values().map(|(count, _)| count).sum();
        write(format!(
            "| {messages} | {:.0} | {:.0} | {:.0} | {:.0} | {calls} | {:.0} | {:.0} |",
            read(|what| what.contains("FIND")),
            read(|what| what.starts_with("Query") && what.contains("MSG")),
            read(|what| what.starts_with("BatchGetItem") && what.contains("MSG")),
            ledger.units().read,
            building.write,
            building.read,
        ))?;
        for doubt in &ledger.doubts {
            write(format!("DOUBT {doubt}"))?;
        }
    }
    Ok(())
}

/// Searches for two frequent words. Returns whether the answer is complete.
async fn search(room: &Room) -> Result<bool, String> {
    let (person, space) = room.parties();
    let path = format!("/v1/search?q=word20+word30&limit=10&spaceId={space}");
    let answer = room.deployment.get(person, &path).await?;
    Ok(answer["incomplete"] == false)
}

/// Searches until all blocks are built. Returns the units of the jobs.
async fn build(room: &Room) -> Result<Units, String> {
    *locked(&room.deployment.ledger) = Ledger::default();
    for _ in 0..SEARCHES {
        let is_complete = search(room).await?;
        room.deployment.quiet().await;
        if is_complete {
            let ledger = locked(&room.deployment.ledger);
            let mut units = Units::default();
            for ((function, _), (_, used)) in &ledger.calls {
                if *function != "api" {
                    units += *used;
                }
            }
            return Ok(units);
        }
        sleep(PAUSE).await;
    }
    Err(format!("no search was complete after {SEARCHES} searches"))
}

/// Writes copies of the first message into the table, up to the number `last`.
fn fill(deployment: &Deployment, space: &str, last: u64) -> Result<(), String> {
    let pk = json!({"S": format!("SPACE#{space}")});
    let first = json!({"PK": pk, "SK": {"S": format!("MSG#{:012}", 1)}});
    let mut item = call(deployment, "GetItem", json!({"Key": first}))?["Item"].take();
    for seq in 2..=last {
        item["SK"] = json!({"S": format!("MSG#{seq:012}")});
        item["seq"] = json!({"N": seq.to_string()});
        item["id"] = json!({"S": MessageId::new(deployment.now(), u128::from(seq)).to_string()});
        item["text"] = json!({"S": text(seq)});
        call(deployment, "PutItem", json!({"Item": item}))?;
    }
    let update = json!({
        "Key": {"PK": pk, "SK": {"S": "HEAD"}},
        "UpdateExpression": "SET #seq = :last",
        "ExpressionAttributeNames": {"#seq": "seq"},
        "ExpressionAttributeValues": {":last": {"N": last.to_string()}},
    });
    call(deployment, "UpdateItem", update).map(drop)
}

/// A text whose words come as often as in a natural language (Zipf).
fn text(seq: u64) -> String {
    let word = |place: u64| {
        let random = (seq * WORDS_OF_MESSAGE + place + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let part = random as f64 / f64::from(u32::MAX);
        format!("word{}", (part * WORDS.ln()).exp() as u64)
    };
    (0..WORDS_OF_MESSAGE).map(word).collect::<Vec<_>>().join(" ")
}

/// Calls the table itself, without counting.
fn call(deployment: &Deployment, operation: &str, mut request: Value) -> Result<Value, String> {
    request["TableName"] = NAME.into();
    let (status, answer) = deployment.table.answer(operation, request.to_string().as_bytes());
    if status == 200 {
        serde_json::from_str(&answer).map_err(|error| error.to_string())
    } else {
        Err(format!("{operation}: {status} {answer}"))
    }
}
