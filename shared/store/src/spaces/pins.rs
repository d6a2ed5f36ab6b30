//! Pinned messages. The settings of a space list them, because its prompts read the settings.

use smartspace_domain::{Error, Time, ids::SpaceId, limits, messages::Sender};

use crate::{
    Result, Spaces,
    shared::{
        message::{MessageRecord, no_such_message},
        space::{PinRecord, SpaceRecord, no_such_space},
    },
    table::{WriteError, keys, write::Write},
};

/// The pins of a space after a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pinned {
    /// The pin of the message. `None` if the message is not pinned.
    pub pin: Option<PinRecord>,
    /// Whether this request changed the pins.
    pub is_changed: bool,
}

impl SpaceRecord {
    /// The pins without one of a message.
    pub(crate) fn pins_without(&self, seq: u64) -> Vec<PinRecord> {
        self.pins.iter().filter(|pin| pin.seq != seq).cloned().collect()
    }

    /// The pins with one of a message at the end.
    fn pins_with(&self, pin: PinRecord) -> Result<Vec<PinRecord>> {
        if self.pins.len() >= limits::PINS {
            let most = limits::PINS;
            return Err(Error::Conflict(format!("the space has {most} pins; unpin one first")));
        }
        Ok(self.pins.iter().cloned().chain([pin]).collect())
    }

    /// The write that stores other pins, if nobody has changed the space since it was read. A
    /// message that is deleted is unpinned with it.
    pub(crate) fn pins_write(&self, pins: &[PinRecord]) -> Result<Write> {
        Write::update(keys::space_meta(self.id), "SET #pins = :pins, #rev = :next")
            .when("#rev = :rev AND attribute_not_exists(#deleted)")
            .value(":pins", pins)?
            .value(":rev", self.rev)?
            .value(":next", self.rev + 1)
    }
}

impl Spaces<'_> {
    /// Pins a message, in the name of `by`, or of the operator without one. A message that is
    /// pinned already stays as it is.
    ///
    /// Fails with [`Error::Conflict`] if the message is deleted, or if the space has too many pins.
    pub async fn pin(
        self,
        space: SpaceId,
        seq: u64,
        by: Option<&Sender>,
        now: Time,
    ) -> Result<Pinned> {
        let message_key = keys::numbered(space, keys::MSG, seq);
        let meta_key = keys::space_meta(space);
        let mut retry = self.store.optimistic_retry();
        loop {
            let wanted = [meta_key.clone(), message_key.clone()];
            let mut items = self.store.table.get_all(&wanted).await?;
            let record: Option<SpaceRecord> = items.take(&meta_key)?;
            let record = record.filter(|record| !record.deleted).ok_or_else(no_such_space)?;
            let message: Option<MessageRecord> = items.take(&message_key)?;
            let message = message.ok_or_else(|| no_such_message(seq))?;
            if message.deleted.is_some() {
                return Err(Error::Conflict("the message was deleted".into()));
            }
            if let Some(pin) = record.pins.iter().find(|pin| pin.seq == seq) {
                return Ok(Pinned { pin: Some(pin.clone()), is_changed: false });
            }
            let pin = PinRecord { seq, by: by.cloned(), at: now };
            let stays = Write::check(message_key.clone())
                .when("attribute_exists(PK) AND attribute_not_exists(#deleted)");
            let writes = [record.pins_write(&record.pins_with(pin.clone())?)?, stays];
            match self.store.table.transact(&writes).await {
                Ok(()) => return Ok(Pinned { pin: Some(pin), is_changed: true }),
                // If the first try took effect and its answer was lost, the next read shows it.
                Err(WriteError::Refused(_)) => retry.after_conflict(PINS_CHANGE).await?,
                Err(WriteError::Other(error)) => return Err(error),
            }
        }
    }

    /// Unpins a message, if it is pinned.
    pub async fn unpin(self, space: SpaceId, seq: u64) -> Result<Pinned> {
        let mut retry = self.store.optimistic_retry();
        loop {
            let record = self.record(space).await?;
            let pins = record.pins_without(seq);
            if pins.len() == record.pins.len() {
                // A repeated request changes nothing. A number that no message has is a mistake.
                let key = keys::numbered(space, keys::MSG, seq);
                let message: Option<MessageRecord> = self.store.table.get(&key).await?;
                message.ok_or_else(|| no_such_message(seq))?;
                return Ok(Pinned { pin: None, is_changed: false });
            }
            match self.store.table.write(record.pins_write(&pins)?).await {
                Ok(_) => return Ok(Pinned { pin: None, is_changed: true }),
                Err(WriteError::Refused(_)) => retry.after_conflict(PINS_CHANGE).await?,
                Err(WriteError::Other(error)) => return Err(error),
            }
        }
    }
}

/// Why a change of pins gave up.
const PINS_CHANGE: &str = "the space changes all the time";
