//! Responses that tell a turn as server-sent events, in the words of a protocol.

use std::{convert::Infallible, time::Duration};

use axum::response::{
    IntoResponse, Response,
    sse::{Event, KeepAlive, Sse},
};
use futures::{StreamExt, stream};
use serde::Serialize;

use crate::{
    conversation::{Conversation, Next, Why},
    narration::{Ending, Narration, Told},
};

/// After how much silence a comment is sent, so that nobody takes the connection for dead.
const COMMENT_EVERY: Duration = Duration::from_secs(15);

/// A protocol that tells a turn.
pub(crate) trait Protocol: Send + 'static {
    /// An event of the protocol.
    type Event: Serialize + Send;

    /// What follows the last event.
    const LAST: Option<&str> = None;

    /// Adds the events that say this.
    fn tell(&mut self, told: Told, narration: &Narration, events: &mut Vec<Self::Event>);

    /// Adds the events that end the response.
    fn end(&mut self, ending: Ending, why: Why, events: &mut Vec<Self::Event>);
}

/// A response with the events `first`, and then those that tell the turn. When the client leaves,
/// the turn is told no further.
pub(crate) fn respond<P: Protocol>(
    conversation: Conversation,
    protocol: P,
    first: Vec<P::Event>,
) -> Response {
    let first = stream::iter(texts(&first));
    let rest = stream::unfold(Some((conversation, protocol)), |state| async {
        let (mut conversation, mut protocol) = state?;
        let mut events = Vec::new();
        match conversation.next_with_files().await {
            Next::Told(all) => {
                for told in all {
                    protocol.tell(told, conversation.narration(), &mut events);
                }
                Some((texts(&events), Some((conversation, protocol))))
            }
            Next::End(all, ending, why) => {
                for told in all {
                    protocol.tell(told, conversation.narration(), &mut events);
                }
                protocol.end(ending, why, &mut events);
                let mut texts = texts(&events);
                texts.extend(P::LAST.map(str::to_owned));
                Some((texts, None))
            }
        }
    });
    let rest = rest.flat_map(stream::iter);
    let events = first.chain(rest).map(|text| Ok::<_, Infallible>(Event::default().data(text)));
    Sse::new(events).keep_alive(KeepAlive::new().interval(COMMENT_EVERY)).into_response()
}

fn texts<E: Serialize>(events: &[E]) -> Vec<String> {
    let texts = events.iter().filter_map(|event| serde_json::to_string(event).ok());
    texts.collect()
}
