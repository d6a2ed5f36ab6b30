//! HTTP events of API Gateway, served by an HTTP service.

use std::{
    convert::Infallible,
    fmt::Debug,
    net::IpAddr,
    pin::Pin,
    sync::Arc,
    task::{self, Poll},
    time::Instant,
};

use aws_lambda_events::apigw::ApiGatewayProxyRequest;
use bytes::Bytes;
use http::{HeaderValue, Method};
use http_body::{Frame, SizeHint};
use http_body_util::{BodyExt, Full};
use lambda_http::{
    Adapter, LambdaEvent, Request, Response, StreamAdapter,
    request::{LambdaRequest, RequestContext},
    service_fn,
    tower::{Service, ServiceExt},
};
use lambda_runtime::Error;
use smartspace_web::{PREFIX, encoded};
use tracing::{Instrument, Span};

use crate::{
    failure::Failure,
    invocation::{self, Gateway},
};

/// Serves HTTP forever with the service that `service` returns for each request. API Gateway
/// decodes paths; `as_sent` encodes them again.
pub async fn serve<F, Fut, S, B>(as_sent: fn(&str) -> String, service: F) -> Result<(), Error>
where
    F: Fn() -> Fut + Send + Sync + 'static,
    Fut: Future<Output = S> + Send,
    S: Service<Request, Response = Response<B>> + Send,
    S::Future: Send,
    S::Error: Debug,
    B: http_body::Body + Send,
    B::Data: Send,
    B::Error: Debug,
{
    let service = Arc::new(service);
    let answers = Adapter::from(service_fn(move |request: Request| {
        let service = Arc::clone(&service);
        async move {
            let call = Call::of(&request);
            let answering = async {
                let answered = service().await.call(request).await;
                let (parts, body) = answered.map_err(|error| broken(&error))?.into_parts();
                let body = body.collect().await.map_err(|error| broken(&error))?.to_bytes();
                Ok::<_, Failure>(Response::from_parts(parts, Full::new(body)))
            };
            let answered = answering.instrument(call.span.clone()).await?;
            call.log(&answered);
            Ok::<_, Failure>(answered)
        }
    }));
    lambda_runtime::run_concurrent(service_fn(move |mut event: LambdaEvent<LambdaRequest>| {
        if let LambdaRequest::ApiGatewayV2(request) = &mut event.payload {
            request.raw_path = request.raw_path.as_deref().map(as_sent);
        }
        answers.clone().oneshot(event)
    }))
    .await
}

/// Serves HTTP forever, behind a REST API of API Gateway that passes on each part of a response as
/// it is written.
pub async fn serve_streaming<S, B>(service: S) -> Result<(), Error>
where
    S: Service<Request, Response = Response<B>, Error = Infallible> + Clone + Send + Sync + 'static,
    S::Future: Send,
    B: http_body::Body + Unpin + Send + 'static,
    B::Data: Into<Bytes> + Send,
    B::Error: Into<Error> + Send + Debug,
{
    lambda_runtime::run_concurrent(service_fn(move |mut event: LambdaEvent<LambdaRequest>| {
        if let LambdaRequest::ApiGatewayV1(request) = &mut event.payload {
            readdress(request);
        }
        let service = service.clone();
        let logged = service_fn(move |request: Request| {
            let mut service = service.clone();
            async move {
                let call = Call::of(&request);
                let answered = service.call(request).instrument(call.span.clone()).await?;
                call.log(&answered);
                Ok::<_, Infallible>(answered.map(|body| InSpan { body, span: call.span }))
            }
        });
        let answered = StreamAdapter::from(logged).call(event);
        async { answered.await.map_err(|never| -> Failure { match never {} }) }
    }))
    .await
}

/// Gives a request the path that our routes have. The stage, or what else stands before it in the
/// public path, goes to a header. Of a repeated header all values stay: the library would prefer
/// the event's list with one value each.
fn readdress(request: &mut ApiGatewayProxyRequest) {
    let all = &request.multi_value_headers;
    for name in all.keys().filter(|name| all.get_all(*name).iter().nth(1).is_some()) {
        request.headers.remove(name);
    }
    let path = request.path.take().unwrap_or_default();
    let public = request.request_context.path.take().unwrap_or_default();
    let prefix = public.strip_suffix(&path).filter(|prefix| !prefix.is_empty());
    for headers in [&mut request.headers, &mut request.multi_value_headers] {
        headers.remove(PREFIX);
    }
    if let Some(prefix) = prefix.and_then(|prefix| HeaderValue::from_str(prefix).ok()) {
        request.headers.insert(PREFIX, prefix);
    }
    // The library would put it before the path.
    request.request_context.stage = None;
    request.path = Some(encoded(&path));
}

