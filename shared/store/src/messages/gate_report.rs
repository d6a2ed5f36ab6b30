//! The report of a space's gate: what it would have done about the last messages.

use smartspace_domain::{
    dispatch::Dispatch,
    gate::{GateReport, GateTally, Reported},
    ids::SpaceId,
    triggers::Trigger,
};

use crate::{
    Messages, Result,
    messages::{MessageRecord, Range},
    shared::message::LongDispatch,
    table::{Items, keys},
};

/// How many messages are read at once.
const PAGE: usize = 250;
/// How many of these pages are read. Messages without scores may lie between those of the report.
const PAGES: usize = 8;

impl Messages<'_> {
    /// The report over the last messages that have scores. Of a message, each dial wakes at most
    /// `max_agents`.
    pub async fn gate_report(self, space: SpaceId, max_agents: u32) -> Result<GateReport> {
        let mut tally = GateTally::new(max_agents);
        let mut before = u64::MAX;
        for _ in 0..PAGES {
            let records = self.records(space, Range::Before(before), PAGE).await?;
            let has_more = records.len() == PAGE;
            before = records.first().map_or(0, |record| record.seq);
            self.tally(space, records, &mut tally).await?;
            if tally.is_full() || !has_more {
                break;
            }
        }
        Ok(tally.report())
    }

    /// Counts messages, from the newest to the oldest.
    async fn tally(
        self,
        space: SpaceId,
        records: Vec<MessageRecord>,
        tally: &mut GateTally,
    ) -> Result<()> {
        let key = |record: &MessageRecord| keys::numbered(space, keys::WOKEN, record.seq);
        let wanted: Vec<_> = records.iter().filter(|it| it.dispatch_apart).map(key).collect();
        let mut apart = if wanted.is_empty() {
            Items::default()
        } else {
            self.store.table.get_all(&wanted).await?
        };
        for record in records.into_iter().rev() {
            let long: Option<LongDispatch> = apart.take(&key(&record))?;
            let (long, long_gate) = long.map(|long| (long.dispatch, long.gate)).unzip();
            let trigger = record.origin.as_ref().map(|origin| &origin.trigger);
            if let Some(message) = trigger.and_then(Trigger::message_id) {
                tally.answers(message, record.sender.id);
            }
            let is_woken = |entry: &&Dispatch| entry.run_id.is_some();
            let dispatch = record.dispatch.or(long).unwrap_or_default();
            if let Some(gate) = record.gate.or(long_gate.flatten()) {
                let wakes = dispatch.iter().filter(is_woken).count();
                tally.add(Reported { id: record.id, seq: record.seq, gate: &gate, wakes });
            }
        }
        Ok(())
    }
}
