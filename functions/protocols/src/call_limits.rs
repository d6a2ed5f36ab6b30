//! Limits how many calls each entity has open at the same time. Every protocol admits its calls
//! with [`limited`].
//!
//! A call that follows a turn or waits for messages is open for minutes, and on AWS each open call
//! occupies one instance of the function. So without a limit one entity could occupy them all.
//! A call over the limit queues for a second. After that it is refused in the form of its protocol:
//! clients of MCP and A2A take any other answer for a broken server.

mod open_calls;

use std::time::Duration;

use axum::{
    Extension, Router,
    body::Body,
    extract::{Request, State},
    http::Method,
    middleware::{self, Next},
    response::{IntoResponse, Response},
};
use smartspace_client::Refusal;
use smartspace_domain::ids::EntityId;
use tokio::time::timeout;

pub(crate) use self::open_calls::OpenCalls;
use crate::{auth::CallerId, body::buffer_body, problems::ProblemResponse};

/// How long a refused call waits for its body, together with the turn to read it.
const REFUSED_BODY_TIME: Duration = Duration::from_secs(1);

/// What the admission of calls has to know about a protocol.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallProtocol {
    /// Whether a call stays open while it waits for what happens in a space.
    pub(crate) is_wait: fn(&Method, &[u8]) -> bool,
    /// The response to a call that is refused, in the form that clients of the protocol understand.
    pub(crate) refuse: fn(&[u8], Refusal) -> Response,
}

impl CallProtocol {
    /// A protocol without answers of its own: each call waits, and a refusal is problem details.
    pub(crate) const PLAIN: Self =
        Self { is_wait: |_, _| true, refuse: |_, refusal| problem(refusal) };
}

/// A refusal as problem details.
pub(crate) fn problem(refusal: Refusal) -> Response {
    ProblemResponse::from(refusal).into_response()
}

/// The routes of a protocol, whose calls are counted. They must be called by an authenticated
/// entity.
pub(crate) fn limited(routes: Router, open_calls: &OpenCalls, protocol: CallProtocol) -> Router {
    let admission = Admission { open_calls: open_calls.clone(), protocol };
    routes.route_layer(middleware::from_fn_with_state(admission, admit))
}

#[derive(Clone, Debug)]
struct Admission {
    open_calls: OpenCalls,
    protocol: CallProtocol,
}

/// Passes on a call with its whole body, as soon as its entity has room for it.
async fn admit(
    State(admission): State<Admission>,
    Extension(CallerId(caller)): Extension<CallerId>,
    request: Request,
    next: Next,
) -> Response {
    admission.run(caller, request, next).await.unwrap_or_else(problem)
}

impl Admission {
    async fn run(
        &self,
        caller: EntityId,
        request: Request,
        next: Next,
    ) -> Result<Response, Refusal> {
        let entity = self.open_calls.of(caller);
        // The call is counted before its body is read, so that one entity cannot fill the memory
        // with bodies that arrive slowly.
        let mut call = match entity.open().await {
            Ok(call) => call,
            Err(refusal) => {
                // The refusal repeats the id in the body. For the same reason bodies of refused
                // calls are read one after the other, and slow ones must not hold up the next.
                let reading = async {
                    let _turn = entity.read_refused().await;
                    buffer_body(request).await
                };
                return match timeout(REFUSED_BODY_TIME, reading).await {
                    Ok(read) => Ok((self.protocol.refuse)(&read?.1, refusal)),
                    Err(_) => Err(refusal),
                };
            }
        };
        let (parts, body) = buffer_body(request).await?;
        if (self.protocol.is_wait)(&parts.method, &body)
            && let Err(refusal) = call.begin_wait().await
        {
            return Ok((self.protocol.refuse)(&body, refusal));
        }
        let request = Request::from_parts(parts, Body::from(body));
        Ok(call.until_end_of(next.run(request).await))
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use axum::{
        body::{Bytes, to_bytes},
        http::{Request as HttpRequest, StatusCode},
        routing::post,
    };
    use futures::stream::pending;
    use smartspace_domain::{Time, limits::CallLimits};
    use tokio::time::{Instant, sleep};
    use tower::ServiceExt;

    use super::*;

    const OWN_FORM: CallProtocol = CallProtocol {
        is_wait: |_, body| body == b"wait",
        refuse: |body, refusal| {
            let body = String::from_utf8_lossy(body);
            format!("{body}: {} {:?}", refusal.detail, refusal.retry_after).into_response()
        },
    };

    async fn call(routes: &Router, body: &'static str) -> (StatusCode, Response) {
        let request = HttpRequest::post("/").body(Body::from(body)).unwrap();
        let response = routes.clone().oneshot(request).await.unwrap();
        (response.status(), response)
    }

    async fn text(response: Response) -> String {
        let bytes = to_bytes(response.into_body(), 1_000).await.unwrap();
        String::from_utf8(bytes.to_vec()).unwrap()
    }

    fn routes(protocol: CallProtocol) -> Router {
        let open_calls = OpenCalls::new(CallLimits { open: 2, waits: 1 });
        let entity = EntityId::new(Time::from_millis(0), 1);
        let routes = Router::new().route("/", post(|body: String| async move { body }));
        limited(routes, &open_calls, protocol).layer(Extension(CallerId(entity)))
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_over_the_limit_is_refused_in_the_form_of_its_protocol() {
        let routes = routes(OWN_FORM);
        // The calls are open until their responses are read.
        let first = call(&routes, "wait").await.1;
        let (status, refused) = call(&routes, "wait").await;
        assert_eq!(status, StatusCode::OK);
        let one = "wait: 1 calls of this entity wait; expected no more at once Some(5)";
        assert_eq!(text(refused).await, one);
        let second = call(&routes, "read").await.1;
        let (_, refused) = call(&routes, "read").await;
        let two = "read: 2 calls of this entity are open; expected no more at once Some(5)";
        assert_eq!(text(refused).await, two);
        assert_eq!((text(first).await, text(second).await), ("wait".into(), "read".into()));
        assert_eq!(text(call(&routes, "wait").await.1).await, "wait");
    }

    #[tokio::test(start_paused = true)]
    async fn slow_bodies_do_not_hold_up_a_refusal() {
        let routes = routes(OWN_FORM);
        let stalled = |_| {
            let body = Body::from_stream(pending::<Result<Bytes, Infallible>>());
            let request = HttpRequest::post("/").body(body).unwrap();
            tokio::spawn(routes.clone().oneshot(request))
        };
        let mut slow: Vec<_> = (0..3).map(stalled).collect();
        sleep(Duration::from_millis(100)).await;
        let started = Instant::now();
        let (status, _) = call(&routes, "read").await;
        assert!(started.elapsed() < Duration::from_secs(3), "{:?}", started.elapsed());
        assert_eq!(status, StatusCode::OK);
        let refused = slow.pop().unwrap().await.unwrap().unwrap();
        assert_eq!(refused.status(), StatusCode::TOO_MANY_REQUESTS);
        assert_eq!(refused.headers()["retry-after"], "5");
    }

    #[tokio::test(start_paused = true)]
    async fn a_plain_protocol_refuses_with_problem_details() {
        let routes = routes(CallProtocol::PLAIN);
        let _open = call(&routes, "1").await;
        let (status, refused) = call(&routes, "2").await;
        assert_eq!(status, StatusCode::TOO_MANY_REQUESTS);
        assert_eq!(refused.headers()["retry-after"], "5");
    }
}
