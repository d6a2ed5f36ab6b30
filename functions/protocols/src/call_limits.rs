//! Limits how many calls each entity has open at the same time.
//!
//! A call that follows a turn or waits for messages is open for minutes, and on AWS each open call
//! occupies one instance of the function. So without a limit one entity could occupy them all.

use std::{
    collections::HashMap,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
};

use axum::{
    body::{Body, Bytes, HttpBody},
    response::Response,
};
use http_body::{Frame, SizeHint};
use smartspace_client::Refusal;
use smartspace_domain::{
    ids::EntityId,
    limits::{CALLS_OF_ENTITY, CALLS_RETRY_AFTER, too_many_calls},
};

/// The open calls of this process.
#[derive(Clone, Debug, Default)]
pub(crate) struct OpenCalls(Arc<Mutex<HashMap<EntityId, usize>>>);

/// An open call. It is counted until this is dropped.
#[derive(Debug)]
pub(crate) struct OpenCall {
    open_calls: OpenCalls,
    entity: EntityId,
}

impl OpenCalls {
    /// Counts a call. Refuses it with 429 if the entity has too many open calls.
    pub(crate) fn open(&self, entity: EntityId) -> Result<OpenCall, Refusal> {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = open.entry(entity).or_default();
        if *count >= CALLS_OF_ENTITY {
            let retry_after = Some(CALLS_RETRY_AFTER.as_secs());
            return Err(Refusal { retry_after, ..Refusal::new(429, too_many_calls()) });
        }
        *count += 1;
        Ok(OpenCall { open_calls: self.clone(), entity })
    }
}

impl Drop for OpenCall {
    fn drop(&mut self) {
        let mut open = self.open_calls.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(count) = open.get_mut(&self.entity) else { return };
        *count -= 1;
        if *count == 0 {
            open.remove(&self.entity);
        }
    }
}

impl OpenCall {
    /// Counts the call until the body of its response is sent or dropped.
    pub(crate) fn until_end_of(self, response: Response) -> Response {
        response.map(|body| Body::new(CountedBody { body, _call: self }))
    }
}

/// A response body that holds its open call. A client that leaves drops the body.
struct CountedBody {
    body: Body,
    _call: OpenCall,
}

impl HttpBody for CountedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use smartspace_domain::Time;

    use super::*;

    #[test]
    fn each_entity_has_a_limit_of_open_calls() {
        let open = OpenCalls::default();
        let entity = |number| EntityId::new(Time::from_millis(0), number);
        let mut calls: Vec<_> =
            (0..CALLS_OF_ENTITY).map(|_| open.open(entity(1)).unwrap()).collect();
        let refusal = open.open(entity(1)).unwrap_err();
        assert_eq!((refusal.status, refusal.retry_after), (429, Some(CALLS_RETRY_AFTER.as_secs())));
        open.open(entity(2)).unwrap();
        calls.pop();
        let response = open.open(entity(1)).unwrap().until_end_of(Response::default());
        assert!(open.open(entity(1)).is_err());
        drop(response);
        open.open(entity(1)).unwrap();
        drop(calls);
        assert!(open.0.lock().unwrap().is_empty());
    }
}
