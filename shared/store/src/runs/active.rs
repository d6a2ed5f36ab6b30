//! The active runs of agents and spaces: those that are queued, running or waiting.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use smartspace_domain::{
    Time,
    events::ActiveRun,
    ids::{RunId, SpaceId},
    jobs::MessageRef,
    messages::Sender,
};

use crate::{
    Result, Runs,
    runs::RunRecord,
    shared::message::MessageRecord,
    table::{Query, WriteError, indexes::Index, key_of, keys, write::Write},
};

/// The length of the excerpt of a message's text.
const EXCERPT_CHARS: usize = 200;
/// The first 200 characters of messages. `None` for one that is deleted.
pub type MessageTexts = BTreeMap<MessageRef, Option<String>>;

/// How many ended runs a reader takes off the list of a space at once.
const UNLISTED_AT_ONCE: usize = 10;

/// The copy of an active run in its agent's context.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ActiveRecord {
    pub run_id: RunId,
    /// A short form of its cause.
    #[serde(flatten)]
    pub cause: ActiveCause,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) g3pk: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) g3sk: Option<String>,
}

/// A short form of the cause of an active run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub enum ActiveCause {
    Message {
        space_id: SpaceId,
        /// The space's name at that time.
        space_name: String,
        sender: Sender,
        /// The message's number in the space. Its text is stored with the message alone.
        seq: u64,
    },
    Plan {
        /// The plan's name at that time.
        plan_name: String,
    },
    Service {
        service_name: String,
    },
    /// A cause that this version does not know.
    Unknown {},
}

/// Lists a run among the active ones of a further space that shows it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FurtherSpace {
    g3pk: String,
    g3sk: String,
    /// When the item expires, in seconds since the epoch, if nobody deletes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<i64>,
}

impl ActiveCause {
    /// The message that triggered the run.
    pub fn message(&self) -> Option<MessageRef> {
        match *self {
            Self::Message { space_id, seq, .. } => Some(MessageRef { space_id, seq }),
            _ => None,
        }
    }

    /// The space that triggered the run.
    pub fn space_id(&self) -> Option<SpaceId> {
        if let Self::Message { space_id, .. } = self { Some(*space_id) } else { None }
    }
}

impl ActiveRecord {
    pub fn new(run: &RunRecord, cause: ActiveCause) -> Self {
        let space = cause.space_id();
        Self {
            run_id: run.id,
            cause,
            g3pk: space.map(keys::active_in_space),
            g3sk: space.map(|_| run.id.to_string()),
        }
    }

    /// The copy of a run that `message` triggers.
    pub fn triggered(
        run: &RunRecord,
        space_id: SpaceId,
        space_name: &str,
        message: &MessageRecord,
    ) -> Self {
        let cause = ActiveCause::Message {
            space_id,
            space_name: space_name.to_owned(),
            sender: message.sender.clone(),
            seq: message.seq,
        };
        Self::new(run, cause)
    }
}

