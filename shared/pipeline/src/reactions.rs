//! Reactions to messages. They wake nobody. The followers of the space learn of them within two
//! seconds, together with all others that changed meanwhile.

use smartspace_domain::{
    Error, Result,
    access::{Caller, SpaceAction},
    events::{Event, EventKind, MessageReactions},
    ids::{EntityId, SpaceId},
    jobs::TriggerJob,
    limits::FRAME_BYTES,
    messages::Emoji,
};
use smartspace_store::messages::reactions::{NewReaction, Reacted};

use crate::Pipeline;

/// What a frame has beside its messages, in bytes, at most.
const EVENT_BYTES: usize = 256;

/// A reaction that an entity gives to a message, or takes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReactionChange {
    pub seq: u64,
    pub emoji: Emoji,
    /// Whether it reacts. False takes the reaction back.
    pub on: bool,
}

impl ReactionChange {
    /// The change of an entity in a space.
    pub(crate) fn by(self, space: SpaceId, entity: EntityId) -> NewReaction {
        let Self { seq, emoji, on } = self;
        NewReaction { space, seq, entity, emoji, on }
    }
}

impl Pipeline {
    /// Lets a member react to a message, or take its reaction back. Fails with
    /// [`Error::NotAMember`] if it is not a member of the space.
    pub async fn react(
        &self,
        space: SpaceId,
        entity: EntityId,
        change: ReactionChange,
    ) -> Result<MessageReactions> {
        let new = change.by(space, entity);
        let reacted = self.store.messages().react(&new, self.now()).await?;
        Ok(self.announce_reacted(space, reacted).await)
    }

    /// Like [`Self::react`], for a caller of the HTTP API. An entity that is not a member learns
    /// only that there is no such space.
    pub async fn react_as(
        &self,
        caller: Caller,
        space: SpaceId,
        entity: EntityId,
        change: ReactionChange,
    ) -> Result<MessageReactions> {
        match self.react(space, entity, change).await {
            Err(Error::NotAMember) => {
                // An entity reacts only for itself, so it is the caller.
                caller.may_in_space(SpaceAction::Post, None)?;
                Err(Error::NotAMember)
            }
            reacted => reacted,
        }
    }

    /// Lets the followers of a space know of a reaction within two seconds.
    pub(crate) async fn announce_reacted(
        &self,
        space: SpaceId,
        reacted: Reacted,
    ) -> MessageReactions {
        let Reacted { state, is_changed } = reacted;
        if !is_changed {
            return state;
        }
        let MessageReactions { seq, reactions_rev: rev, .. } = state;
        match self.store.spaces().note_reactions(space, seq, rev, self.now()).await {
            Ok(Some(at)) => {
                self.alarms.set(at, TriggerJob::ShowReactions { space_id: space }).await;
            }
            Ok(None) => {}
            Err(error) => {
                tracing::warn!(%space, %error, "a reaction could not be joined with others");
                self.announce(space, EventKind::Reactions { items: vec![state.clone()] }).await;
            }
        }
        state
    }

    /// Sends the followers of a space the reactions that wait for it.
    pub async fn show_reactions(&self, space: SpaceId) -> Result<()> {
        let Some(unshown) = self.store.spaces().unshown_reactions(space).await? else {
            return Ok(());
        };
        let states = self.store.messages().reactions(space, &unshown.seqs).await?;
        let events = in_frames(states).into_iter().map(|items| {
            let what = EventKind::Reactions { items };
            Event { space_id: space, at: self.now(), what }.into()
        });
        let jobs: Vec<_> = events.collect();
        if !jobs.is_empty() {
            let sent = self.broadcasts.send(jobs).await;
            sent.map_err(|error| Error::Retry(error.to_string()))?;
        }
        let spaces = self.store.spaces();
        if let Some(at) = spaces.forget_shown_reactions(space, &unshown, self.now()).await? {
            self.alarms.set(at, TriggerJob::ShowReactions { space_id: space }).await;
        }
        Ok(())
    }
}

/// The reactions of messages as the items of frames: as many in each as fit.
fn in_frames(states: Vec<MessageReactions>) -> Vec<Vec<MessageReactions>> {
    let mut frames: Vec<Vec<MessageReactions>> = Vec::new();
    let mut left = 0;
    for state in states {
        let bytes = serde_json::to_string(&state).map_or(0, |text| text.len() + 1);
        match frames.last_mut() {
            Some(frame) if bytes <= left => frame.push(state),
            _ => {
                left = FRAME_BYTES - EVENT_BYTES;
                frames.push(vec![state]);
            }
        }
        left = left.saturating_sub(bytes);
    }
    frames
}

#[cfg(test)]
mod tests {
    use smartspace_domain::{Time, ids::MessageId, messages::Reaction};

    use super::*;

    #[test]
    fn reactions_of_many_messages_are_divided_among_frames() {
        let at = Time::from_millis(1);
        let state = |seq: u64| MessageReactions {
            message_id: MessageId::new(at, u128::from(seq)),
            seq,
            reactions: vec![Reaction {
                emoji: "👍".into(),
                count: 50,
                entity_ids: (0..50).map(|it| EntityId::new(at, it)).collect(),
            }],
            reactions_rev: 50,
        };
        let states: Vec<_> = (1..=40).map(state).collect();
        let frames = in_frames(states.clone());
        assert_eq!(frames.concat(), states);
        assert!(frames.len() < 5, "{}", frames.len());
        for items in frames {
            let what = EventKind::Reactions { items };
            let event = Event { space_id: SpaceId::new(at, 1), at, what };
            let whole = serde_json::to_string(&event).unwrap();
            assert_eq!(event.to_frame(), whole, "nothing is cut");
        }
        assert_eq!(in_frames(Vec::new()), Vec::<Vec<_>>::new());
    }
}
