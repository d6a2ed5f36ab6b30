//! The pages of the senders of the messages that a run answers.

use smartspace_domain::{Result, client_pages::ClientPage, ids::SpaceId, messages::Sender};
use smartspace_store::{Store, messages::MessageRecord};

use crate::prompt::reading::PromptSources;

/// What the page of the sender of a message offers.
#[derive(Clone, Debug)]
pub(crate) struct SenderPage {
    /// The number of the message.
    pub(crate) seq: u64,
    pub(crate) sender: Sender,
    pub(crate) page: ClientPage,
}

/// Reads the page that a message came with. Costs a read only if there is one.
pub(super) async fn page_of(
    store: &Store,
    space: SpaceId,
    message: &MessageRecord,
) -> Result<Option<SenderPage>> {
    if !message.has_page {
        return Ok(None);
    }
    let page = store.messages().page(space, message.seq).await?;
    let sender = message.sender.clone();
    Ok(page.map(|page| SenderPage { seq: message.seq, sender, page }))
}

impl PromptSources {
    /// Reads the pages that came with the messages that have joined the run.
    pub(crate) async fn with_pages_of_joined(mut self, store: &Store) -> Result<Self> {
        if let Some(space) = &mut self.trigger_space {
            let joined = space.joined.iter().rev().filter_map(|seq| space.message(*seq));
            let reads = joined.map(|message| page_of(store, space.space.id, message));
            let pages = futures::future::try_join_all(reads).await?;
            space.pages.extend(pages.into_iter().flatten());
        }
        Ok(self)
    }
}
