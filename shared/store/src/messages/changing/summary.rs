//! What an edit or a deletion does to the summary of its space.

use smartspace_domain::ids::{LeaseId, SpaceId};

use crate::{
    Result,
    spaces::summaries::SummaryRecord,
    table::{keys, write::Write},
};

/// The write of an edit: a summary that covers the message names it until the next one. A worker
/// that may be reading the message loses its claim, since it may have read the old text.
pub(super) fn after_edit(
    space: SpaceId,
    read: Option<&SummaryRecord>,
    seq: u64,
    token: &LeaseId,
) -> Result<Write> {
    let key = keys::summary(space);
    let Some(summary) = read else { return Ok(Write::check(key).if_absent()) };
    let is_read = summary.is_claimed() && summary.claimed_to.is_none_or(|to| seq <= to);
    let is_new = summary.covers(seq) && !summary.edited.contains(&seq);
    if !is_read && !is_new {
        return unchanged(Write::check(key), summary);
    }
    let set = if is_new { ", #edited = :edited" } else { "" };
    let expression = format!("SET #by = :token{set} REMOVE #claimedUntil, #claimedTo");
    let expression = if is_read { expression } else { "SET #edited = :edited".to_owned() };
    let mut write = unchanged(Write::update(key, expression), summary)?;
    if is_read {
        write = write.value(":token", token)?;
    }
    if is_new {
        let edited: Vec<_> = summary.edited.iter().copied().chain([seq]).collect();
        write = write.value(":edited", edited)?;
    }
    Ok(write)
}

/// The write of a deletion: a summary that covers the message is deleted. So is one that a worker
/// extends at this moment, which refuses what the worker then stores.
pub(super) fn after_deletion(
    space: SpaceId,
    read: Option<&SummaryRecord>,
    seq: u64,
) -> Result<Write> {
    let key = keys::summary(space);
    let Some(summary) = read else { return Ok(Write::check(key).if_absent()) };
    let is_affected = summary.covers(seq) || summary.is_claimed();
    unchanged(if is_affected { Write::delete(key) } else { Write::check(key) }, summary)
}

/// Every claim, and every summary that is stored, has another token than those before.
fn unchanged(write: Write, summary: &SummaryRecord) -> Result<Write> {
    write.when("#by = :by AND #to = :to").value(":by", &summary.by)?.value(":to", summary.to)
}
