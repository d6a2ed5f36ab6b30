//! One attempt of an edit or a deletion: what the message becomes, and the transaction.

use serde_json::json;
use smartspace_domain::{
    Error, Time,
    access::{Caller, SpaceAction},
    append_limits::AppendWindow,
    ids::LeaseId,
    mentions,
    messages::DeletedBy,
};

use crate::{
    Result, Store,
    messages::{
        append::Content,
        changing::{
            Change, MessageChange,
            as_read::AsRead,
            summary::{after_deletion, after_edit},
        },
    },
    runs::{places::deleted_mark, steps::worker_keeps},
    shared::message::{CutJson, MessageRecord, Overflow, ToolCard},
    spaces::rosters::{MemberRecord, Roster},
    table::{keys, write::Write},
};

pub(super) struct Attempt {
    pub(super) writes: Vec<Write>,
    pub(super) before: MessageRecord,
    pub(super) after: MessageRecord,
    /// Whether the message was pinned, and is no longer.
    pub(super) is_unpinned: bool,
    /// The messages of this second, including this change.
    pub(super) second: Option<AppendWindow>,
}

/// The text that an edit stores, or `None` if the message has that text already.
pub(super) fn new_text(
    change: &MessageChange<'_>,
    as_read: &AsRead,
    text: &str,
    rev: Option<u64>,
) -> Result<Option<Content>> {
    let member = as_read.member.as_ref().ok_or(Error::NotAMember)?;
    let record = as_read.message(change.seq)?;
    if record.sender.id != member.entity_id {
        return Err(Error::Forbidden("only its sender edits a message".into()));
    }
    if record.deleted.is_some() {
        return Err(Error::Conflict("the message was deleted".into()));
    }
    if record.card.is_some() {
        return Err(Error::Conflict("a card can't be edited".into()));
    }
    let content = Content::of(text.to_owned(), !record.files.is_empty())?;
    let is_same = !record.partial && record.more_chars == 0 && record.text == text;
    // The same request again, after its answer was lost.
    let is_repeated = is_same && rev.is_some_and(|rev| rev.saturating_add(1) == record.rev);
    if rev.is_some_and(|rev| rev != record.rev) && !is_repeated {
        return Err(Error::Conflict(format!("it has revision {} now", record.rev)));
    }
    Ok((!is_same).then_some(content))
}

/// As whom the caller deletes the message, or `None` if it is deleted already.
pub(super) fn deleted_by(
    change: &MessageChange<'_>,
    as_read: &AsRead,
    caller: Caller,
) -> Result<Option<DeletedBy>> {
    let membership = as_read.member.as_ref().map(MemberRecord::membership);
    caller.may_in_space(SpaceAction::Post, membership)?;
    let record = as_read.message(change.seq)?;
    let by = caller.may_delete_message(record.sender.id, membership)?;
    if record.is_open() {
        return Err(Error::Conflict("its call has no result yet: cancel its run first".into()));
    }
    Ok(record.deleted.is_none().then_some(by))
}

/// A card without its input, in which words of the message `deleted` stood. `None` if the message
/// is no card any longer, or has lost its input before.
pub(super) fn cut_card(
    change: &MessageChange<'_>,
    as_read: &AsRead,
    deleted: u64,
) -> Result<Option<ToolCard>> {
    let Some(card) = &as_read.message(change.seq)?.card else { return Ok(None) };
    let (input, _) = CutJson::of(&json!({"text": deleted_mark(deleted)}));
    Ok((card.input != input).then(|| ToolCard { input, ..card.clone() }))
}

impl Attempt {
    pub(super) fn edit(
        store: &Store,
        change: &MessageChange<'_>,
        as_read: &AsRead,
        content: &Content,
        roster: &Roster,
        now: Time,
    ) -> Result<Self> {
        let before = as_read.message(change.seq)?;
        let text = content.text().unwrap_or_default();
        let (short, more_chars, overflow) = MessageRecord::split(text);
        let after = MessageRecord {
            rev: before.rev + 1,
            text: short,
            more_chars,
            partial: false,
            mentions: mentions::find(text, roster.names()),
            edited_at: Some(now),
            updated_at: now,
            ..before.clone()
        };
        // It identifies this state of the message.
        let token = LeaseId(format!("{}.{}", after.id, after.rev));
        let summary = after_edit(change.space, as_read.summary.as_ref(), change.seq, &token)?;
        let mut attempt = Self::of(store, change, as_read, after, summary, now)?;
        attempt.store_overflow(change, overflow)?;
        Ok(attempt)
    }

