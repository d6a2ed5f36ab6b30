//! What a request brings: a path's ids, a query, a JSON body. What is wrong with it is said with a pointer to the place.

mod exact;

use std::{str::FromStr, sync::Arc, time::Duration};

use axum::{
    body::to_bytes,
    extract::{FromRequest, FromRequestParts, Path, Query, Request},
    http::{HeaderMap, header, request::Parts},
};
use bytes::Bytes;
use http_body_util::LengthLimitError;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_path_to_error::Segment;
use smartspace_domain::{
    Error, Result,
    access::Caller,
    agents::is_service_name,
    json,
    limits::{BODY_BYTES, KEY_CHARS, is_key},
    memories::check_key,
};
use smartspace_store::posted::PostKey;
use tokio::time::timeout;

use self::exact::Exact;
use crate::{Api, answers::Refusal};

/// How long a body may take to come. Without a limit, each half-sent request would hold its connection for ever.
const BODY_WITHIN: Duration = Duration::from_secs(30);

/// The body of a request, as it came.
#[derive(Debug)]
pub(crate) struct Body(Bytes);

impl FromRequest<Arc<Api>> for Body {
    type Rejection = Refusal;

    async fn from_request(request: Request, _: &Arc<Api>) -> Result<Self, Refusal> {
        Self::of(request).await
    }
}

impl Body {
    async fn of(request: Request) -> Result<Self, Refusal> {
        let too_large = || Refusal(Error::TooLarge(format!("a body has at most {BODY_BYTES} bytes")));
        let said = request.headers().get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
        if said.is_some_and(|length| length > BODY_BYTES) {
            return Err(too_large());
        }
        let Ok(body) = timeout(BODY_WITHIN, to_bytes(request.into_body(), BODY_BYTES)).await else {
            return Err(Refusal(Error::TooSlow(format!("a body comes within {BODY_WITHIN:?}"))));
        };
        body.map(Self).map_err(|error| {
            let error = error.into_inner();
            let over = error.is::<LengthLimitError>();
            if over { too_large() } else { Refusal(Error::Malformed(format!("the body could not be read: {error}"))) }
        })
    }

    /// As it came.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// As JSON of a certain shape.
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Result<T> {
        shaped(self.json()?)
    }

    /// The same; no body at all, or null, is like `{}`.
    pub(crate) fn read_or_nothing<T: DeserializeOwned + Default>(&self) -> Result<T> {
        if self.0.is_empty() { Ok(T::default()) } else { Ok(self.read::<Option<T>>()?.unwrap_or_default()) }
    }

    /// As a JSON object.
    pub(crate) fn object(&self) -> Result<serde_json::Map<String, Value>> {
        match self.json()? {
            Value::Object(object) => Ok(object),
            _ => Err(Error::invalid("", "expected a JSON object")),
        }
    }

    fn json(&self) -> Result<Value> {
        json::parse(&self.0).map_err(|error| Error::Malformed(format!("expected a JSON body: {error}")))
    }

    /// The caller's idempotency key for this body, if it sent one.
    pub(crate) fn key(&self, headers: &HeaderMap, caller: Caller, path: &str) -> Result<Option<PostKey>> {
        let Some(key) = headers.get("idempotency-key") else { return Ok(None) };
        let key = key.to_str().ok().filter(|key| is_key(key));
        let key = key.ok_or_else(|| Error::Malformed(format!("Idempotency-Key: expected 1 to {KEY_CHARS} ASCII characters")))?;
        Ok(Some(PostKey::new(&caller.label(), "POST", path, key, &self.0)))
    }
}

/// How deep in a chain of agents' doings the caller says that its request is: its `smartspace-chain-depth`.
pub(crate) fn depth(headers: &HeaderMap) -> Result<u32> {
    let said = headers.get_all("smartspace-chain-depth").iter().map(|depth| {
        let depth = depth.to_str().ok().filter(|depth| !depth.starts_with('+')).and_then(|depth| depth.parse().ok());
        depth.filter(|depth| *depth <= DEEPEST).ok_or_else(|| Error::Malformed(format!("smartspace-chain-depth: expected 0 to {DEEPEST}")))
    });
    said.collect::<Result<Vec<u32>>>().map(|depths| depths.into_iter().max().unwrap_or(0))
}

