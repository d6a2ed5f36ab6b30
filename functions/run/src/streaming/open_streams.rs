//! The streams of one run. They outlive the loop of the run, which may be dropped at any point.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use smartspace_domain::{
    events::StreamEnd,
    ids::{CallId, MessageId, RunId},
};
use tokio::task::JoinHandle;

use crate::streaming::LiveStream;

#[derive(Debug, Default)]
pub(crate) struct OpenStreams(Mutex<Streams>);

#[derive(Debug, Default)]
struct Streams {
    open: BTreeMap<CallId, LiveStream>,
    closing: Vec<JoinHandle<()>>,
}

impl OpenStreams {
    /// Adds the stream of a call that the model is writing.
    pub(crate) fn add(&self, call: CallId, stream: LiveStream) {
        self.streams().open.insert(call, stream);
    }

    /// Adds text to the stream of a call, if it has one.
    pub(crate) fn push(&self, call: CallId, text: String) {
        if let Some(stream) = self.streams().open.get(&call) {
            stream.push(text);
        }
    }

    /// Ends the stream of a call. Its text became `message`; without a message the call failed.
    pub(crate) fn end(&self, call: CallId, message: Option<MessageId>) {
        let mut streams = self.streams();
        if let Some(stream) = streams.open.remove(&call) {
            let reason = message.is_none().then_some(StreamEnd::Failed);
            streams.closing.push(stream.end(message, reason));
        }
    }

    /// Ends all open streams. Without a reason no event is sent, because another worker continues
    /// the run.
    pub(crate) fn end_all(&self, reason: Option<StreamEnd>) {
        let mut streams = self.streams();
        for (_, stream) in std::mem::take(&mut streams.open) {
            let task = match reason {
                Some(reason) => stream.end(None, Some(reason)),
                None => stream.leave(),
            };
            streams.closing.push(task);
        }
    }

    /// Waits for the tasks of all ended streams.
    pub(crate) async fn close(&self, run: RunId) {
        let closing = std::mem::take(&mut self.streams().closing);
        for task in closing {
            if let Err(error) = task.await {
                tracing::error!(%run, %error, "a stream's task failed");
            }
        }
    }

    fn streams(&self) -> MutexGuard<'_, Streams> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
