//! Repeats runs.

use smartspace_domain::{Result, access::Caller, quota::QuotaUser, runs::Run};
use smartspace_store::runs::{RunRecord, retries::Retry};

use crate::Pipeline;

impl Pipeline {
    /// Lets the agent of a run that failed or was canceled answer its trigger once more. A second
    /// request returns the run that the first one made. `chain_depth` is that of the request.
    pub async fn retry(&self, of: &RunRecord, by: Caller, chain_depth: u32) -> Result<Run> {
        let by = match by {
            Caller::Operator => QuotaUser { is_person: chain_depth == 0, ..QuotaUser::operator() },
            Caller::Entity(person) => QuotaUser::member(person, chain_depth == 0),
        };
        let retry = Retry { of, by, chain_depth };
        let (id, placement) = self.store.runs().retry(&retry, self.now()).await?;
        self.follow_placement(placement).await;
        let record = self.store.runs().record(id).await?;
        self.store.runs().get(&record).await
    }
}
