//! The membership of an agent in the space that triggered its run, read together with the run.

use std::collections::BTreeMap;

use smartspace_domain::ids::{EntityId, RunId, SpaceId};

use crate::{
    Result, Runs,
    runs::RunRecord,
    shared::{member::MemberRecord, space::SpaceRecord},
    spaces::{SpaceOverview, summaries::SummaryRecord, take_overviews},
    table::keys,
};

#[derive(Clone, Debug)]
pub struct RunMembership {
    /// The run, if it is stored.
    pub run: Option<RunRecord>,
    /// The space, the entity as its member, and the summary if the space has one. `None` if the
    /// space is deleted, or the entity is not a member.
    pub place: Option<(SpaceRecord, MemberRecord, Option<SummaryRecord>)>,
    /// The overviews of the spaces that were asked for.
    pub overviews: BTreeMap<SpaceId, SpaceOverview>,
}

impl Runs<'_> {
    /// The membership of a run in the space that triggered it, in one read with the run itself
    /// and the overviews of the spaces in `shown`.
    pub async fn with_membership(
        self,
        space: SpaceId,
        entity: EntityId,
        run: RunId,
        shown: &[SpaceId],
    ) -> Result<RunMembership> {
        let meta_key = keys::space_meta(space);
        let member_key = keys::member(space, entity);
        let summary_key = keys::summary(space);
        let run_key = keys::run_meta(run);
        let mut wanted =
            vec![meta_key.clone(), member_key.clone(), summary_key.clone(), run_key.clone()];
        wanted.extend(shown.iter().map(|space| keys::space_overview(*space)));
        let mut items = self.store.table.get_all(&wanted).await?;
        let record: Option<SpaceRecord> = items.take(&meta_key)?;
        let member: Option<MemberRecord> = items.take(&member_key)?;
        let summary: Option<SummaryRecord> = items.take(&summary_key)?;
        let record = record.filter(|record| !record.deleted);
        let place = record.zip(member);
        Ok(RunMembership {
            run: items.take(&run_key)?,
            place: place.map(|(record, member)| {
                (record, member, summary.filter(SummaryRecord::is_written))
            }),
            overviews: take_overviews(&mut items, shown)?,
        })
    }
}
