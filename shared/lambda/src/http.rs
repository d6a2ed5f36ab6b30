//! HTTP events of API Gateway, served by an HTTP service.

use std::{fmt::Debug, net::IpAddr, sync::Arc};

use http_body_util::{BodyExt, Full};
use lambda_http::{
    Adapter, LambdaEvent, Request, Response,
    request::{LambdaRequest, RequestContext},
    service_fn,
    tower::{Service, ServiceExt},
};
use lambda_runtime::Error;

use crate::failure::Failure;

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
            let answered = service().await.call(request).await;
            let (parts, body) = answered.map_err(|error| broken(&error))?.into_parts();
            let body = body.collect().await.map_err(|error| broken(&error))?.to_bytes();
            Ok::<_, Failure>(Response::from_parts(parts, Full::new(body)))
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
