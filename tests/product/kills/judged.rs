//! What must be true in the end, however often the process died.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fmt,
};

use serde_json::Value;

use super::load::{Done, Town, answer_to, remark_on};
use crate::{
    client::Client,
    routes::{id, seq, text},
    waiting::is_ended,
};

/// A run that was begun so often, and killed each time, is given up: that is promised, too.
const ATTEMPTS: u64 = 5;

/// What was found, in numbers.
#[derive(Default)]
pub(super) struct Judged {
    messages: usize,
    runs: usize,
    repeated_runs: usize,
    given_up: usize,
    accepted: usize,
    repeated_requests: usize,
}

impl fmt::Display for Judged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { messages, runs, repeated_runs, given_up, accepted, repeated_requests } = self;
        write!(
            f,
            "{messages} messages ({accepted} of them people's, {repeated_requests} requests repeated), {runs} runs \
             ({repeated_runs} begun again, {given_up} given up)"
        )
    }
}

/// Compares what is kept with what was promised.
pub(super) async fn judge(town: &Town, client: &Client, done: Vec<Done>) -> Judged {
    let mut judged = Judged { repeated_requests: done.iter().map(|done| done.repeated).sum(), ..Judged::default() };
    for space in &town.spaces {
        client.quiet(&space.id).await;
        let (messages, runs) = (client.messages(&space.id).await, client.runs_of(&space.id).await);
        let kept = Kept { space: &space.id, messages: &messages, runs: &runs };
        kept.check_order();
        kept.check_accepted(&done);
        kept.check_seen(&done);
        let given_up = kept.check_runs();
        kept.check_answers(&given_up);
        judged.messages += messages.len();
        judged.runs += runs.len();
        judged.repeated_runs += runs.iter().filter(|run| run["attempt"].as_u64() > Some(1)).count();
        judged.given_up += given_up.len();
        judged.accepted += messages.iter().filter(|message| is_persons(message)).count();
    }
    judged
}

/// What is kept of a space.
struct Kept<'a> {
    space: &'a str,
    messages: &'a [Value],
    runs: &'a [Value],
}

impl Kept<'_> {
    fn check_order(&self) {
        let places: Vec<u64> = self.messages.iter().map(seq).collect();
        assert_eq!(places, (1..=self.messages.len() as u64).collect::<Vec<_>>(), "the order has gaps");
        let ids: BTreeSet<String> = self.messages.iter().map(id).collect();
        assert_eq!(ids.len(), self.messages.len(), "a message stands twice");
    }

    /// Every message that a client was told of is kept, where it was told; and no person's message is kept twice.
    fn check_accepted(&self, done: &[Done]) {
        let kept: HashMap<String, &Value> = self.messages.iter().map(|message| (id(message), message)).collect();
        for accepted in done.iter().flat_map(|done| &done.accepted).filter(|accepted| accepted.space == self.space) {
            let message = kept.get(&accepted.id).unwrap_or_else(|| panic!("lost: {accepted:?}"));
            assert_eq!((text(message), seq(message)), (accepted.text.as_str(), accepted.seq), "{accepted:?}");
        }
        // Each text was sent under a key of its own, and repeated until it was answered.
        let said: Vec<&str> = self.messages.iter().filter(|message| is_persons(message)).map(text).collect();
        let distinct: BTreeSet<&str> = said.iter().copied().collect();
        assert_eq!(said.len(), distinct.len(), "a key was kept twice: {said:#?}");
        let known: BTreeSet<&str> = done.iter().flat_map(|done| &done.accepted).map(|accepted| accepted.text.as_str()).collect();
        let unknown: Vec<_> = distinct.iter().filter(|text| !known.contains(*text) && !text.starts_with("are you there")).collect();
        // Who was in the middle of a message when everybody stopped speaks over a socket: at most one.
        assert!(unknown.len() <= 1, "nobody was told of {unknown:?}");
    }

    /// What each client's sockets showed is what is kept.
    fn check_seen(&self, done: &[Done]) {
        for (_, seen) in done.iter().filter_map(|done| done.seen.as_ref()).filter(|(space, _)| space == self.space) {
            let shown: Vec<(u64, String, &str)> = seen.values().map(|message| (seq(message), id(message), text(message))).collect();
            let kept: Vec<(u64, String, &str)> = self.messages.iter().map(|message| (seq(message), id(message), text(message))).collect();
            assert_eq!(shown, kept, "a client sees something else");
        }
    }

    /// Each decision to wake has its one run, and no run is without; all have ended well. Gives those that were given up.
    fn check_runs(&self) -> BTreeSet<String> {
        let mut woken: Vec<(String, String)> = Vec::new();
        for message in self.messages {
            let decisions = message["dispatch"].as_array().unwrap_or_else(|| panic!("undecided: {message}"));
            woken.extend(decisions.iter().filter_map(|one| Some((one["runId"].as_str()?.to_owned(), id(message)))));
        }
        let mut runs: Vec<(String, String)> =
            self.runs.iter().map(|run| (id(run), run["trigger"]["messageId"].as_str().unwrap().to_owned())).collect();
        woken.sort();
        runs.sort();
        assert_eq!(runs, woken, "runs, and what woke them");
        let mut given_up = BTreeSet::new();
        for run in self.runs {
            assert!(is_ended(run), "unfinished: {run}");
            if run["status"] == "failed" && run["error"]["code"] == "attempts" && run["attempt"].as_u64() >= Some(ATTEMPTS) {
                given_up.insert(run["trigger"]["messageId"].as_str().unwrap().to_owned());
            } else {
                assert_eq!((run["status"].as_str(), &run["error"]), (Some("completed"), &Value::Null), "{run}");
            }
        }
        given_up
    }

    /// Each person's message is answered once, and each answer is remarked on once.
    fn check_answers(&self, given_up: &BTreeSet<String>) {
        let mut said: BTreeMap<&str, usize> = BTreeMap::new();
        for message in self.messages {
            *said.entry(text(message)).or_default() += 1;
        }
        let runs: BTreeSet<&str> = self.messages.iter().filter_map(|message| message["runId"].as_str()).collect();
        let agents = self.messages.iter().filter(|message| !is_persons(message)).count();
        assert_eq!(runs.len(), agents, "a run spoke twice");
        let mut expected = 0;
        for message in self.messages {
            let reply = match text(message) {
                words if is_persons(message) => answer_to(words),
                words if words.starts_with(&answer_to("")) => remark_on(words),
                _ => continue,
            };
            let times = said.get(reply.as_str()).copied().unwrap_or(0);
            let may_be_missing = given_up.contains(&id(message));
            assert!(times == 1 || (times == 0 && may_be_missing), "{times} times {reply:?}, in reply to {message}");
            expected += times;
        }
        assert_eq!(agents, expected, "somebody said something that nobody asked for");
    }
}

fn is_persons(message: &Value) -> bool {
    message["sender"]["type"] == "human"
}
