//! Who sees and deletes remembered approvals.

use std::collections::{BTreeMap, BTreeSet};

use futures::future::try_join_all;
use smartspace_domain::{
    Result,
    access::{Caller, SpaceAction},
    approvals::Allowance,
    ids::{AllowanceId, SpaceId},
};

use crate::Pipeline;

impl Pipeline {
    /// Those of `allowances` that a caller may read: the operator all, members those of their
    /// spaces.
    pub async fn allowances_seen_by(
        &self,
        caller: Caller,
        allowances: Vec<Allowance>,
    ) -> Result<Vec<Allowance>> {
        if caller == Caller::Operator {
            return Ok(allowances);
        }
        let spaces: BTreeSet<SpaceId> = allowances.iter().filter_map(|it| it.space_id).collect();
        let memberships = spaces.into_iter().map(async |space| {
            let membership = self.membership(caller, space).await?;
            Ok((space, caller.may_in_space(SpaceAction::Read, membership).is_ok()))
        });
        let may_read: BTreeMap<_, _> = try_join_all(memberships).await?.into_iter().collect();
        let is_seen = |allowance: &Allowance| {
            allowance.space_id.is_some_and(|space| may_read.get(&space) == Some(&true))
        };
        Ok(allowances.into_iter().filter(is_seen).collect())
    }

    /// Deletes an allowance on behalf of a caller.
    pub async fn delete_allowance(&self, caller: Caller, id: AllowanceId) -> Result<()> {
        let allowance = self.store.allowances().get(id, self.now()).await?;
        let membership = match allowance.space_id {
            Some(space) => self.membership(caller, space).await?,
            None => None,
        };
        caller.may_delete_allowance(&allowance, membership)?;
        self.store.allowances().delete(allowance.agent_id, id).await
    }
}
