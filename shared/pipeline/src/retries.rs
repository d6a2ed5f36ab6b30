//! Repeats runs.

use smartspace_domain::{Error, Result, access::Caller, quota::QuotaUser, runs::Run};
use smartspace_store::runs::{RunRecord, retries::Retry};

use crate::Pipeline;

impl Pipeline {
    /// Lets the agent of a run that failed or was canceled answer its trigger once more. A second
    /// request returns the run that the first one made. `chain_depth` is that of the request.
    pub async fn retry(&self, of: &RunRecord, by: Caller, chain_depth: u32) -> Result<Run> {
        if let Some(place) = of.place() {
            let message = self.store.messages().record(place.space_id, place.seq).await?;
            if message.is_some_and(|message| message.deleted.is_some()) {
                return Err(Error::Conflict("the message was deleted".into()));
            }
        }
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
