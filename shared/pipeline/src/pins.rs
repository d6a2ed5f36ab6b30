//! Pinned messages. They stand in the prompts of all agents of the space.

use smartspace_domain::{
    Result, Time,
    access::{Caller, SpaceAction},
    events::EventKind,
    ids::SpaceId,
    messages::{Message, Sender},
};
use smartspace_store::spaces::{PinRecord, rosters::MemberRecord};

use crate::Pipeline;

#[derive(Clone, Debug)]
pub struct PinnedMessage {
    pub message: Message,
    /// The member that pinned it. `None` for the operator.
    pub pinned_by: Option<Sender>,
    pub pinned_at: Time,
}

impl Pipeline {
    /// Pins a message on behalf of a caller. Returns `None` if the message was deleted meanwhile.
    pub async fn pin(
        &self,
        caller: Caller,
        space: SpaceId,
        seq: u64,
    ) -> Result<Option<PinnedMessage>> {
        let by = self.who_pins(caller, space).await?;
        let pinned = self.store.spaces().pin(space, seq, by.as_ref(), self.now()).await?;
        if pinned.is_changed {
            self.announce_pins(space).await?;
        }
        let pins: Vec<_> = pinned.pin.into_iter().collect();
        Ok(self.pinned_messages(space, &pins).await?.pop())
    }

    /// Unpins a message on behalf of a caller.
    pub async fn unpin(&self, caller: Caller, space: SpaceId, seq: u64) -> Result<()> {
        self.who_pins(caller, space).await?;
        if self.store.spaces().unpin(space, seq).await?.is_changed {
            self.announce_pins(space).await?;
        }
        Ok(())
    }

    /// The pinned messages of a space, the one that was pinned last first.
    pub async fn pins(&self, space: SpaceId) -> Result<Vec<PinnedMessage>> {
        let mut pins = self.store.spaces().record(space).await?.pins;
        pins.reverse();
        self.pinned_messages(space, &pins).await
    }

    /// The member that pins or unpins a message. `None` for the operator.
    async fn who_pins(&self, caller: Caller, space: SpaceId) -> Result<Option<Sender>> {
        let member = match caller {
            Caller::Operator => None,
            Caller::Entity(entity) => self.store.members().get(space, entity).await?,
        };
        let membership = member.as_ref().map(MemberRecord::membership);
        caller.may_in_space(SpaceAction::Pin, membership)?;
        Ok(member.map(|member| member.sender()))
    }

    pub(crate) async fn announce_pins(&self, space: SpaceId) -> Result<()> {
        let changed = Box::new(self.store.spaces().get(space).await?);
        self.announce(space, EventKind::SpaceUpdated { space: changed }).await;
        Ok(())
    }

    /// The messages of pins, in their order. Those that are deleted, or have expired, are left out.
    async fn pinned_messages(
        &self,
        space: SpaceId,
        pins: &[PinRecord],
    ) -> Result<Vec<PinnedMessage>> {
        let refs: Vec<_> = pins.iter().map(|pin| (space, pin.seq)).collect();
        if refs.is_empty() {
            return Ok(Vec::new());
        }
        let messages = self.store.messages();
        let found = messages.at(&refs).await?.into_iter().zip(pins);
        let (records, pins): (Vec<_>, Vec<_>) = found
            .filter_map(|(record, pin)| Some((record?, pin)))
            .filter(|(record, _)| record.deleted.is_none())
            .unzip();
        let shown = messages.with_long_texts(space, records).await?.into_iter().zip(pins);
        Ok(shown
            .map(|(message, pin)| PinnedMessage {
                message,
                pinned_by: pin.by.clone(),
                pinned_at: pin.at,
            })
            .collect())
    }
}
