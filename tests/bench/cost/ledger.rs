//! The counts of calls, by function.

use std::collections::{BTreeMap, BTreeSet};

use smartspace_simulation::units::{Part, Units};

/// The quantities that are counted, apart from calls of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Counter {
    /// An invocation of the function.
    Invocation,
    /// The duration of invocations in milliseconds.
    Milliseconds,
    /// A request to the HTTP API.
    Http,
    /// `SendMessageBatch`, once for each 64 KB.
    Send,
    /// `ReceiveMessage` of a poller that returned a job.
    Receive,
    /// `DeleteMessageBatch` of a poller.
    Delete,
    /// `ChangeMessageVisibility`.
    Visibility,
    /// A frame to a connection.
    Post,
    /// An alarm: a delayed message, or a schedule.
    Alarm,
    /// A request to a model.
    Question,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Ledger {
    /// Calls of the table, by function and operation.
    pub(crate) calls: BTreeMap<(&'static str, String), (usize, Units)>,
    /// The items that they wrote and read, by function and kind.
    pub(crate) items: BTreeMap<(&'static str, String), (usize, Units)>,
    /// Everything else.
    pub(crate) counts: BTreeMap<(&'static str, Counter), f64>,
    /// Findings that make the counts unreliable: calls whose units the table counts differently,
    /// and failed jobs.
    pub(crate) doubts: BTreeSet<String>,
}

impl Ledger {
    /// Adds to a count.
    pub(crate) fn count(&mut self, function: &'static str, what: Counter, count: f64) {
        *self.counts.entry((function, what)).or_default() += count;
    }

    /// Counts a call of the table. `reported` is the table's own count of its units.
    pub(crate) fn call(
        &mut self,
        function: &'static str,
        operation: &str,
        parts: &[Part],
        reported: Option<f64>,
    ) {
        let (count, units) = self.calls.entry((function, operation.to_owned())).or_default();
        *count += 1;
        let mut all = Units::default();
        for part in parts {
            let units = part.units();
            all += units;
            let what = format!("{operation} {}", part.what);
            let (count, sum) = self.items.entry((function, what)).or_default();
            *count += 1;
            *sum += units;
        }
        *units += all;
        let differs = |reported: &f64| (reported - all.write - all.read).abs() > 0.01;
        if let Some(reported) = reported.filter(differs) {
            self.doubts.insert(format!(
                "{function} {operation}: {reported} units by the table, \
                 {all:?} by our arithmetic: {parts:?}"
            ));
        }
    }

    /// A count over all functions.
    pub(crate) fn all(&self, what: Counter) -> f64 {
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

    /// The functions with any count.
    pub(crate) fn functions(&self) -> BTreeSet<&'static str> {
        self.calls
            .keys()
            .map(|(function, _)| *function)
            .chain(self.counts.keys().map(|(function, _)| *function))
            .collect()
    }
}
