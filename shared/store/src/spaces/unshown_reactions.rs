//! Messages whose reactions wait to be sent to the followers of a space: see [`super::unshown`].
//! The item has only the messages, so that one read shows their newest reactions.

use smartspace_domain::{Time, ids::SpaceId};

use crate::{
    Result, Spaces,
    spaces::unshown::{ShownItem, UnshownItem},
    table::keys,
};

/// The messages whose reactions are not sent yet. The revision of the reactions to the message 7 is
/// the attribute `r_7`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnshownReactions {
    /// The numbers of the messages, the lowest first.
    pub seqs: Vec<u64>,
    state: ShownItem,
}

impl UnshownReactions {
    fn of(item: &UnshownItem) -> Self {
        let mut seqs: Vec<u64> =
            item.with_prefix("r_").filter_map(|(seq, _)| seq.parse().ok()).collect();
        seqs.sort_unstable();
        Self { seqs, state: item.shown() }
    }
}

impl Spaces<'_> {
    /// Notes that the reactions to a message are to be sent. Returns when the caller has to start
    /// the job that sends them, or `None` if another caller starts it.
    pub async fn note_reactions(
        self,
        space: SpaceId,
        seq: u64,
        rev: u64,
        now: Time,
    ) -> Result<Option<Time>> {
        let attribute = format!("r_{seq}");
        self.store.note_unshown(keys::unshown_reactions(space), &attribute, rev, now).await
    }

    /// The messages whose reactions are not sent yet.
    pub async fn unshown_reactions(self, space: SpaceId) -> Result<Option<UnshownReactions>> {
        let item = self.store.unshown(&keys::unshown_reactions(space)).await?;
        Ok(item.as_ref().map(UnshownReactions::of))
    }

    /// Deletes the note of reactions that have been sent. Returns when the caller has to start the
    /// next job, if some have changed in between.
    pub async fn forget_shown_reactions(
        self,
        space: SpaceId,
        shown: &UnshownReactions,
        now: Time,
    ) -> Result<Option<Time>> {
        self.store.forget_shown(keys::unshown_reactions(space), shown.state, now).await
    }
}
