//! What a canceled run had shown is stored once, by its last worker, and not if it was posted.

use smartspace_domain::{
    Error,
    ids::{CallId, LeaseId, MessageId, StreamId},
    messages::Origin,
    runs::EndReason,
    steps::CallStatus,
};
use smartspace_store::messages::append::{
    Appended, Authority, Content, MessageSource, NewMessage, RunSender,
};

use crate::crash::lost_answers::{at, faults::Fault, studio::Studio};

impl Studio {
    /// Posts a text of the first run, by a call of its first step.
    async fn say(&self, index: u32, authority: Authority) -> Result<Appended, Error> {
        let run = &self.runs[0];
        let call = CallId::of(run.id, 0, index);
        let trigger = self.store.triggers().of(run).await.unwrap();
        let by = RunSender {
            run: run.id,
            depth: 1,
            chain: run.chain_id(),
            origin: Origin { trigger, tools_used: Vec::new() },
            stream: StreamId::of(call, 1),
            is_cut: false,
            authority,
        };
        let new = NewMessage {
            id: MessageId::of_call(call),
            space: self.space,
            sender: self.admin,
            content: Content::Text("On it".parse().unwrap()),
            files: Vec::new(),
            reply_to: None,
            by: MessageSource::Run(Box::new(by)),
        };
        self.store.messages().append(&new, at(5)).await
    }

    fn stopped(&self, index: u32) -> Authority {
        Authority::Stopped { claims: self.runs[0].claims, call_position: (0, index) }
    }
}

#[tokio::test]
async fn what_was_shown_is_kept_once_by_the_last_worker() {
    for fault in [None, Some((0, Fault::LostAnswer))] {
        let studio = Box::pin(Studio::with_fault(fault)).await;
        let call = studio.call(0, CallStatus::Completed);
        let lease = Authority::Lease { lease: studio.lease.clone(), call };
        let posted = studio.say(0, lease).await.unwrap().message;
        assert!(!posted.is_partial());
        let working = studio.say(1, studio.stopped(1)).await;
        assert_eq!(working.unwrap_err(), Error::LeaseLost, "the run is still at work");

        let run = studio.store.runs().record(studio.runs[0].id).await.unwrap();
        let token = LeaseId::new(9);
        studio.store.runs().cancel(&run, EndReason::Cancel, &token, at(6)).await.unwrap();
        let again = studio.say(0, studio.stopped(0)).await;
        assert!(matches!(again, Err(Error::Conflict(_))), "it was posted before: {again:?}");
        let earlier = Authority::Stopped { claims: run.claims - 1, call_position: (0, 1) };
        assert_eq!(studio.say(1, earlier).await.unwrap_err(), Error::LeaseLost);
        let partial = studio.say(1, studio.stopped(1)).await.unwrap().message;
        assert!(partial.is_partial());
        assert_eq!(partial.dispatch, Some(Vec::new()), "it triggers nobody");
        assert_eq!(partial.seq, posted.seq + 1);
    }
}
