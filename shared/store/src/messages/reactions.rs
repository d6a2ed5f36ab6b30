//! Reactions. All reactions to a message are one item, `REACT#n`: the reaction of the entity `e` is
//! the attribute `r_<hex>_<e>`, where `<hex>` are the bytes of the emoji.
//!
//! A reaction raises no revision of its message. The first one sets `reacted` there, so that a
//! message without reactions costs its readers nothing.

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;
use smartspace_domain::{
    Error, Time,
    events::MessageReactions,
    ids::{EntityId, LeaseId, RunId, SpaceId},
    messages::{Emoji, Message, Reaction, Reactions},
};
use tokio::sync::MutexGuard;

use crate::{
    Messages, Result,
    messages::MessageRecord,
    runs::steps::worker_keeps,
    shared::{
        member::{MemberRecord, is_member},
        message::no_such_message,
    },
    table::{
        WriteError,
        keys::{self, Key},
        write::Write,
    },
};

/// A member's reaction to a message, or that it takes one back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewReaction {
    pub space: SpaceId,
    pub seq: u64,
    pub entity: EntityId,
    pub emoji: Emoji,
    /// Whether it reacts. False takes the reaction back.
    pub on: bool,
}

/// The reactions to a message after a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reacted {
    pub state: MessageReactions,
    /// Whether this request changed them.
    pub is_changed: bool,
}

/// All reactions to a message, as they are stored.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct ReactionsItem {
    /// Raised by each change.
    rev: u64,
    #[serde(flatten)]
    others: HashMap<String, serde_json::Value>,
}

impl ReactionsItem {
    fn reactions(&self) -> Reactions {
        let given = |(name, at): (&String, &serde_json::Value)| {
            let (emoji, entity) = name.strip_prefix("r_")?.split_once('_')?;
            let at = Time::from_millis(at.as_i64()?);
            Some((Emoji::of_hex(emoji)?, entity.parse().ok()?, at))
        };
        Reactions::of(self.others.iter().filter_map(given))
    }

    /// Puts the reactions in the place that the API shows them.
    pub(crate) fn show_in(&self, message: &mut Message) {
        message.reactions = self.reactions().view();
        message.reactions_rev = Some(self.rev);
    }
}

/// A message and its reactions, as one attempt has read them.
struct ReactionsAsRead {
    message: MessageRecord,
    /// `None` before the first reaction.
    item: Option<ReactionsItem>,
}

impl ReactionsAsRead {
    fn rev(&self) -> u64 {
        self.item.as_ref().map_or(0, |item| item.rev)
    }

    fn reactions(&self) -> Reactions {
        self.item.as_ref().map(ReactionsItem::reactions).unwrap_or_default()
    }

    fn reacted(&self, reactions: &Reactions, rev: u64, is_changed: bool) -> Reacted {
        let MessageRecord { id: message_id, seq, .. } = self.message;
        let reactions = reactions.view();
        let state = MessageReactions { message_id, seq, reactions, reactions_rev: rev };
        Reacted { state, is_changed }
    }
}