/// A call of the HTTP or REST API, for the log.
struct Call {
    span: Span,
    method: Method,
    path: String,
    started: Instant,
}

impl Call {
    fn of(request: &Request) -> Self {
        let gateway = match request.extensions().get::<RequestContext>() {
            Some(RequestContext::ApiGatewayV2(context)) => Gateway {
                request_id: context.request_id.as_deref(),
                source: context.http.source_ip.as_deref(),
            },
            Some(RequestContext::ApiGatewayV1(context)) => Gateway {
                request_id: context.request_id.as_deref(),
                source: context.identity.source_ip.as_deref(),
            },
            _ => Gateway::default(),
        };
        let span = match request.extensions().get::<lambda_http::Context>() {
            Some(context) => invocation::span(context, gateway),
            None => Span::none(),
        };
        let path = request.uri().path().to_owned();
        Self { span, method: request.method().clone(), path, started: Instant::now() }
    }

    /// Logs the response: for one that is streamed, that it has begun.
    fn log<B>(&self, response: &Response<B>) {
        let id = response.headers().get("x-request-id").and_then(|id| id.to_str().ok());
        self.span.record("request_id", id);
        let _inside = self.span.enter();
        tracing::info!(
            event = "answered",
            method = %self.method,
            path = self.path,
            status = response.status().as_u16(),
            ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX),
            "a request was answered"
        );
    }
}

/// A body whose parts are made within a span.
struct InSpan<B> {
    body: B,
    span: Span,
}

impl<B: http_body::Body + Unpin> http_body::Body for InSpan<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut task::Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        let Self { body, span } = self.get_mut();
        let _inside = span.enter();
        Pin::new(body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// The address that a request came from, as API Gateway saw it.
pub fn source_address(request: &lambda_http::http::Extensions) -> Option<IpAddr> {
    match request.get::<RequestContext>()? {
        RequestContext::ApiGatewayV2(context) => context.http.source_ip.as_deref()?.parse().ok(),
        _ => None,
    }
}

fn broken(error: &dyn Debug) -> Failure {
    Failure { name: "Internal", message: format!("a response could not be written: {error:?}") }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn readdressed(path: &str, public: &str, headers: &Value) -> Request {
        let event = json!({
            "resource": "/{proxy+}",
            "path": path,
            "httpMethod": "POST",
            "headers": headers,
            "multiValueHeaders": {"smartspace-chain-depth": ["7", "0"]},
            "requestContext": {
                "path": public,
                "stage": "protocols",
                "httpMethod": "POST",
                "identity": {},
                "resourcePath": "/{proxy+}",
            },
            "body": "{}",
            "isBase64Encoded": false,
        });
        let mut event: LambdaRequest = serde_json::from_value(event).unwrap();
        let LambdaRequest::ApiGatewayV1(request) = &mut event else { panic!("another event") };
        readdress(request);
        event.into()
    }

    #[test]
    fn a_request_has_the_path_of_a_route_and_knows_what_stood_before_it() {
        let host = json!({
            "Host": "x.execute-api.test",
            "X-Forwarded-Proto": "https",
            "smartspace-chain-depth": "0",
        });
        let request = readdressed("/v1/chat", "/protocols/v1/chat", &host);
        assert_eq!(request.uri(), "https://x.execute-api.test/v1/chat");
        assert_eq!(request.headers()[PREFIX], "/protocols");
        let depths: Vec<_> = request.headers().get_all("smartspace-chain-depth").iter().collect();
        assert_eq!(depths, ["7", "0"]);
        // A domain of one's own has no stage in its paths.
        let forged = json!({"Host": "live.test", "x-forwarded-prefix": "/elsewhere"});
        let request = readdressed("/v1/chat", "/v1/chat", &forged);
        assert_eq!(request.uri().path(), "/v1/chat");
        assert_eq!(request.headers().get(PREFIX), None);
        let request = readdressed("/protocols/a b#c", "/protocols/protocols/a b#c", &host);
        assert_eq!(request.uri().path(), "/protocols/a%20b%23c");
        assert_eq!(request.headers()[PREFIX], "/protocols");
    }
}
