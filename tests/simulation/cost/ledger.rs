//! What was done, by the function that did it.

use std::collections::{BTreeMap, BTreeSet};

use crate::units::{Part, Units};

/// Something that is counted, besides calls of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum What {
    /// A call of the function.
    Invocation,
    /// Milliseconds that it took.
    Milliseconds,
    /// A request through the HTTP API.
    Http,
    /// `SendMessageBatch`; each 64 KB are one more.
    Send,
    /// `ReceiveMessage` of a poller that had something.
    Receive,
    /// `DeleteMessageBatch` of a poller.
    Delete,
    /// `ChangeMessageVisibility`.
    Visibility,
    /// A frame to a connection.
    Post,
    /// An alarm: a delayed message, or a schedule.
    Alarm,
    /// A question to a model.
    Question,
}

/// All that was done since it was last cleared.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ledger {
    /// Calls of the table, by function and operation.
    pub(crate) calls: BTreeMap<(&'static str, String), (usize, Units)>,
    /// What they wrote and read, item by item.
    pub(crate) items: BTreeMap<(&'static str, String), (usize, Units)>,
    /// Everything else.
    pub(crate) counts: BTreeMap<(&'static str, What), f64>,
    /// What must not be: calls whose units are said to be others, and jobs that failed.
    pub(crate) doubts: BTreeSet<String>,
}

impl Ledger {
    /// Counts something.
    pub(crate) fn count(&mut self, function: &'static str, what: What, count: f64) {
        *self.counts.entry((function, what)).or_default() += count;
    }

    /// Counts a call of the table, of which the table itself says how many units it took.
    pub(crate) fn call(&mut self, function: &'static str, operation: &str, parts: &[Part], said: Option<f64>) {
        let (count, units) = self.calls.entry((function, operation.to_owned())).or_default();
        *count += 1;
        let mut all = Units::default();
        for Part { what, units } in parts {
            all += *units;
            let (count, sum) = self.items.entry((function, format!("{operation} {what}"))).or_default();
            *count += 1;
            *sum += *units;
        }
        *units += all;
        if let Some(said) = said.filter(|said| (said - all.write - all.read).abs() > 0.01) {
            self.doubts.insert(format!("{function} {operation}: {said} units by the table, {all:?} by our arithmetic: {parts:?}"));
        }
    }

    /// How much there was of something, in all functions.
    pub(crate) fn all(&self, what: What) -> f64 {
        self.counts.iter().filter(|((_, of), _)| *of == what).map(|(_, count)| count).sum()
    }

    /// The units of all functions.
    pub(crate) fn units(&self) -> Units {
        let mut all = Units::default();
        for (_, units) in self.calls.values() {
            all += *units;
        }
        all
    }

    /// Functions that did anything.
    pub(crate) fn functions(&self) -> BTreeSet<&'static str> {
        self.calls.keys().map(|(function, _)| *function).chain(self.counts.keys().map(|(function, _)| *function)).collect()
    }
}
