//! Reads the input of a request: the ids in its path, its query and its JSON body. An error has a
//! JSON pointer to the wrong value.

mod query;
mod repeated;

use std::{str::FromStr, sync::Arc, time::Duration};

use axum::{
    body::to_bytes,
    extract::{FromRequest, FromRequestParts, Path, Request},
    http::{HeaderMap, header, request::Parts},
};
use bytes::Bytes;
use http_body_util::LengthLimitError;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Map, Value};
use smartspace_domain::{
    Error, Result,
    access::Caller,
    idempotency::IdempotencyKey,
    limits::{BODY_BYTES, KEY_CHARS},
    names::ServiceName,
    request_json::{self, shaped},
};
use smartspace_store::idempotency::PostKey;
use tokio::time::timeout;

pub(crate) use self::{query::Query, repeated::RepeatedQuery};

use crate::{Api, answers::Refusal};

/// How long a body may take to arrive. Without a limit, a half-sent request would hold its
/// connection forever.
const BODY_WITHIN: Duration = Duration::from_secs(30);

/// The raw body of a request, of at most so many bytes.
#[derive(Debug)]
pub(crate) struct Body<const LIMIT: usize = BODY_BYTES>(Bytes);

/// The body of a request that takes no fields.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct NoFields {}

impl<const LIMIT: usize> FromRequest<Arc<Api>> for Body<LIMIT> {
    type Rejection = Refusal;

    async fn from_request(request: Request, _: &Arc<Api>) -> Result<Self, Refusal> {
        Self::of(request).await
    }
}

impl<const LIMIT: usize> Body<LIMIT> {
    async fn of(request: Request) -> Result<Self, Refusal> {
        let too_large =
            || Refusal(Error::TooLarge(format!("expected a body of at most {LIMIT} bytes")));
        let announced = request
            .headers()
            .get(header::CONTENT_LENGTH)
            .and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
        if announced.is_some_and(|length| length > LIMIT) {
            return Err(too_large());
        }
        let Ok(body) = timeout(BODY_WITHIN, to_bytes(request.into_body(), LIMIT)).await else {
            let text = format!("expected the whole body within {BODY_WITHIN:?}");
            return Err(Refusal(Error::TooSlow(text)));
        };
        body.map(Self).map_err(|error| {
            let error = error.into_inner();
            if error.is::<LengthLimitError>() {
                too_large()
            } else {
                Refusal(Error::Malformed(format!("the body could not be read: {error}")))
            }
        })
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    pub(crate) fn read<T: DeserializeOwned>(&self) -> Result<T> {
        shaped(self.json()?)
    }

    /// Like [`Self::read`], but an empty body or `null` counts as `{}`.
    pub(crate) fn read_or_nothing<T: DeserializeOwned + Default>(&self) -> Result<T> {
        if self.0.is_empty() {
            Ok(T::default())
        } else {
            Ok(self.read::<Option<T>>()?.unwrap_or_default())
        }
    }

    /// Refuses a body with fields, for a request that takes none.
    pub(crate) fn read_nothing(&self) -> Result<()> {
        let NoFields {} = self.read_or_nothing()?;
        Ok(())
    }

    pub(crate) fn object(&self) -> Result<Map<String, Value>> {
        match self.json()? {
            Value::Object(object) => Ok(object),
            _ => Err(Error::invalid("", "expected a JSON object")),
        }
    }

    fn json(&self) -> Result<Value> {
        request_json::parse(&self.0, "the body")
    }

    /// The idempotency key of the request, if it has one.
    pub(crate) fn key(
        &self,
        headers: &HeaderMap,
        caller: Caller,
        path: &str,
    ) -> Result<Option<PostKey>> {
        let key = idempotency_key(headers)?;
        Ok(key.map(|key| PostKey::new(&caller.label(), "POST", path, &key, &self.0)))
    }
}

/// The idempotency key of a request, if it has one.
pub(crate) fn idempotency_key(headers: &HeaderMap) -> Result<Option<IdempotencyKey>> {
    let Some(key) = headers.get("idempotency-key") else { return Ok(None) };
    let key: Option<IdempotencyKey> = key.to_str().ok().and_then(|key| key.parse().ok());
    key.map(Some).ok_or_else(|| {
        Error::Malformed(format!("Idempotency-Key: expected 1 to {KEY_CHARS} ASCII characters"))
    })
}

/// The chain depth of a request: the highest value of its `smartspace-chain-depth` headers, or 0.
/// API Gateway joins repeated headers with commas, so a header may hold several values.
pub(crate) fn depth(headers: &HeaderMap) -> Result<u32> {
    let wrong = || Error::Malformed(format!("smartspace-chain-depth: expected 0 to {DEEPEST}"));
    let mut deepest = 0;
    for header in headers.get_all("smartspace-chain-depth") {
        for depth in header.to_str().map_err(|_| wrong())?.split(',').map(str::trim) {
            let number = Some(depth).filter(|depth| !depth.starts_with('+'));
            let number = number.and_then(|depth| depth.parse().ok());
            deepest = deepest.max(number.filter(|depth| *depth <= DEEPEST).ok_or_else(wrong)?);
        }
    }
    Ok(deepest)
}

/// Deeper than any useful chain, and far from overflowing when depths are added up.
pub(crate) const DEEPEST: u32 = 1_000_000;

/// Reads an id in a path. Text that is not an id names nothing, so the answer is 404.
fn id<T: FromStr<Err: std::fmt::Display>>(text: &str) -> Result<T> {
    text.parse().map_err(|error: T::Err| Error::NotFound(error.to_string()))
}

/// The id in a path with one id.
#[derive(Debug)]
pub(crate) struct Id<T>(pub(crate) T);

impl<T: FromStr<Err: std::fmt::Display>> FromRequestParts<Arc<Api>> for Id<T> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, api: &Arc<Api>) -> Result<Self, Refusal> {
        let path = Path::from_request_parts(parts, api).await;
        let Path(text): Path<String> = path.map_err(|_| not_text())?;
        Ok(Self(id(&text)?))
    }
}