/// More than any chain that somebody could wish for, and little enough to count on from.
const DEEPEST: u32 = 1_000_000;

/// Reads JSON into a certain shape, and points at what does not fit.
pub(crate) fn shaped<T: DeserializeOwned>(value: Value) -> Result<T> {
    serde_path_to_error::deserialize(Exact(value)).map_err(|error| {
        let place = |segment: &Segment| match segment {
            Segment::Seq { index } => Some(format!("/{index}")),
            Segment::Map { key } => Some(format!("/{}", key.replace('~', "~0").replace('/', "~1"))),
            Segment::Enum { .. } | Segment::Unknown => None,
        };
        let pointer: String = error.path().iter().filter_map(place).collect();
        Error::invalid(pointer, error.inner().to_string())
    })
}

/// An id in a path. What is no id names nothing: 404.
fn id<T: FromStr<Err: std::fmt::Display>>(text: &str) -> Result<T> {
    text.parse().map_err(|error: T::Err| Error::NotFound(error.to_string()))
}

/// The one id of a path.
#[derive(Debug)]
pub(crate) struct Id<T>(pub(crate) T);

impl<T: FromStr<Err: std::fmt::Display>> FromRequestParts<Arc<Api>> for Id<T> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, api: &Arc<Api>) -> Result<Self, Refusal> {
        let Path(text): Path<String> = Path::from_request_parts(parts, api).await.map_err(|error| Error::NotFound(error.to_string()))?;
        Ok(Self(id(&text)?))
    }
}

/// The two ids of a path.
#[derive(Debug)]
pub(crate) struct TwoIds<A, B>(pub(crate) A, pub(crate) B);

impl<A: FromStr<Err: std::fmt::Display>, B: FromStr<Err: std::fmt::Display>> FromRequestParts<Arc<Api>> for TwoIds<A, B> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, api: &Arc<Api>) -> Result<Self, Refusal> {
        let path = Path::from_request_parts(parts, api).await;
        let Path((one, other)): Path<(String, String)> = path.map_err(|error| Error::NotFound(error.to_string()))?;
        Ok(Self(id(&one)?, id(&other)?))
    }
}

/// The name of a service in a path. What can't be one names nothing.
#[derive(Debug)]
pub(crate) struct ServiceName(pub(crate) String);

impl FromStr for ServiceName {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if is_service_name(text) { Ok(Self(text.to_owned())) } else { Err(Error::NotFound("there is no such service".into())) }
    }
}

/// The key of a memory, or the id of a goal, in a path. What can't be one names nothing.
#[derive(Debug)]
pub(crate) struct KeptKey(pub(crate) String);

impl FromStr for KeptKey {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        check_key(text, "").map(|()| Self(text.to_owned()))
    }
}

/// The query of a request.
#[derive(Debug)]
pub(crate) struct Asked<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequestParts<Arc<Api>> for Asked<T> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, api: &Arc<Api>) -> Result<Self, Refusal> {
        let query = Query::from_request_parts(parts, api).await;
        let Query(query) = query.map_err(|error| Error::Malformed(error.body_text()))?;
        Ok(Self(query))
    }
}

#[cfg(test)]
mod tests {
    use futures::{StreamExt, stream};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_body_that_does_not_come_is_not_waited_for() {
        let begun = stream::iter([Ok::<_, std::convert::Infallible>("{\"na")]);
        let half = axum::body::Body::from_stream(begun.chain(stream::pending()));
        let refused = Body::of(Request::new(half)).await.map(|_| ()).map_err(|Refusal(error)| error);
        assert_eq!(refused, Err(Error::TooSlow("a body comes within 30s".into())));
    }
}
