//! Conversations with models that obey their prompt to the letter and know nothing else, in each
//! mode of busy agents. What such a model does wrong, the prompt tells it to do.
//!
//! [`task`] and [`reading`] read the text of a request, [`obedience`] acts on it, and [`model`]
//! takes a random time for it. [`scene`] is the deployment, and [`conversations`] are what people
//! and agents talk about.

mod approvals;
mod conversations;
mod model;
mod obedience;
mod reading;
pub(crate) mod scene;
mod task;

use std::{collections::BTreeMap, time::Duration};

use futures::future::join_all;
use serde_json::{Value, json};
use smartspace_simulation::chance::Chance;
use tokio::time::sleep;

use self::{
    conversations::{Conversation, Event},
    scene::{Scene, text},
};

/// The longest time between two messages of people.
const BETWEEN: Duration = Duration::from_millis(1_500);

/// In place of a mode: the agents have all defaults.
const DEFAULTS: &str = "defaults";

/// What agents have said in a conversation.
struct Talk {
    texts: Vec<String>,
    /// Whether the runs that the last message has woken are completed.
    is_newest_read: bool,
}

/// Plays a conversation whose agents have this mode.
async fn play(scene: &Scene, conversation: &Conversation, mode: &str, odds: &Chance) -> Talk {
    let mut members = Vec::new();
    let mut people = BTreeMap::new();
    for name in conversation.people() {
        let person = scene.person(name).await;
        members.push(person.clone());
        people.insert(name, person);
    }
    for (name, task) in conversation.agents {
        let deploy = json!({
            "name": "deploy", "description": "Deploys.", "inputSchema": {"type": "object"},
            "execution": {"type": "static", "output": {"deployed": true}},
        });
        let more = if mode == DEFAULTS {
            json!({"loop": {}, "tools": [deploy]})
        } else {
            json!({"concurrency": {"mode": mode}, "tools": [deploy]})
        };
        members.push(scene.agent(name, task, more).await);
    }
    let space = scene.space(conversation.name, &members, conversation.policy).await;
    for event in conversation.events {
        match event {
            Event::Says(person, words) => {
                sleep(odds.time(conversation.name, Duration::ZERO, BETWEEN)).await;
                scene.post(&space, &people[person], words).await;
            }
            Event::Hears(words) => {
                scene.until(&space, |message| text(message) == *words).await;
            }
        }
    }
    let runs = scene.quiet(&space).await;
    let messages = scene.messages(&space).await;
    let of_agents = messages.iter().filter(|message| message["sender"]["type"] == "agent");
    let newest = messages.last().and_then(|message| message["dispatch"].as_array());
    let is_completed = |one: &Value| {
        let run = runs.iter().find(|run| run["id"] == one["runId"]);
        run.is_none_or(|run| run["status"] == "completed")
    };
    Talk {
        texts: of_agents.map(|message| text(message).to_owned()).collect(),
        is_newest_read: newest.into_iter().flatten().all(is_completed),
    }
}

/// What is wrong with what agents have posted under this mode.
fn fault(conversation: &Conversation, mode: &str, said: &Talk) -> Option<String> {
    let times = |text: &str| said.texts.iter().filter(|it| *it == text).count();
    let counts: Vec<usize> = conversation.expected.iter().map(|text| times(text)).collect();
    let has_other = said.texts.len() != counts.iter().sum::<usize>();
    let is_right = match mode {
        "queue" | "coalesce" | DEFAULTS => counts.iter().all(|count| *count == 1),
        "parallel" => counts.iter().all(|count| *count >= 1),
        _ => {
            let answers_newest = match conversation.newest {
                Some(text) => times(text) >= 1,
                None => !said.texts.is_empty(),
            };
            said.is_newest_read && answers_newest
        }
    };
    (has_other || !is_right).then(|| format!("{mode}, {}: {:?}", conversation.name, said.texts))
}