/// The ids in a path with two ids.
#[derive(Debug)]
pub(crate) struct TwoIds<A, B>(pub(crate) A, pub(crate) B);

impl<A: FromStr<Err: std::fmt::Display>, B: FromStr<Err: std::fmt::Display>>
    FromRequestParts<Arc<Api>> for TwoIds<A, B>
{
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, api: &Arc<Api>) -> Result<Self, Refusal> {
        let path = Path::from_request_parts(parts, api).await;
        let Path((one, other)): Path<(String, String)> = path.map_err(|_| not_text())?;
        Ok(Self(id(&one)?, id(&other)?))
    }
}

/// The id of a space in a path, and the number of a message in it.
#[derive(Debug)]
pub(crate) struct IdAndSeq<T>(pub(crate) T, pub(crate) u64);

impl<T: FromStr<Err: std::fmt::Display>> FromRequestParts<Arc<Api>> for IdAndSeq<T> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, api: &Arc<Api>) -> Result<Self, Refusal> {
        let path = Path::from_request_parts(parts, api).await;
        let Path((one, seq)): Path<(String, String)> = path.map_err(|_| not_text())?;
        Ok(Self(id(&one)?, seq_of(&seq)?))
    }
}

/// Reads the number of a message in a path. Other text names nothing, so the answer is 404.
fn seq_of(text: &str) -> Result<u64> {
    let digits = Some(text).filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    let seq = digits.and_then(|text| text.parse().ok()).filter(|seq| (1..=LAST_SEQ).contains(seq));
    seq.ok_or_else(|| Error::NotFound(format!("expected the number of a message, got {text:?}")))
}

/// No message ever gets a higher number.
const LAST_SEQ: u64 = 999_999_999_999;

fn not_text() -> Error {
    Error::NotFound("expected a path whose percent-encoding decodes to UTF-8".into())
}

/// The name of a service in a path. Text that can't be one names nothing, so the answer is 404.
#[derive(Debug)]
pub(crate) struct PathService(pub(crate) ServiceName);

impl FromStr for PathService {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        text.parse().map(Self).map_err(|_| Error::NotFound("there is no such service".into()))
    }
}

#[cfg(test)]
mod tests {
    use futures::{StreamExt, stream};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_body_that_does_not_arrive_times_out() {
        let begun = stream::iter([Ok::<_, std::convert::Infallible>("{\"na")]);
        let half = axum::body::Body::from_stream(begun.chain(stream::pending()));
        let refused = Body::<BODY_BYTES>::of(Request::new(half))
            .await
            .map(|_| ())
            .map_err(|Refusal(error)| error);
        assert_eq!(refused, Err(Error::TooSlow("expected the whole body within 30s".into())));
    }

    #[test]
    fn the_deepest_of_several_depths_counts() {
        let depth_of = |values: &[&'static str]| {
            let name = http_name("smartspace-chain-depth");
            let headers = values
                .iter()
                .copied()
                .map(|value| (name.clone(), axum::http::HeaderValue::from_static(value)));
            depth(&headers.collect()).ok()
        };
        assert_eq!(depth_of(&[]), Some(0));
        assert_eq!(depth_of(&["7", "0"]), Some(7));
        // As API Gateway joins them.
        assert_eq!(depth_of(&["7,0"]), Some(7));
        assert_eq!(depth_of(&["0, 3", "1"]), Some(3));
        for wrong in ["", "7,", "7 0", "+1", "-1", "1,+2", "1000001", "0,x"] {
            assert_eq!(depth_of(&[wrong]), None, "{wrong:?}");
        }
    }

    fn http_name(name: &'static str) -> axum::http::HeaderName {
        axum::http::HeaderName::from_static(name)
    }
}
