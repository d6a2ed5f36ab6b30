//! Promise 10: a space accepts only so much in a second, one sender gets at most half of it, and
//! the last quarter is for the first message of each person. Nobody is refused who would have
//! fitted.

use std::collections::BTreeSet;

use serde_json::Value;
use smartspace_domain::Time;

use crate::{
    ledger::RefusedMessage,
    oracle::{Evidence, stored::shown},
};

/// A message counts in the second of the message before it if that is at most this much later, in
/// seconds: clocks differ.
const AHEAD: i64 = 10;
/// A refusal may be about a second that is this far away, in seconds, plus what the clock jumps.
const NEAR: i64 = 20;
/// The longest jump of the wall clock, in seconds.
const JUMP: i64 = 75;

/// A message that a second counts.
struct Counted {
    sender: String,
    bytes: usize,
    is_agent: bool,
}

/// The messages that count in one second, in their order.
struct Second {
    at: i64,
    messages: Vec<Counted>,
}

/// What a share of a second holds at most.
#[derive(Clone, Copy)]
struct Most {
    messages: usize,
    bytes: usize,
}

impl Second {
    /// The messages and bytes of some senders.
    fn sum(&self, of: impl Fn(&Counted) -> bool) -> Most {
        let some = || self.messages.iter().filter(|message| of(message));
        Most { messages: some().count(), bytes: some().map(|message| message.bytes).sum() }
    }
}

/// The shares of a second.
#[derive(Clone, Copy)]
struct Shares {
    whole: Most,
    half: Most,
    unreserved: Most,
}

impl Most {
    fn holds(self, sum: Self) -> bool {
        sum.messages <= self.messages && sum.bytes <= self.bytes
    }
}

impl Second {
    /// Whether a message would have room after the messages so far.
    fn fits(&self, shares: Shares, message: &Counted) -> bool {
        let with = |sum: Most| Most {
            messages: sum.messages + 1,
            bytes: sum.bytes + message.bytes.min(shares.half.bytes),
        };
        let own = self.sum(|other| other.sender == message.sender);
        let is_first_of_person = !message.is_agent && own.messages == 0;
        let room = if is_first_of_person { shares.whole } else { shares.unreserved };
        shares.half.holds(with(own)) && room.holds(with(self.sum(|_| true)))
    }
}

pub(super) fn a_space_accepts_only_so_much_in_a_second(evidence: &mut Evidence<'_>) {
    let parameters = &evidence.env.parameters;
    let limit = parameters.append_limit;
    let whole = Most { messages: limit.messages as usize, bytes: limit.bytes as usize };
    let half = Most { messages: whole.messages.div_ceil(2), bytes: whole.bytes.div_ceil(2) };
    let unreserved = Most {
        messages: whole.messages - whole.messages / 4,
        bytes: whole.bytes - whole.bytes / 4,
    };
    let shares = Shares { whole, half, unreserved };
    let agents: BTreeSet<String> =
        evidence.ledger.agents.iter().map(|(id, _)| id.to_string()).collect();
    let jumps = if evidence.env.parameters.fault_rates.clock > 0 { JUMP } else { 0 };
    // The process that refused and the one that stored the others may differ in both directions.
    let off = jumps + 2 * evidence.env.parameters.clock_spread.as_secs() as i64;
    let mut found = Vec::new();
    for (space, messages) in &evidence.stored.messages {
        let mut seconds: Vec<Second> = Vec::new();
        // The past of the archive was never posted.
        let past = evidence.ledger.searches.archive.as_ref().map_or(0, |archive| {
            if archive.space.to_string() == *space { archive.past.len() as u64 } else { 0 }
        });
        let is_posted = |message: &&Value| message["seq"].as_u64() > Some(past);
        for message in messages.values().filter(is_posted) {
            let counted = Counted::of(message, &agents);
            let own = created_second(message);
            match seconds.last_mut().filter(|last| (own..=own + AHEAD).contains(&last.at)) {
                Some(last) => {
                    if !last.fits(shares, &counted) {
                        found.push(format!(
                            "{space} accepted the number {} of {} in the second {}, which has no \
                             room for it",
                            message["seq"], counted.sender, last.at
                        ));
                    }
                    last.messages.push(counted);
                }
                None => seconds.push(Second { at: own, messages: vec![counted] }),
            }
        }
        // Edits and deletions count, too.
        let is_refused = |it: &&RefusedMessage| it.space == *space && !parameters.changes;
        for refused in evidence.ledger.refused_messages.iter().filter(is_refused) {
            let message = Counted {
                sender: refused.sender.to_string(),
                bytes: refused.bytes,
                is_agent: false,
            };
            let from = refused.from.min(refused.to).as_seconds() - NEAR - off;
            let to = refused.to.max(refused.from).as_seconds() + NEAR + off;
            let mut near = seconds.iter().filter(|second| (from..=to).contains(&second.at));
            if near.all(|second| second.fits(shares, &message)) {
                found.push(format!("{space} refused a message that had room: {refused:?}"));
            }
        }
    }
    for text in found {
        evidence.report(10, text);
    }
}

impl Counted {
    fn of(message: &Value, agents: &BTreeSet<String>) -> Self {
        let sender = message["sender"]["id"].as_str().unwrap_or_default().to_owned();
        Self { bytes: bytes_of(message), is_agent: agents.contains(&sender), sender }
    }
}

/// The second in which a message was created.
fn created_second(message: &Value) -> i64 {
    let created = message["createdAt"].as_str().and_then(|at| at.parse::<Time>().ok());
    created.unwrap_or_default().as_seconds()
}

/// The bytes of a message when it was stored. The output of a card may be newer, so it is left out.
fn bytes_of(message: &Value) -> usize {
    if message["card"].is_null() {
        shown(message).len()
    } else {
        message["card"]["input"].to_string().len()
    }
}
