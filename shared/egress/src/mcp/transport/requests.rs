//! Sends the requests of a session.

use std::collections::HashMap;

use http::{HeaderName, HeaderValue, header};
use reqwest::{Method, RequestBuilder, Response};
use rmcp::{
    model::ClientJsonRpcMessage, transport::streamable_http_client::StreamableHttpPostResponse,
};

use crate::causes;
use crate::mcp::{
    in_flight::{Failure, InFlight, RequestState},
    transport::{McpTransport, Pending},
};

pub(super) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

impl McpTransport {
    /// A request to the server with all its headers. Headers that are set later replace those of
    /// the configuration.
    pub(super) fn request(
        &self,
        method: Method,
        in_flight: Option<&InFlight>,
        session: Option<&str>,
        more: HashMap<HeaderName, HeaderValue>,
    ) -> Result<RequestBuilder, Failure> {
        let config = &self.0.config;
        let client = config
            .egress
            .client_for(&config.url, false)
            .map_err(|error| Failure::NotProcessed(error.to_string()))?;
        let mut headers = config.headers.clone();
        let trace = config.trace.as_ref().map(|trace| match in_flight.and_then(InFlight::call) {
            Some(call) => trace.headers(call),
            None => trace.headers_of_run(),
        });
        headers.extend(trace.unwrap_or_default());
        headers.extend(in_flight.map(|it| it.headers().clone()).unwrap_or_default());
        for (name, value) in more {
            headers.insert(name, value);
        }
        headers.insert(
            header::ACCEPT,
            HeaderValue::from_static("application/json, text/event-stream"),
        );
        if let Some(session) = session.and_then(|session| HeaderValue::from_str(session).ok()) {
            headers.insert(SESSION, session);
        }
        Ok(client.request(method, config.url.clone()).headers(headers))
    }

    /// Posts a message. `pending` is set if the message is a request, which needs an answer.
    pub(super) async fn post(
        &self,
        message: &ClientJsonRpcMessage,
        pending: Option<&Pending>,
        in_flight: Option<&InFlight>,
        session: Option<&str>,
        more: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let mut body = serde_json::to_value(message)
            .map_err(|error| Failure::NotProcessed(format!("the input can't be sent: {error}")))?;
        if let Some(pending) = pending {
            body["id"] = pending.sent_id.clone();
        }
        let request = self
            .request(Method::POST, in_flight, session, more)?
            .header(header::CONTENT_TYPE, "application/json")
            .body(body.to_string());
        if let Some(in_flight) = in_flight {
            in_flight.set(RequestState::Sent);
        }
        let is_repeatable = in_flight.is_none_or(|in_flight| in_flight.call().is_none());
        let response = self.send(request, is_repeatable).await?;
        match pending {
            Some(pending) => self.answer(response, pending, session.is_some()).await,
            None if response.status().is_success() => Ok(StreamableHttpPostResponse::Accepted),
            None => Err(self.refusal(response.status(), session.is_some(), "")),
        }
    }

    /// A server may close an idle connection just when it is used again. A repeatable request is
    /// then sent a second time. A tool call is not repeatable.
    async fn send(
        &self,
        request: RequestBuilder,
        is_repeatable: bool,
    ) -> Result<Response, Failure> {
        let egress = &self.0.config.egress;
        let again = request.try_clone().filter(|_| is_repeatable);
        let response = match (egress.go(request).await, again) {
            (Err(error), Some(again)) if may_have_arrived(&error) => egress.go(again).await,
            (response, _) => response,
        };
        response.map_err(|error| {
            let cause = causes::cause(&error);
            if may_have_arrived(&error) {
                self.unknown(format!("did not answer: {cause}"))
            } else {
                Failure::NotProcessed(self.sentence(format!("can't be reached: {cause}")))
            }
        })
    }
}

fn may_have_arrived(error: &reqwest::Error) -> bool {
    !error.is_connect() && !error.is_builder()
}
