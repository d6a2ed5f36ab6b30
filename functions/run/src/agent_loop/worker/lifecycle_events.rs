//! Announces the life of a run in its spaces: that it begins, waits or ends.

use smartspace_domain::{
    events::{EventKind, StreamEnd},
    runs::{RunError, RunStatus},
};
use smartspace_pipeline::endings::log_end;
use smartspace_store::runs::{
    endings::Ended,
    steps::{CallRecord, Progress},
};

use crate::{
    agent_loop::worker::{ClaimKind, Worker},
    watchers,
};

impl Worker {
    /// Notifies the space that its run has begun, or has resumed after people answered.
    /// A run that no space triggered is announced in each space that it enters.
    pub(super) async fn announce_begin(&self, claim: ClaimKind) {
        let run = &self.context.run;
        match claim {
            ClaimKind::First => {
                self.context.announce(run, |run| EventKind::RunStarted { run }).await;
            }
            ClaimKind::Resumed => {
                self.context.announce(run, |run| EventKind::RunResumed { run }).await;
            }
            ClaimKind::Reclaimed | ClaimKind::Fork => {}
        }
    }

    /// Shows a run that no space triggered in its spaces again: the worker before may have died
    /// before it did.
    pub(super) async fn show_where_shown(&self, progress: &Progress, claim: ClaimKind) {
        let context = &self.context;
        for space in progress.calls.values().flat_map(CallRecord::shows_run_in) {
            if claim == ClaimKind::Resumed {
                context.announced_in.insert(space);
            } else {
                context.show_in(space, context.run.active_space_id).await;
            }
        }
    }

    /// Notifies the space of how its run ended.
    pub(super) async fn announce_end(&self, ended: &Ended, error: Option<RunError>) {
        let Ended { run, read, .. } = ended;
        let error = match (run.status, error) {
            (RunStatus::Failed, None) => {
                self.context.store().runs().get(run).await.ok().and_then(|run| run.error)
            }
            (_, error) => error,
        };
        if run.status == RunStatus::Failed {
            self.context.streams.end_all(Some(StreamEnd::Failed));
        }
        log_end(run, error.as_ref());
        self.context.announce_end(run, error, read).await;
        self.context.pipeline.close_calls_now(run).await;
        self.context.pipeline.look_after_now(run).await;
    }

    /// Notifies the space that its run waits for people.
    pub(super) async fn announce_pause(&self) {
        let id = self.context.run.id;
        match self.context.store().runs().record(id).await {
            Ok(run) if run.status == RunStatus::WaitingTool => {
                self.context.announce(&run, |run| EventKind::RunWaitingTool { run }).await;
                if let Some(next) = run.due_at {
                    self.context.pipeline.wake_at(run.id, next).await;
                }
            }
            // People have answered already, and the run has resumed.
            Ok(_) => {}
            Err(error) => {
                tracing::warn!(run = %id, %error, "the space was not notified that a run waits");
            }
        }
    }

    /// Notifies the spaces of the run of budgets that are nearly used, unless a step has already
    /// notified the model of them.
    pub(super) async fn announce_budgets(&self) {
        let context = &self.context;
        let news = context.spending.take_notices();
        if news.is_empty() {
            return;
        }
        let spaces = match context.run.space_id() {
            Some(space) => vec![space],
            None => {
                context.store().steps().spaces_entered(context.run.id).await.unwrap_or_default()
            }
        };
        let messages: Vec<_> = news.into_iter().map(watchers::budget::message).collect();
        let spaces = spaces.into_iter().collect();
        context.announce_system_messages(context.run.step_count, &messages, &spaces).await;
    }
}