impl Runs<'_> {
    /// Lists a run among the active ones of a space that shows it. For a run that was not triggered
    /// by a message. Its copy lists it in one space; each further space gets an item of its own.
    pub async fn show_active(self, run: &RunRecord, space: SpaceId, now: Time) -> Result<()> {
        let listed = keys::active_in_space(space);
        let copy = keys::active_run(run.agent_id, run.id);
        let first = Write::update(copy.clone(), "SET #g3pk = :pk, #g3sk = :sk")
            .when("attribute_not_exists(#g3pk)");
        let refusal = match self
            .store
            .table
            .write(first.value(":pk", &listed)?.value(":sk", run.id)?)
            .await
        {
            Ok(_) => return Ok(()),
            Err(WriteError::Other(error)) => return Err(error),
            Err(WriteError::Refused(refusal)) => refusal,
        };
        let stored = refusal.existing::<ActiveRecord>(&copy);
        // Either the run has ended, or its copy lists it in this space.
        if stored.is_none_or(|stored| stored.g3pk.as_ref() == Some(&listed)) {
            return Ok(());
        }
        let further = FurtherSpace {
            g3pk: listed,
            g3sk: run.id.to_string(),
            expires_at: self.store.work_expiry(now),
        };
        let put = Write::put(keys::run_shown_in(run.id, space), &further)?.if_absent();
        self.store.table.write_where_it_holds(put).await
    }

    /// Takes an ended run off the lists of the spaces that showed it. If the process dies before,
    /// [`Self::active_in_space`] does it.
    pub async fn hide_ended(self, run: RunId, spaces: &[SpaceId]) {
        // The copy of a run that one space showed went with its end.
        if spaces.len() < 2 {
            return;
        }
        for space in spaces {
            self.unlist(run, *space).await;
        }
    }

    async fn unlist(self, run: RunId, space: SpaceId) {
        let delete = Write::delete(keys::run_shown_in(run, space));
        if let Err(error) = self.store.table.write_always(delete).await {
            tracing::info!(%run, %space, %error, "an ended run is still listed as active");
        }
    }

    /// The runs that are queued, running or waiting in a space: those that its messages triggered,
    /// and others that it shows.
    pub async fn active_in_space(self, space: SpaceId) -> Result<Vec<RunRecord>> {
        let query = Query::of_index(Index::SPACE_RUNS, keys::active_in_space(space));
        let mut listed = Vec::new();
        let mut further = Vec::new();
        for item in self.store.table.all(query).await? {
            let key = key_of(&item)?;
            let run = keys::listed_run(&key);
            listed.extend(run);
            further.extend(run.filter(|_| key.pk.starts_with(keys::RUN)));
        }
        let active = self.active_records(listed).await?;
        let is_ended = |run: &&RunId| active.iter().all(|record| record.id != **run);
        for run in further.iter().filter(is_ended).take(UNLISTED_AT_ONCE) {
            self.unlist(*run, space).await;
        }
        Ok(active)
    }

    /// Those of `active` that are still active.
    pub async fn still_active(self, active: &[ActiveRecord]) -> Result<Vec<RunRecord>> {
        self.active_records(active.iter().map(|active| active.run_id)).await
    }

    /// The same, and the beginnings of the messages that triggered them, read by the same call.
    pub async fn still_active_with_causes(
        self,
        active: &[ActiveRecord],
    ) -> Result<(Vec<RunRecord>, MessageTexts)> {
        let runs: Vec<_> = active.iter().map(|active| keys::run_meta(active.run_id)).collect();
        let causes: BTreeSet<_> = active.iter().filter_map(|it| it.cause.message()).collect();
        let message = |it: &MessageRef| keys::numbered(it.space_id, keys::MSG, it.seq);
        let wanted: Vec<_> = runs.iter().cloned().chain(causes.iter().map(message)).collect();
        let mut found = self.store.table.get_all(&wanted).await?;
        let mut records = Vec::new();
        for key in &runs {
            records.extend(found.take::<RunRecord>(key)?.filter(|run| run.status.is_active()));
        }
        let mut texts = MessageTexts::new();
        for cause in causes {
            if let Some(record) = found.take::<MessageRecord>(&message(&cause))? {
                texts.insert(cause, record.beginning(EXCERPT_CHARS));
            }
        }
        Ok((records, texts))
    }

    /// The beginnings of messages, of those that exist.
    pub async fn texts_of(
        self,
        messages: impl IntoIterator<Item = MessageRef>,
    ) -> Result<MessageTexts> {
        let wanted: BTreeSet<_> = messages.into_iter().collect();
        if wanted.is_empty() {
            return Ok(MessageTexts::new());
        }
        let refs: Vec<_> = wanted.iter().map(|it| (it.space_id, it.seq)).collect();
        let found = self.store.messages().at(&refs).await?;
        let each = wanted.into_iter().zip(found);
        Ok(each.filter_map(|(message, it)| Some((message, it?.beginning(EXCERPT_CHARS)))).collect())
    }

    async fn active_records(self, runs: impl IntoIterator<Item = RunId>) -> Result<Vec<RunRecord>> {
        let mut records = self.records(runs).await?;
        records.retain(|run| run.status.is_active());
        Ok(records)
    }
}

/// An active run, as the API shows it.
pub fn active_view(run: &RunRecord) -> ActiveRun {
    ActiveRun { run_id: run.id, agent_id: run.agent_id, status: run.status }
}
