//! What remains of deleted texts, whatever has read them: nothing. The texts have a word in common
//! that no agent repeats unless its own message or card is deleted, too. The product is killed on
//! the way.
//!
//! `SMARTSPACE_SECRETS` is the number of texts (30). A third as many, but 30 at least, are of a
//! space that is deleted, and there is one kill for 15 texts. `SMARTSPACE_SECRETS_SEED` is the seed
//! of the moments of the kills, which is printed.
//!
//! - [`scene`]: the spaces, and agents that read in every way
//! - [`texts`]: the texts, of all kinds
//! - [`records`]: compares what runs have stored with what they had stored before
//! - [`traces`]: looks for the texts in routes, files, items, prompts and frames

mod records;
mod scene;
mod texts;
mod traces;

use std::{collections::BTreeMap, env};

use serde_json::{Value, json};

use self::{records::difference, scene::Scene};
use crate::{
    crash::kills::chance::{self, Chance},
    support::{
        routes::{id, seq, triggered_run},
        waiting::{SOON, is_ended},
    },
};

/// The default number of texts.
const TEXTS: u64 = 30;
/// How many texts the deleted space has at least: with their answers as many messages as prompts
/// need to share a part, which is 25, and more.
const IN_ATTIC: u64 = 30;
/// How many texts are posted for one kill.
const TEXTS_OF_KILL: u64 = 15;

fn number(name: &str) -> Option<u64> {
    env::var(name).ok().map(|text| text.parse().expect("a whole number"))
}

#[tokio::test]
async fn no_word_of_a_deleted_text_is_left() {
    let size = number("SMARTSPACE_SECRETS").unwrap_or(TEXTS);
    let seed = number("SMARTSPACE_SECRETS_SEED").unwrap_or_else(chance::seed);
    eprintln!("SMARTSPACE_SECRETS={size} SMARTSPACE_SECRETS_SEED={seed}");
    let Some(mut scene) = Box::pin(Scene::new(Chance::new(seed))).await else { return };
    let kills = size.div_ceil(TEXTS_OF_KILL);
    Box::pin(scene.post_texts(size, kills.div_ceil(2))).await;
    Box::pin(scene.post_in_attic(size.div_ceil(3).max(IN_ATTIC))).await;
    let forks = Box::pin(scene.leave_and_fork()).await;
    let before = scene.records(forks).await;
    scene.assert_all_were_read(&before);

    let held = Box::pin(delete_all(&mut scene, kills / 2)).await;
    scene.gate.open();
    scene.stack.ended(&held, SOON).await;
    let readers = before.keys().cloned().chain([held]).collect();
    scene.stack.forgotten(&scene.word, readers, size).await;
    assert_records(&scene, &before).await;
    Box::pin(scene.assert_no_trace()).await;
}

/// Deletes all texts, half of them while the product is killed, and the other half while a run is
/// at work that has read them. Then deletes the space `Attic`. Returns the run.
async fn delete_all(scene: &mut Scene, kills: u64) -> String {
    let texts = scene.messages_with_words().await;
    let half = texts.len() / 2;
    for (number, (space, seq)) in (0..).zip(&texts[..half]) {
        let is_struck = (number + 1) * kills / half as u64 > number * kills / half as u64;
        if is_struck {
            scene.kill_while_deleting(space, *seq).await;
        }
        scene.stack.delete_message(space, *seq).await.must_be(204);
    }
    let team = scene.team.clone();
    let hold = scene.stack.post(&team, &scene.husam, "@Eve hold on").await;
    let held = triggered_run(&hold, &scene.agents.eve).unwrap();
    scene.gate.reached(1).await;
    for (space, seq) in &texts[half..] {
        scene.stack.delete_message(space, *seq).await.must_be(204);
    }
    scene.stack.delete(&format!("/v1/spaces/{}", scene.attic)).await.must_be(204);
    held
}

/// Checks that the records of runs are as before, except for the texts.
async fn assert_records(scene: &Scene, before: &BTreeMap<String, Value>) {
    for (run, before) in before {
        let after = scene.stack.run(run).await;
        if scene.has_word(&before["steps"].to_string()) {
            assert!(after["redactedAt"].is_string(), "{run} was redacted: {after}");
        }
        // It has read nothing but the deleted space.
        let is_dropped = after["steps"] == json!([]) && before["steps"] != json!([]);
        let is_of_attic = before["trigger"]["spaceId"] == scene.attic.as_str();
        assert!(!is_dropped || is_of_attic, "{run} lost its steps: {before}");
        if is_dropped || is_of_attic {
            for field in ["status", "endReason", "usage", "stepCount", "createdAt", "finishedAt"] {
                assert_eq!(after[field], before[field], "{run} {field}");
            }
            if is_dropped {
                continue;
            }
        }
        let fields = if is_of_attic { "/steps" } else { "" };
        let (was, is) = (before.pointer(fields).unwrap(), after.pointer(fields).unwrap());
        // All messages of the deleted space go, also those without the word.
        let word = if is_of_attic { "" } else { scene.word.as_str() };
        if let Some(difference) = difference(was, is, word) {
            panic!("the record of {run} differs {difference}");
        }
    }
}

impl Scene {
    /// Whether a text has the word that all deleted texts have.
    fn has_word(&self, text: &str) -> bool {
        text.contains(&self.word)
    }

    /// The records of all runs, which have ended.
    async fn records(&self, forks: Vec<String>) -> BTreeMap<String, Value> {
        let mut records = BTreeMap::new();
        let listed = self.stack.all("/v1/runs?limit=200").await;
        for run in listed.iter().map(id).chain(forks) {
            let record = self.stack.run(&run).await;
            assert!(is_ended(&record), "{record}");
            records.insert(run, record);
        }
        records
    }

    /// Checks that at least one run has read each text.
    fn assert_all_were_read(&self, records: &BTreeMap<String, Value>) {
        let all: Vec<String> = records.values().map(Value::to_string).collect();
        for text in 0..self.posted {
            let word = self.word_of(text);
            let is_read = all.iter().any(|record| record.contains(&format!("{word} ")));
            assert!(is_read, "no run has read text {text}");
        }
    }

    /// The messages of the lasting spaces that have words of the texts.
    async fn messages_with_words(&self) -> Vec<(String, u64)> {
        let mut found = Vec::new();
        for space in [&self.team, &self.board, &self.desk] {
            for message in self.stack.messages(space).await {
                if self.has_word(&message.to_string()) {
                    found.push((space.clone(), seq(&message)));
                }
            }
        }
        found
    }
}
