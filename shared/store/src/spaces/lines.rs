//! Lines between the messages of a space: what has changed in it. Each is written with its change.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use smartspace_domain::{
    Time,
    access::Caller,
    ids::{ChainId, LineId, SpaceId},
    limits::due,
    messages::Sender,
    spaces::{SpaceSettings, TriggerPolicy},
    system_lines::{LineKind, SystemLine},
};

use crate::{
    Result, Spaces,
    shared::space::LineAt,
    spaces::rosters::{MemberRecord, Roster},
    table::{Query, keys, read, write::Write},
};

/// The largest number of a message, for keys.
const LAST_SEQ: u64 = 999_999_999_999;

/// A line, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LineRecord {
    /// The line, as the API shows it.
    #[serde(flatten)]
    pub line: SystemLine,
    /// The chain that was stopped, if the line is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chain: Option<ChainId>,
    /// Whether the runs of the chain are canceled in all spaces.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub everywhere: bool,
    /// The partition in the index of due items, until the runs of a stop are canceled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due: Option<String>,
    /// When it is due.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due_at: Option<Time>,
}

impl From<SystemLine> for LineRecord {
    /// A line after which nothing has to be done.
    fn from(line: SystemLine) -> Self {
        Self { line, chain: None, everywhere: false, due: None, due_at: None }
    }
}

impl LineRecord {
    /// The line of a stop, whose runs are to be canceled from `now` on.
    pub(crate) fn of_stop(
        line: SystemLine,
        chain: Option<ChainId>,
        everywhere: bool,
        now: Time,
    ) -> Self {
        let due = Some(keys::due(line.id.part_of(keys::DUE_PARTS)));
        Self { line, chain, everywhere, due, due_at: Some(now + due::QUEUED) }
    }

    /// Its place in its space.
    pub fn place(&self) -> LineAt {
        LineAt { after: self.line.after_seq, id: self.line.id }
    }

    /// The write of the line of a change.
    pub(crate) fn write(&self, space: SpaceId) -> Result<Write> {
        Write::put(keys::line(space, self.line.after_seq, self.line.id), self)
    }
}

/// The change of a roster or of settings that lines report.
#[derive(Clone, Copy, Debug)]
pub struct Reported<'a> {
    pub space: SpaceId,
    /// The roster before the change.
    pub roster: &'a Roster,
    pub by: Caller,
    pub at: Time,
}

impl Reported<'_> {
    fn line(&self, index: usize, kind: LineKind) -> SystemLine {
        let Self { space, roster, by, at } = *self;
        let id = LineId::of_change(space, roster.head.roster + 1, index, at);
        SystemLine::new(id, roster.head.seq, at, sender_of(roster, by), kind)
    }

    /// Reports that a member joined or left.
    pub(super) fn member(&self, kind: LineKind, member: Sender) -> SystemLine {
        // Who joins by itself is not in the roster yet.
        let is_itself = self.by == Caller::Entity(member.id);
        let line = self.line(0, kind);
        let by = if is_itself { Some(member.clone()) } else { line.by.clone() };
        SystemLine { by, member: Some(member), ..line }
    }

    /// Reports the new name of a member, which counts as its own change.
    pub(super) fn renamed(&self, before: &str, member: Sender) -> SystemLine {
        let (from, to) = (Some(before.to_owned()), Some(member.name.clone()));
        let by = Some(member.clone());
        let line = self.line(0, LineKind::Renamed);
        SystemLine { by, member: Some(member), from, to, ..line }
    }

    /// Reports what others see of a change of settings. `seq` is the number of the last message.
    pub(super) fn settings(
        &self,
        before: &SpaceSettings,
        after: &SpaceSettings,
        seq: u64,
    ) -> Vec<SystemLine> {
        let mut changes = Vec::new();
        if before.name != after.name {
            let names = (before.name.clone(), after.name.clone());
            changes.push((LineKind::Renamed, Some(names)));
        }
        if before.trigger_policy != after.trigger_policy {
            let policies = (policy(before.trigger_policy), policy(after.trigger_policy));
            changes.push((LineKind::PolicyChanged, Some(policies)));
        }
        if before.paused != after.paused {
            let kind = if after.paused { LineKind::Paused } else { LineKind::Resumed };
            changes.push((kind, None));
        }
        let lines = changes.into_iter().enumerate().map(|(index, (kind, texts))| {
            let (from, to) = texts.unzip();
            SystemLine { after_seq: seq, from, to, ..self.line(index, kind) }
        });
        lines.collect()
    }
}

/// The write of a line after which nothing has to be done.
pub(super) fn line_write(space: SpaceId, line: &SystemLine) -> Result<Write> {
    LineRecord::from(line.clone()).write(space)
}

/// A caller that is a member. `None` for the operator.
pub(super) fn sender_of(roster: &Roster, caller: Caller) -> Option<Sender> {
    match caller {
        Caller::Operator => None,
        Caller::Entity(id) => roster.member(id).map(MemberRecord::sender),
    }
}

/// A policy, as the API writes it.
fn policy(policy: TriggerPolicy) -> String {
    let written = serde_json::to_value(policy).ok();
    written.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned()
}

impl Spaces<'_> {
    /// A line, as it is stored.
    pub async fn line(self, space: SpaceId, at: LineAt) -> Result<Option<LineRecord>> {
        self.store.table.get(&keys::line(space, at.after, at.id)).await
    }

    /// At most `most` lines after the messages with the numbers from `first` to `last`, the newest
    /// of them, in their order.
    pub async fn lines(
        self,
        space: SpaceId,
        first: u64,
        last: u64,
        most: usize,
    ) -> Result<Vec<SystemLine>> {
        let last = format!("{}~", keys::lines_after(last.min(LAST_SEQ)));
        let query = Query::of(keys::space(space))
            .between(&keys::lines_after(first), &last)
            .newest_first()
            .limit(most);
        let items = self.store.table.all(query).await?;
        let mut lines = items.into_iter().map(read).collect::<Result<Vec<LineRecord>>>()?;
        lines.reverse();
        Ok(lines.into_iter().map(|record| record.line).collect())
    }
}
