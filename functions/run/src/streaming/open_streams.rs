//! The streams of one run. They outlive the loop of the run, which may be dropped at any point.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use smartspace_domain::{
    events::StreamEnd,
    ids::{CallId, MessageId, RunId},
    limits,
};
use tokio::task::JoinHandle;

use crate::streaming::{LiveStream, StreamInfo};

#[derive(Debug, Default)]
pub(crate) struct OpenStreams(Mutex<Streams>);

#[derive(Debug, Default)]
struct Streams {
    open: BTreeMap<CallId, OpenStream>,
    closing: Vec<JoinHandle<()>>,
}

#[derive(Debug)]
struct OpenStream {
    stream: LiveStream,
    info: StreamInfo,
    /// The text that it has shown: at most as much as a stream carries.
    text: String,
}

impl OpenStreams {
    /// Adds the stream of a call that the model is writing.
    pub(crate) fn add(&self, info: StreamInfo, stream: LiveStream) {
        let call = info.call;
        self.streams().open.insert(call, OpenStream { stream, info, text: String::new() });
    }

    /// Adds text to the stream of a call, if it has one.
    pub(crate) fn push(&self, call: CallId, text: String) {
        if let Some(open) = self.streams().open.get_mut(&call) {
            let room = limits::MESSAGE_BYTES.saturating_sub(open.text.len());
            open.text.push_str(&text[..text.floor_char_boundary(room)]);
            open.stream.push(text);
        }
    }

    /// The streams that are open, with what they have shown, in the order of their calls.
    pub(crate) fn shown_texts(&self) -> Vec<(StreamInfo, String)> {
        let streams = self.streams();
        let shown = streams.open.values().filter(|open| !open.text.is_empty());
        let mut shown: Vec<_> = shown.map(|open| (open.info.clone(), open.text.clone())).collect();
        shown.sort_by_key(|(info, _)| info.position);
        shown
    }

    /// Ends the stream of a call whose run was canceled. Its text so far became `message`.
    pub(crate) fn end_stopped(&self, call: CallId, message: MessageId, reason: StreamEnd) {
        let mut streams = self.streams();
        if let Some(open) = streams.open.remove(&call) {
            streams.closing.push(open.stream.end(Some(message), Some(reason)));
        }
    }

    /// Ends the stream of a call. Its text became `message`; without a message the call failed.
    pub(crate) fn end(&self, call: CallId, message: Option<MessageId>) {
        let mut streams = self.streams();
        if let Some(open) = streams.open.remove(&call) {
            let reason = message.is_none().then_some(StreamEnd::Failed);
            streams.closing.push(open.stream.end(message, reason));
        }
    }

    /// Ends all open streams. Without a reason no event is sent, because another worker continues
    /// the run.
    pub(crate) fn end_all(&self, reason: Option<StreamEnd>) {
        let mut streams = self.streams();
        for (_, OpenStream { stream, .. }) in std::mem::take(&mut streams.open) {
            let task = match reason {
                Some(reason) => stream.end(None, Some(reason)),
                None => stream.detach(),
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
