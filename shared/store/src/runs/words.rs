//! What runs were asked and what they said: the beginnings of the messages that triggered them, and
//! of those that they posted first. A run stores only where these messages are, so a text that was
//! deleted is gone here, too.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use smartspace_domain::{Time, ids::SpaceId, jobs::MessageRef, runs::Run, spaces::EXCERPT_CHARS};

use crate::{
    Result, Runs,
    runs::{
        RunRecord,
        listing::{RunFilter, page},
    },
    table::{
        pages::{Page, PageRequest},
        write::Write,
    },
};

/// The first message that a run has posted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FirstPost {
    pub seq: u64,
    /// Its space, if a message of another space, or none, triggered the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub space_id: Option<SpaceId>,
}

impl FirstPost {
    /// The message at `seq` of `space`, for a run that was triggered in `home`.
    pub(crate) fn of(space: SpaceId, seq: u64, home: Option<SpaceId>) -> Self {
        Self { seq, space_id: (home != Some(space)).then_some(space) }
    }
}

/// Notes the first message that a run has posted, in the update of the run that posts it.
pub(crate) fn with_first_post(write: Write, post: FirstPost) -> Result<Write> {
    write.also_set("#posted = if_not_exists(#posted, :firstPost)").value(":firstPost", post)
}

impl RunRecord {
    /// The first message that it has posted.
    fn first_post(&self) -> Option<MessageRef> {
        let FirstPost { seq, space_id } = self.silence.posted?;
        Some(MessageRef { space_id: space_id.or_else(|| self.space_id())?, seq })
    }
}

impl Runs<'_> {
    /// The runs of a filter like [`Self::list_short`], with what they were asked and what they
    /// said. The second values are the spaces in which they said it.
    pub async fn list_with_messages(
        self,
        filter: &RunFilter,
        request: &PageRequest,
        now: Time,
    ) -> Result<(Page<Run>, Vec<Option<SpaceId>>)> {
        let (records, rest) = self.found(filter, request, now).await?;
        let mut runs = self.short_views(&records).await?;
        let wanted: BTreeSet<MessageRef> =
            records.iter().flat_map(|it| [it.place(), it.first_post()]).flatten().collect();
        let wanted: Vec<_> = wanted.into_iter().map(|at| (at.space_id, at.seq)).collect();
        let found = self.store.messages().at(&wanted).await?;
        let texts: BTreeMap<_, _> = wanted.into_iter().zip(found).collect();
        let message_at = |at: MessageRef| texts.get(&(at.space_id, at.seq))?.as_ref();
        let words_at = |at: MessageRef| {
            message_at(at)?.beginning(EXCERPT_CHARS).filter(|words| !words.is_empty())
        };
        for (run, record) in runs.iter_mut().zip(&records) {
            run.asked = record.place().and_then(words_at);
            run.asked_by = record.place().and_then(message_at).map(|it| it.sender.clone());
            run.said = record.first_post().and_then(words_at);
            run.post_seq = record.first_post().map(|post| post.seq);
        }
        let page = page(runs, rest);
        let posts = records.iter().map(|record| Some(record.first_post()?.space_id));
        let posts = posts.take(page.items.len()).collect();
        Ok((page, posts))
    }
}
