//! What a request tells of where it comes from: its trace (W3C), and how deep in a chain of agents it is.

use http::{HeaderMap, HeaderName, HeaderValue};
use sha2::{Digest, Sha256};
use smartspace_domain::ids::{CallId, RunId};

/// The trace and the span of a request, as W3C's Trace Context has it.
pub const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
/// How deep in a chain of agents a request is.
pub const CHAIN_DEPTH: HeaderName = HeaderName::from_static("smartspace-chain-depth");
/// The same for all tries of one call.
pub const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// Where the requests of one run come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trail {
    /// The run: all its requests are one trace.
    pub run: RunId,
    /// The depth of what the run makes.
    pub depth: u32,
}

impl Trail {
    /// The headers of the requests of one call: [`TRACEPARENT`], [`CHAIN_DEPTH`] and [`IDEMPOTENCY_KEY`].
    /// They come out the same when the call is repeated.
    pub fn headers(&self, call: CallId) -> HeaderMap {
        let mut headers = self.headers_of_span(&call.to_string());
        headers.extend(header(IDEMPOTENCY_KEY, call.to_string()));
        headers
    }

    /// The headers of requests of the run that belong to no call, such as those that begin and end a session: [`TRACEPARENT`] and
    /// [`CHAIN_DEPTH`].
    pub fn headers_of_run(&self) -> HeaderMap {
        self.headers_of_span(&self.run.to_string())
    }

    fn headers_of_span(&self, span: &str) -> HeaderMap {
        let trace = digest(&format!("trace|{}", self.run), 16);
        let span = digest(&format!("span|{span}"), 8);
        header(TRACEPARENT, format!("00-{trace:032x}-{span:016x}-01")).chain(header(CHAIN_DEPTH, self.depth.to_string())).collect()
    }
}

/// Nothing in these texts is refused by a header.
fn header(name: HeaderName, text: String) -> impl Iterator<Item = (HeaderName, HeaderValue)> {
    HeaderValue::try_from(text).into_iter().map(move |value| (name.clone(), value))
}

/// The first bytes of a text's SHA-256, as one number.
fn digest(text: &str, bytes: usize) -> u128 {
    Sha256::digest(text).iter().take(bytes).fold(0, |number, byte| number << 8 | u128::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_has_the_same_headers_whenever_it_is_repeated() {
        let trail = Trail { run: "run_01JD0000000000000000000000".parse().unwrap(), depth: 3 };
        let call: CallId = "cal_01JD0000000000000000000001".parse().unwrap();
        // `printf 'trace|run_01JD0000000000000000000000' | sha256sum`, and so on.
        let depth = (CHAIN_DEPTH, HeaderValue::from_static("3"));
        let expected = HeaderMap::from_iter([
            (TRACEPARENT, HeaderValue::from_static("00-cbbc42c3474e672ff224d3d43dd22561-32bb64153d105969-01")),
            depth.clone(),
            (IDEMPOTENCY_KEY, HeaderValue::from_static("cal_01JD0000000000000000000001")),
        ]);
        assert_eq!(trail.headers(call), expected);
        let expected = [(TRACEPARENT, HeaderValue::from_static("00-cbbc42c3474e672ff224d3d43dd22561-47f752a059c6c963-01")), depth];
        assert_eq!(trail.headers_of_run(), HeaderMap::from_iter(expected));
    }
}
