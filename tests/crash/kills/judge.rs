//! The checks at the end: what must be true however often the process was killed.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fmt,
};

use serde_json::Value;

use crate::{
    crash::kills::{
        talker::Done,
        town::{Town, answer_to, remark_on},
    },
    support::{
        client::Client,
        routes::{id, seq, text},
        waiting::is_ended,
    },
};

/// A run that was killed in this many attempts may fail.
const ATTEMPTS: u64 = 5;

/// The numbers of what was checked.
#[derive(Default)]
pub(crate) struct Counts {
    messages: usize,
    runs: usize,
    resumed_runs: usize,
    failed_runs: usize,
    of_people: usize,
    repeated_requests: usize,
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { messages, runs, resumed_runs, failed_runs, of_people, repeated_requests } = self;
        write!(
            f,
            "{messages} messages ({of_people} from people, {repeated_requests} requests repeated), \
             {runs} runs ({resumed_runs} resumed, {failed_runs} failed after {ATTEMPTS} attempts)"
        )
    }
}

/// Compares the stored messages and runs with what the clients sent and received.
pub(crate) async fn check(town: &Town, client: &Client, done: Vec<Done>) -> Counts {
    let mut counts = Counts {
        repeated_requests: done.iter().map(|done| done.repeated).sum(),
        ..Counts::default()
    };
    for space in &town.spaces {
        client.quiet(&space.id).await;
        let messages = client.messages(&space.id).await;
        let runs = client.runs_of(&space.id).await;
        let stored = Stored { space: &space.id, messages: &messages, runs: &runs };
        stored.check_order();
        stored.check_accepted(&done);
        stored.check_seen(&done);
        let unanswered = stored.check_runs();
        stored.check_answers(&unanswered);
        counts.messages += messages.len();
        counts.runs += runs.len();
        counts.resumed_runs += runs.iter().filter(|run| run["attempt"].as_u64() > Some(1)).count();
        counts.failed_runs += unanswered.len();
        counts.of_people += messages.iter().filter(|message| is_of_person(message)).count();
    }
    counts
}

/// The stored messages and runs of a space.
struct Stored<'a> {
    space: &'a str,
    messages: &'a [Value],
    runs: &'a [Value],
}

impl Stored<'_> {
    fn check_order(&self) {
        let seqs: Vec<u64> = self.messages.iter().map(seq).collect();
        let expected: Vec<u64> = (1..=self.messages.len() as u64).collect();
        assert_eq!(seqs, expected, "the order has gaps");
        let ids: BTreeSet<String> = self.messages.iter().map(id).collect();
        assert_eq!(ids.len(), self.messages.len(), "a message is stored twice");
    }

    /// Every accepted message is stored at its position, and no message of a person is stored
    /// twice.
    fn check_accepted(&self, done: &[Done]) {
        let stored: HashMap<String, &Value> =
            self.messages.iter().map(|message| (id(message), message)).collect();
        for accepted in done
            .iter()
            .flat_map(|done| &done.accepted)
            .filter(|accepted| accepted.space == self.space)
        {
            let message = stored.get(&accepted.id).unwrap_or_else(|| panic!("lost: {accepted:?}"));
            assert_eq!(
                (text(message), seq(message)),
                (accepted.text.as_str(), accepted.seq),
                "{accepted:?}"
            );
        }
        // Each text has its own idempotency key, and was sent until it was accepted.
        let texts: Vec<&str> =
            self.messages.iter().filter(|message| is_of_person(message)).map(text).collect();
        let distinct: BTreeSet<&str> = texts.iter().copied().collect();
        assert_eq!(texts.len(), distinct.len(), "a key made two messages: {texts:#?}");
        let known: BTreeSet<&str> = done
            .iter()
            .flat_map(|done| &done.accepted)
            .map(|accepted| accepted.text.as_str())
            .collect();
        let unknown: Vec<_> = distinct
            .iter()
            .filter(|text| !known.contains(*text) && !text.starts_with("are you there"))
            .collect();
        // Only the client on a socket may have stopped before its last message was accepted.
        assert!(unknown.len() <= 1, "stored, but never accepted: {unknown:?}");
    }

    /// The sockets of each client showed exactly the stored messages.
    fn check_seen(&self, done: &[Done]) {
        for (_, seen) in done
            .iter()
            .filter_map(|done| done.seen.as_ref())
            .filter(|(space, _)| space == self.space)
        {
            let shown: Vec<(u64, String, &str)> =
                seen.values().map(|message| (seq(message), id(message), text(message))).collect();
            let stored: Vec<(u64, String, &str)> = self
                .messages
                .iter()
                .map(|message| (seq(message), id(message), text(message)))
                .collect();
            assert_eq!(shown, stored, "a client saw other messages");
        }
    }

    /// Each dispatch that triggers an agent has exactly one run, and there is no other run. All
    /// runs completed, or failed after too many attempts. Returns the messages of the failed ones.
    fn check_runs(&self) -> BTreeSet<String> {
        let mut triggered: Vec<(String, String)> = Vec::new();
        for message in self.messages {
            let decisions =
                message["dispatch"].as_array().unwrap_or_else(|| panic!("no dispatch: {message}"));
            triggered.extend(
                decisions
                    .iter()
                    .filter_map(|one| Some((one["runId"].as_str()?.to_owned(), id(message)))),
            );
        }
        let mut runs: Vec<(String, String)> = self
            .runs
            .iter()
            .map(|run| (id(run), run["trigger"]["messageId"].as_str().unwrap().to_owned()))
            .collect();
        triggered.sort();
        runs.sort();
        assert_eq!(runs, triggered, "runs do not match the dispatch decisions");
        let mut unanswered = BTreeSet::new();
        for run in self.runs {
            assert!(is_ended(run), "unfinished: {run}");
            if run["status"] == "failed"
                && run["error"]["code"] == "attempts"
                && run["attempt"].as_u64() >= Some(ATTEMPTS)
            {
                unanswered.insert(run["trigger"]["messageId"].as_str().unwrap().to_owned());
            } else {
                assert_eq!(
                    (run["status"].as_str(), &run["error"]),
                    (Some("completed"), &Value::Null),
                    "{run}"
                );
            }
        }
        unanswered
    }

    /// Each message of a person has one answer, and each answer has one remark. The messages in
    /// `unanswered` may have none.
    fn check_answers(&self, unanswered: &BTreeSet<String>) {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for message in self.messages {
            *counts.entry(text(message)).or_default() += 1;
        }
        let runs: BTreeSet<&str> =
            self.messages.iter().filter_map(|message| message["runId"].as_str()).collect();
        let of_agents = self.messages.iter().filter(|message| !is_of_person(message)).count();
        assert_eq!(runs.len(), of_agents, "a run posted two messages");
        let mut expected = 0;
        for message in self.messages {
            let reply = match text(message) {
                words if is_of_person(message) => answer_to(words),
                words if words.starts_with(&answer_to("")) => remark_on(words),
                _ => continue,
            };
            let times = counts.get(reply.as_str()).copied().unwrap_or(0);
            let may_be_missing = unanswered.contains(&id(message));
            assert!(
                times == 1 || (times == 0 && may_be_missing),
                "{times} replies {reply:?} to {message}"
            );
            expected += times;
        }
        assert_eq!(of_agents, expected, "an agent posted a message that is no reply");
    }
}

fn is_of_person(message: &Value) -> bool {
    message["sender"]["type"] == "human"
}