    pub(super) fn delete(
        store: &Store,
        change: &MessageChange<'_>,
        as_read: &AsRead,
        by: DeletedBy,
        now: Time,
    ) -> Result<Self> {
        let MessageChange { space, seq, .. } = *change;
        let before = as_read.message(seq)?;
        let after = before.tombstone(by, now);
        let summary = after_deletion(space, as_read.summary.as_ref(), seq)?;
        let mut attempt = Self::of(store, change, as_read, after, summary, now)?;
        attempt.store_overflow(change, Overflow::default())?;
        let pins = as_read.space.pins_without(seq);
        attempt.is_unpinned = pins.len() < as_read.space.pins.len();
        attempt.writes.push(if attempt.is_unpinned {
            as_read.space.pins_write(&pins)?
        } else {
            // Nobody pins it meanwhile.
            let meta = Write::check(keys::space_meta(space));
            meta.when("#rev = :rev").value(":rev", as_read.space.rev)?
        });
        if let Some(dispatch) = as_read.dispatch.clone().filter(|_| before.dispatch_apart) {
            let key = keys::numbered(space, keys::WOKEN, seq);
            attempt.writes.push(Write::put(key, &dispatch.of_tombstone())?);
        }
        if before.has_page {
            attempt.writes.push(Write::delete(keys::numbered(space, keys::PAGE, seq)));
        }
        if before.reacted {
            attempt.writes.push(Write::delete(keys::numbered(space, keys::REACT, seq)));
        }
        Ok(attempt)
    }

    /// Gives a message this card, whose input is cut.
    pub(super) fn cut(
        store: &Store,
        change: &MessageChange<'_>,
        as_read: &AsRead,
        card: ToolCard,
        now: Time,
    ) -> Result<Self> {
        let before = as_read.message(change.seq)?;
        let after = MessageRecord {
            rev: before.rev + 1,
            card: Some(card),
            updated_at: now,
            ..before.clone()
        };
        let token = LeaseId(format!("{}.{}", after.id, after.rev));
        let summary = after_edit(change.space, as_read.summary.as_ref(), change.seq, &token)?;
        let mut attempt = Self::of(store, change, as_read, after, summary, now)?;
        let key = keys::numbered(change.space, keys::TEXT, change.seq);
        if attempt.after.has_overflow() {
            attempt.writes.push(Write::update(key, "REMOVE #input"));
        } else if attempt.before.has_overflow() {
            attempt.writes.push(Write::delete(key));
        }
        Ok(attempt)
    }

    /// The writes that all changes share.
    fn of(
        store: &Store,
        change: &MessageChange<'_>,
        as_read: &AsRead,
        after: MessageRecord,
        summary: Write,
        now: Time,
    ) -> Result<Self> {
        let space = change.space;
        let before = as_read.message(change.seq)?.clone();
        let second = counted_second(store, change, as_read, now)?;
        let message = Write::change(change.item_key(), &before, &after, &[])?;
        let message = message.ok_or_else(|| Error::Internal("a change changes nothing".into()))?;
        let at = as_read.head.changed + 1;
        let log = as_read.log.clone().with(Change { at, seq: change.seq });
        let mut writes = vec![
            head(change, as_read, second.as_ref())?,
            message.when("#rev = :rev").value(":rev", before.rev)?,
            log.write(space)?,
            summary,
        ];
        writes.extend(as_read.block.drop_writes()?);
        if let Some(member) = &as_read.member {
            let still = Write::check(keys::member(space, member.entity_id));
            writes.push(still.when("#role = :role").value(":role", member.role)?);
        }
        if let Some(by) = &change.by {
            writes.push(worker_keeps(by.run, by.lease, "")?);
            writes.push(by.result.write(by.run)?);
            writes.extend(by.result.card_writes()?);
        }
        Ok(Self { writes, before, after, is_unpinned: false, second })
    }

    /// Stores the whole text if it is too long for the message's own item, and deletes the whole
    /// text before it.
    fn store_overflow(&mut self, change: &MessageChange<'_>, overflow: Overflow) -> Result<()> {
        let key = keys::numbered(change.space, keys::TEXT, change.seq);
        if self.after.has_overflow() {
            self.writes.push(Write::put(key, &overflow)?);
        } else if self.before.has_overflow() {
            self.writes.push(Write::delete(key));
        }
        Ok(())
    }
}

/// Counts the change as one message of this second.
fn counted_second(
    store: &Store,
    change: &MessageChange<'_>,
    as_read: &AsRead,
    now: Time,
) -> Result<Option<AppendWindow>> {
    let (Some(limit), Some(member)) = (store.append_limit, &as_read.member) else {
        return Ok(None);
    };
    let known = AppendWindow::of(as_read.head.second.as_ref(), now);
    let counted = known.count(limit, member.entity_id, member.kind, change.bytes(), now);
    let counted = counted.inspect_err(|_| {
        store.seconds.saw(change.space, as_read.head.second.as_ref());
    });
    counted.map(Some)
}

/// Raises the number of changes, unless the roster, another change or a message came first.
fn head(
    change: &MessageChange<'_>,
    as_read: &AsRead,
    second: Option<&AppendWindow>,
) -> Result<Write> {
    let before = &as_read.head;
    let counted = if second.is_some() { ", #second = :second" } else { "" };
    let head =
        Write::update(keys::space_head(change.space), format!("SET #changed = :next{counted}"))
            .when("#roster = :roster AND #seq = :seq")
            .value(":next", before.changed + 1)?
            .value(":roster", before.roster)?
            .value(":seq", before.seq)?;
    let head = if before.changed == 0 {
        head.when("attribute_not_exists(#changed)")
    } else {
        head.when("#changed = :changed").value(":changed", before.changed)?
    };
    match second {
        Some(second) => head.value(":second", second),
        None => Ok(head),
    }
}