/// Plays conversations at the same time, each with its own agents. Returns what goes wrong.
fn faults(
    mode: &str,
    seed: u64,
    conversations: &[&Conversation],
    without: &'static [&'static str],
) -> Vec<String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    let said = runtime.block_on(async {
        let scene = Scene::new(seed, without).await;
        let odds = Chance::new(seed, [].into());
        let plays = conversations.iter().map(|it| play(&scene, it, mode, &odds));
        let said = join_all(plays).await;
        scene.end();
        said
    });
    let played = conversations.iter().zip(said);
    let faults = played.filter_map(|(it, said)| fault(it, mode, &said));
    faults.map(|fault| format!("seed {seed}, {fault}")).collect()
}

/// Plays each conversation, and those with five answers more often.
fn faults_in_some(mode: &str) -> Vec<String> {
    let five = conversations::with_five_answers();
    [faults(mode, 1, &conversations::all(), &[]), faults(mode, 2, &five, &[])].concat()
}

#[test]
fn readers_answer_everything_once_in_a_queue() {
    assert_eq!(faults_in_some("queue"), [""; 0]);
}

#[test]
fn readers_answer_everything_once_if_messages_join_a_run() {
    assert_eq!(faults_in_some("coalesce"), [""; 0]);
}

#[test]
fn readers_with_all_defaults_answer_everything_once() {
    assert_eq!(faults_in_some(DEFAULTS), [""; 0]);
}

#[test]
fn readers_answer_everything_side_by_side() {
    assert_eq!(faults_in_some("parallel"), [""; 0]);
}

#[test]
fn readers_answer_the_latest_message() {
    assert_eq!(faults_in_some("latest"), [""; 0]);
}

/// Plays each conversation a hundred times.
fn faults_in_a_hundred_plays(mode: &str) -> Vec<String> {
    let all = conversations::all();
    (101..=200).flat_map(|seed| faults(mode, seed, &all, &[])).collect()
}

#[test]
#[ignore = "by hand and in the nightly job: tests/run --all"]
fn a_hundred_plays_in_a_queue() {
    assert_eq!(faults_in_a_hundred_plays("queue"), [""; 0]);
}

#[test]
#[ignore = "by hand and in the nightly job: tests/run --all"]
fn a_hundred_plays_in_which_messages_join_a_run() {
    assert_eq!(faults_in_a_hundred_plays("coalesce"), [""; 0]);
}

#[test]
#[ignore = "by hand and in the nightly job: tests/run --all"]
fn a_hundred_plays_with_all_defaults() {
    assert_eq!(faults_in_a_hundred_plays(DEFAULTS), [""; 0]);
}

#[test]
#[ignore = "by hand and in the nightly job: tests/run --all"]
fn a_hundred_plays_side_by_side() {
    assert_eq!(faults_in_a_hundred_plays("parallel"), [""; 0]);
}

#[test]
#[ignore = "by hand and in the nightly job: tests/run --all"]
fn a_hundred_plays_of_the_latest_message() {
    assert_eq!(faults_in_a_hundred_plays("latest"), [""; 0]);
}

/// Without one of these sentences readers do something wrong: it is needed, and the plays notice
/// what it prevents.
#[test]
fn readers_without_a_sentence_of_the_prompt_fail() {
    let marks: &[&str] = &["[NEW] ", ", not answered yet"];
    let unanswered: &[&str] = &[", not answered yet"];
    let others: &[&str] = &["Other runs of yours deal with other messages; you deal with TRIGGER."];
    let joined: &[&str] = &["Answer these messages, too: "];
    let speaks: &[&str] = &["Only send_message speaks"];
    // Either of them prevents a second answer.
    let once: &[&str] = &[
        "If one of these is for you, another run of yours answers it:",
        "Lines of `You` are what you said: do not say it again.",
    ];
    let five = conversations::with_five_answers();
    for (mode, conversation, without) in [
        ("queue", five[0], marks),
        ("queue", five[1], unanswered),
        ("queue", five[0], once),
        ("parallel", five[0], others),
        ("coalesce", five[0], joined),
        ("latest", five[2], speaks),
    ] {
        let is_wrong = |seed| !faults(mode, seed, &[conversation], without).is_empty();
        assert!((1..=12).any(is_wrong), "{mode}, {} without {without:?}", conversation.name);
    }
}
