//! The membership of an agent in the space that triggered its run, read together with the run.

use std::collections::BTreeMap;

use smartspace_domain::ids::{EntityId, RunId, SpaceId};

use crate::{
    Result, Runs,
    runs::RunRecord,
    shared::{member::MemberRecord, space::SpaceRecord},
    spaces::{
        Lengths, SpaceOverview, head_keys, rosters::Head, summaries::SummaryRecord, take_lengths,
        take_overviews,
    },
    table::keys,
};

#[derive(Clone, Debug)]
pub struct RunMembership {
    /// The run, if it is stored.
    pub run: Option<RunRecord>,
    /// The space, the entity as its member, and the summary if the space has one. `None` if the
    /// space is deleted, or the entity is not a member.
    pub place: Option<(SpaceRecord, MemberRecord, Option<SummaryRecord>)>,
    /// How often a message of the space was edited or deleted, or got its first reaction.
    pub changed: u64,
    /// The overviews of the spaces that were asked for.
    pub overviews: BTreeMap<SpaceId, SpaceOverview>,
    /// How long the space is, and the spaces that were to be measured.
    pub lengths: Lengths,
}

impl Runs<'_> {
    /// The membership of a run in the space that triggered it, in one read with the run itself,
    /// the overviews of the spaces in `shown`, and the lengths of those in `measured`.
    pub async fn with_membership(
        self,
        space: SpaceId,
        entity: EntityId,
        run: RunId,
        shown: &[SpaceId],
        measured: &[SpaceId],
    ) -> Result<RunMembership> {
        let meta_key = keys::space_meta(space);
        let member_key = keys::member(space, entity);
        let summary_key = keys::summary(space);
        let run_key = keys::run_meta(run);
        let head_key = keys::space_head(space);
        let mut wanted = vec![
            meta_key.clone(),
            head_key.clone(),
            member_key.clone(),
            summary_key.clone(),
            run_key.clone(),
        ];
        wanted.extend(shown.iter().map(|space| keys::space_overview(*space)));
        // A batch names no key twice.
        let others: Vec<_> = measured.iter().copied().filter(|other| *other != space).collect();
        wanted.extend(head_keys(&others));
        let mut items = self.store.table.get_all(&wanted).await?;
        let record: Option<SpaceRecord> = items.take(&meta_key)?;
        let member: Option<MemberRecord> = items.take(&member_key)?;
        let summary: Option<SummaryRecord> = items.take(&summary_key)?;
        let record = record.filter(|record| !record.deleted);
        let place = record.zip(member);
        let head: Option<Head> = items.take(&head_key)?;
        let mut lengths = take_lengths(&mut items, &others)?;
        lengths.extend(head.as_ref().map(|head| (space, head.seq)));
        Ok(RunMembership {
            run: items.take(&run_key)?,
            place: place.map(|(record, member)| {
                (record, member, summary.filter(SummaryRecord::is_written))
            }),
            changed: head.map_or(0, |head| head.changed),
            overviews: take_overviews(&mut items, shown)?,
            lengths,
        })
    }
}
