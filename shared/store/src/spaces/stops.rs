//! Stops: of a chain in a space, or of everything in it.
//!
//! One transaction stores what is stopped, with a line that says so, and raises the version of the
//! roster: an append at the same moment decides again. The line is due until the active runs are
//! canceled.

use std::time::Duration;

use smartspace_domain::{
    Time,
    access::Caller,
    ids::{ChainId, LineId, SpaceId},
    system_lines::{LineKind, SystemLine},
};

use crate::{
    Error, Result, Spaces,
    shared::space::{LineAt, SpaceRecord, StoppedChain},
    spaces::{
        SpaceOverview,
        lines::{LineRecord, sender_of},
        members::{TRIES, being_changed, raise_roster},
        rosters::Roster,
    },
    table::{keys, write::Write},
};

/// How long a space remembers a stopped chain: longer than a run waits for people.
const REMEMBERED: Duration = Duration::from_hours(8 * 24);
/// How many stopped chains a space remembers.
const CHAINS: usize = 20;

/// What is to be stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopping {
    /// The chain of the message with this number.
    Chain { chain: ChainId, seq: u64 },
    /// All that the space does: it is paused.
    Space,
}

/// A stop that a caller asks for.
#[derive(Clone, Copy, Debug)]
pub struct NewStop {
    pub space: SpaceId,
    pub what: Stopping,
    pub by: Caller,
    /// The id of its line, made before the first try.
    pub id: LineId,
}

/// A stop, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    pub record: LineRecord,
    /// Whether this call has stored it. Otherwise the same was stopped before.
    pub is_new: bool,
}

impl NewStop {
    /// The line of an earlier stop that this one repeats.
    fn before(&self, space: &SpaceRecord, now: Time) -> Option<LineAt> {
        match self.what {
            Stopping::Chain { chain, .. } => {
                let mut stopped = space.stopped_chains.iter();
                stopped.find(|it| it.chain == chain && it.until > now).map(|it| it.line)
            }
            Stopping::Space => space.stop.filter(|_| space.settings.paused),
        }
    }

    fn record(&self, roster: &Roster, now: Time) -> LineRecord {
        let by = sender_of(roster, self.by);
        let line = |kind| SystemLine::new(self.id, roster.head.seq, now, by, kind);
        match self.what {
            Stopping::Chain { chain, seq } => {
                let line = SystemLine { seq: Some(seq), ..line(LineKind::ChainStopped) };
                let everywhere = self.by == Caller::Operator;
                LineRecord::of_stop(line, Some(chain), everywhere, now)
            }
            Stopping::Space => LineRecord::of_stop(line(LineKind::Stopped), None, false, now),
        }
    }

    /// The change of the space that remembers the stop.
    fn remembered(&self, space: &SpaceRecord, line: LineAt, now: Time) -> Result<Write> {
        let meta = keys::space_meta(self.space);
        match self.what {
            Stopping::Chain { chain, .. } => {
                let is_valid = |it: &&StoppedChain| it.until > now && it.chain != chain;
                let mut stopped: Vec<_> =
                    space.stopped_chains.iter().filter(is_valid).copied().collect();
                stopped.drain(..stopped.len().saturating_sub(CHAINS - 1));
                stopped.push(StoppedChain { chain, until: now + REMEMBERED, line });
                Write::update(meta, "SET #stoppedChains = :stopped")
                    .when("attribute_not_exists(#deleted)")
                    .value(":stopped", stopped)
            }
            Stopping::Space => {
                let change = "SET #settings.#paused = :yes, #stop = :line, #rev = :next";
                Write::update(meta, change)
                    .when("#rev = :rev AND attribute_not_exists(#deleted)")
                    .value(":yes", true)?
                    .value(":line", line)?
                    .value(":rev", space.rev)?
                    .value(":next", space.rev + 1)
            }
        }
    }
}

impl Spaces<'_> {
    /// Stores a stop if `may` allows it for the roster at that moment, unless the same was stopped
    /// before.
    pub async fn stop(
        self,
        new: &NewStop,
        may: impl Fn(&Roster) -> Result<()> + Send,
        now: Time,
    ) -> Result<Stored> {
        let members = self.store.members();
        for tries in 0..TRIES {
            let (roster, space) = members.roster_and_record(new.space).await?;
            may(&roster)?;
            if let Some(at) = new.before(&space, now) {
                let record = self.line(new.space, at).await?.ok_or_else(no_line)?;
                // Our own first try may have done it, and its answer was lost.
                return Ok(Stored { record, is_new: at.id == new.id });
            }
            let record = new.record(&roster, now);
            let settings = &space.settings;
            let overview = SpaceOverview::of(settings, roster.members.iter());
            let overview = overview.after(Some(&record.line));
            let writes = [
                raise_roster(new.space, &roster)?,
                Write::put(keys::space_overview(new.space), &overview)?,
                new.remembered(&space, record.place(), now)?,
                record.write(new.space)?,
            ];
            if members.change_roster(&writes).await?.is_none() {
                return Ok(Stored { record, is_new: true });
            }
            self.store.table.pause(tries).await;
        }
        Err(being_changed())
    }

    /// The runs of a stop are canceled.
    pub async fn stop_is_done(self, space: SpaceId, at: LineAt) -> Result<()> {
        let line = keys::line(space, at.after, at.id);
        let write = Write::update(line, "REMOVE #due, #dueAt, #dueCount");
        self.store.table.write_where_it_holds(write).await
    }
}

fn no_line() -> Error {
    Error::Internal("a stop has no line".into())
}