impl Messages<'_> {
    /// Changes the reactions to a message, unless they have this state already.
    ///
    /// Fails with [`Error::NotAMember`] if the entity is not a member of the space, and with
    /// [`Error::Conflict`] if the message is deleted or takes no further reaction.
    pub async fn react(self, new: &NewReaction, now: Time) -> Result<Reacted> {
        self.react_with(new, None, now).await
    }

    /// The same for the remote agent that works on `run` under `lease`. The run notes it: an agent
    /// that reacted has answered. Fails with [`Error::LeaseLost`] if the run is over.
    pub async fn react_for_remote(
        self,
        new: &NewReaction,
        run: RunId,
        lease: &LeaseId,
        now: Time,
    ) -> Result<Reacted> {
        let noted = worker_keeps(run, lease, "#reacted = :reacted, ")?.value(":reacted", true)?;
        self.react_with(new, Some(&noted), now).await
    }

    /// Changes the reactions. `also` is written in the same transaction.
    async fn react_with(
        self,
        new: &NewReaction,
        also: Option<&Write>,
        now: Time,
    ) -> Result<Reacted> {
        let mut retry = self.store.optimistic_retry();
        // After its first conflict a reaction waits for the others of this process, so that many
        // members who react at once do so one after the other.
        let mut lock: Option<MutexGuard<'_, ()>> = None;
        loop {
            let as_read = self.reactions_as_read(new).await?;
            let before = as_read.reactions();
            if before.has(new.emoji, new.entity) == new.on {
                return Ok(as_read.reacted(&before, as_read.rev(), false));
            }
            if new.on {
                before.take_another(new.emoji)?;
            }
            let mut writes = reaction_writes(new, &as_read, now)?;
            writes.extend(also.cloned());
            match self.store.table.transact(&writes).await {
                Ok(()) => {
                    let after = before.changed(new.emoji, new.entity, new.on.then_some(now));
                    return Ok(as_read.reacted(&after, as_read.rev() + 1, true));
                }
                Err(WriteError::Refused(refusal)) => {
                    if also.is_some_and(|also| refusal.names(&also.key)) {
                        return Err(Error::LeaseLost);
                    }
                    if lock.is_none() {
                        lock = Some(self.store.space_locks.of_space(new.space).lock().await);
                    }
                    // If the first try took effect and its answer was lost, the next read shows it.
                    retry
                        .after_conflict("the reactions to this message change all the time")
                        .await?;
                }
                Err(WriteError::Other(error)) => return Err(error),
            }
        }
    }

    async fn reactions_as_read(self, new: &NewReaction) -> Result<ReactionsAsRead> {
        let [member, message, reactions] = [
            keys::member(new.space, new.entity),
            keys::numbered(new.space, keys::MSG, new.seq),
            reactions_key(new.space, new.seq),
        ];
        let wanted = [member.clone(), message.clone(), reactions.clone()];
        let mut items = self.store.table.get_all(&wanted).await?;
        // A stranger learns nothing of the messages of a space.
        items.take::<MemberRecord>(&member)?.ok_or(Error::NotAMember)?;
        let message: Option<MessageRecord> = items.take(&message)?;
        let message = message.ok_or_else(|| no_such_message(new.seq))?;
        if message.deleted.is_some() {
            return Err(was_deleted());
        }
        Ok(ReactionsAsRead { message, item: items.take(&reactions)? })
    }

    /// The reactions to some messages of a space. Those to which nobody ever reacted are left out.
    pub async fn reactions(self, space: SpaceId, seqs: &[u64]) -> Result<Vec<MessageReactions>> {
        let refs: Vec<_> = seqs.iter().map(|seq| (space, *seq)).collect();
        let messages = refs.iter().map(|(space, seq)| keys::numbered(*space, keys::MSG, *seq));
        let items = seqs.iter().map(|seq| reactions_key(space, *seq));
        let wanted: Vec<_> = messages.chain(items).collect();
        let mut found = self.store.table.get_all(&wanted).await?;
        let mut states = Vec::with_capacity(seqs.len());
        for seq in seqs {
            let message: Option<MessageRecord> =
                found.take(&keys::numbered(space, keys::MSG, *seq))?;
            let item: Option<ReactionsItem> = found.take(&reactions_key(space, *seq))?;
            // A deleted message has none.
            let message = message.filter(|message| message.deleted.is_none());
            let (Some(message), Some(item)) = (message, item) else { continue };
            let as_read = ReactionsAsRead { message, item: Some(item) };
            states.push(as_read.reacted(&as_read.reactions(), as_read.rev(), false).state);
        }
        Ok(states)
    }
}

impl Messages<'_> {
    /// Some messages of a space, as they are stored, and the reactions to other ones, in one read.
    /// What does not exist is left out.
    pub async fn with_reactions(
        self,
        space: SpaceId,
        seqs: &[u64],
        reacted: &[u64],
    ) -> Result<(Vec<MessageRecord>, BTreeMap<u64, Vec<Reaction>>)> {
        let messages = seqs.iter().map(|seq| keys::numbered(space, keys::MSG, *seq));
        let reactions = reacted.iter().map(|seq| reactions_key(space, *seq));
        let wanted: Vec<_> = messages.chain(reactions).collect();
        if wanted.is_empty() {
            return Ok(Default::default());
        }
        let mut found = self.store.table.get_all(&wanted).await?;
        let mut records = Vec::with_capacity(seqs.len());
        for seq in seqs {
            records.extend(found.take::<MessageRecord>(&keys::numbered(space, keys::MSG, *seq))?);
        }
        let mut given = BTreeMap::new();
        for seq in reacted {
            if let Some(item) = found.take::<ReactionsItem>(&reactions_key(space, *seq))? {
                given.insert(*seq, item.reactions().view());
            }
        }
        Ok((records, given))
    }
}

/// The item with the reactions to a message.
pub(crate) fn reactions_key(space: SpaceId, seq: u64) -> Key {
    keys::numbered(space, keys::REACT, seq)
}

/// The writes of a change: the member and the message must be as they were read, and nobody else
/// has reacted since.
fn reaction_writes(new: &NewReaction, as_read: &ReactionsAsRead, now: Time) -> Result<Vec<Write>> {
    let NewReaction { space, seq, entity, emoji, on } = *new;
    let own = format!("#r_{}_{entity}", emoji.hex());
    let change = if on {
        format!("SET #rev = :next, {own} = :at")
    } else {
        format!("SET #rev = :next REMOVE {own}")
    };
    let mut reactions =
        Write::count(reactions_key(space, seq), change).value(":next", as_read.rev() + 1)?;
    if on {
        reactions = reactions.value(":at", now.as_millis())?;
    }
    reactions = match &as_read.item {
        Some(item) => reactions.when("#rev = :rev").value(":rev", item.rev)?,
        None => reactions.if_absent(),
    };
    let message = keys::numbered(space, keys::MSG, seq);
    let exists = "attribute_not_exists(#deleted)";
    let mut writes = vec![reactions, is_member(space, entity)];
    if as_read.message.reacted {
        writes.push(Write::check(message).when("attribute_exists(PK)").when(exists));
    } else {
        let first = Write::update(message, "SET #reacted = :yes").when(exists);
        writes.push(first.value(":yes", true)?);
        // Readers that keep the message in memory read it anew.
        let head = Write::update(keys::space_head(space), "ADD #changed :one");
        writes.push(head.value(":one", 1)?);
    }
    Ok(writes)
}

fn was_deleted() -> Error {
    Error::Conflict("the message was deleted".into())
}
