//! Headers that tell a server where a request comes from: its trace (W3C Trace Context), its chain
//! depth and its idempotency key.

use http::{HeaderMap, HeaderName, HeaderValue};
use sha2::{Digest, Sha256};
use smartspace_domain::ids::{CallId, RunId};
use smartspace_ports::trace::{TraceParent, span_of};

/// Trace and span of a request, in the format of W3C Trace Context.
pub const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
/// Chain depth: the number of agents in a row that led to a request.
pub const CHAIN_DEPTH: HeaderName = HeaderName::from_static("smartspace-chain-depth");
/// Idempotency key, which is the same for all tries of one call.
pub const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// The origin of all requests of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceContext {
    /// The run. All its requests belong to one trace.
    pub run: RunId,
    /// That trace, if traces are exported. Otherwise its id follows from the id of the run.
    pub trace: Option<TraceParent>,
    /// Chain depth of everything that the run causes.
    pub depth: u32,
}

impl TraceContext {
    /// The headers for the requests of one call: [`TRACEPARENT`], [`CHAIN_DEPTH`] and
    /// [`IDEMPOTENCY_KEY`]. They are the same for each try of the call.
    pub fn headers(&self, call: CallId) -> HeaderMap {
        let mut headers = self.headers_of_span(&call.to_string());
        headers.extend(header(IDEMPOTENCY_KEY, call.to_string()));
        headers
    }

    /// The headers for requests that belong to no call, such as the start and the end of an MCP
    /// session: [`TRACEPARENT`] and [`CHAIN_DEPTH`].
    pub fn headers_of_run(&self) -> HeaderMap {
        self.headers_of_span(&self.run.to_string())
    }

    fn headers_of_span(&self, span: &str) -> HeaderMap {
        let span = span_of(span);
        let trace = match &self.trace {
            Some(trace) => trace.caused_by(span).to_string(),
            None => format!("00-{}-{span:016x}-01", trace_of(self.run)),
        };
        header(TRACEPARENT, trace).chain(header(CHAIN_DEPTH, self.depth.to_string())).collect()
    }
}

/// The texts contain only characters that headers allow, so the iterator has one item.
fn header(name: HeaderName, text: String) -> impl Iterator<Item = (HeaderName, HeaderValue)> {
    HeaderValue::try_from(text).into_iter().map(move |value| (name.clone(), value))
}

fn trace_of(run: RunId) -> String {
    let digest = Sha256::digest(format!("trace|{run}"));
    let id = digest.iter().take(16).fold(0, |number, byte| number << 8 | u128::from(*byte));
    format!("{id:032x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_trace_headers_of_a_call_are_deterministic() {
        let trace = TraceContext {
            run: "run_01JD0000000000000000000000".parse().unwrap(),
            trace: None,
            depth: 3,
        };
        let call: CallId = "cal_01JD0000000000000000000001".parse().unwrap();
        // `printf 'trace|run_01JD0000000000000000000000' | sha256sum`, and so on.
        let depth = (CHAIN_DEPTH, HeaderValue::from_static("3"));
        let expected = HeaderMap::from_iter([
            (
                TRACEPARENT,
                HeaderValue::from_static("00-cbbc42c3474e672ff224d3d43dd22561-32bb64153d105969-01"),
            ),
            depth.clone(),
            (IDEMPOTENCY_KEY, HeaderValue::from_static("cal_01JD0000000000000000000001")),
        ]);
        assert_eq!(trace.headers(call), expected);
        let expected = [
            (
                TRACEPARENT,
                HeaderValue::from_static("00-cbbc42c3474e672ff224d3d43dd22561-47f752a059c6c963-01"),
            ),
            depth,
        ];
        assert_eq!(trace.headers_of_run(), HeaderMap::from_iter(expected));
        // A caller that began a trace without recording it wants no part of it recorded.
        let caller = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";
        let trace = TraceContext { trace: TraceParent::read(caller), ..trace };
        assert_eq!(
            trace.headers_of_run()[TRACEPARENT],
            "00-4bf92f3577b34da6a3ce929d0e0e4736-47f752a059c6c963-00"
        );
    }
}
