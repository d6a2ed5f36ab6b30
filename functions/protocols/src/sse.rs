//! Responses with the events of a turn as server-sent events, encoded for a protocol.

use std::{convert::Infallible, time::Duration};

use axum::response::{
    IntoResponse, Response,
    sse::{Event, KeepAlive, Sse},
};
use futures::{StreamExt, stream};
use serde::Serialize;

use crate::turn::{SessionOutput, TurnEncoder, TurnSession};

/// After how much silence a comment is sent. Proxies close connections that are silent for longer.
const COMMENT_INTERVAL: Duration = Duration::from_secs(15);

/// A response with the events `first`, followed by those of the turn. If the client closes the
/// connection, the stream is dropped, and with it the turn's subscription.
pub(crate) fn respond<E: TurnEncoder>(
    turn: TurnSession,
    encoder: E,
    first: Vec<E::Event>,
) -> Response {
    let first = stream::iter(to_json(&first));
    let rest = stream::unfold(Some((turn, encoder)), |state| async {
        let (mut turn, mut encoder) = state?;
        match turn.next_with_files().await {
            SessionOutput::Events(events) => {
                let encoded: Vec<_> =
                    events.iter().flat_map(|event| encoder.encode(event)).collect();
                Some((to_json(&encoded), Some((turn, encoder))))
            }
            SessionOutput::End(events, end, cause) => {
                let mut encoded: Vec<_> =
                    events.iter().flat_map(|event| encoder.encode(event)).collect();
                encoded.extend(encoder.finish(end, cause));
                let mut texts = to_json(&encoded);
                texts.extend(E::TRAILER.map(str::to_owned));
                Some((texts, None))
            }
        }
    });
    let rest = rest.flat_map(stream::iter);
    let events = first.chain(rest).map(|text| Ok::<_, Infallible>(Event::default().data(text)));
    Sse::new(events).keep_alive(KeepAlive::new().interval(COMMENT_INTERVAL)).into_response()
}

/// A response with these events alone.
pub(crate) fn respond_once<E: Serialize>(events: &[E]) -> Response {
    let events = to_json(events).into_iter();
    let events = events.map(|text| Ok::<_, Infallible>(Event::default().data(text)));
    Sse::new(stream::iter(events)).into_response()
}

fn to_json<E: Serialize>(events: &[E]) -> Vec<String> {
    let texts = events.iter().filter_map(|event| serde_json::to_string(event).ok());
    texts.collect()
}
