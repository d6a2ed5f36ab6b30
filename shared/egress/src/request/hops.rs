//! Sends a request and follows its redirects. The HTTP client does not follow them itself, because
//! the target of each redirect must be checked first.

use bytes::Bytes;
use http::{
    HeaderMap, HeaderName, Method, StatusCode,
    header::{
        ACCEPT, CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_LOCATION, CONTENT_TYPE, LOCATION,
        USER_AGENT,
    },
};
use percent_encoding::percent_decode_str;
use reqwest::{Response, Url};

use crate::request::failures::Failure;
use crate::{Egress, Outgoing, SendError, exchange::CONNECTION_HEADERS, trace_context};

/// How many redirects are followed.
const REDIRECTS: usize = 5;
/// Size limit for the names and values of all headers of a response, in bytes.
const LONGEST_HEADERS: usize = 64 * 1024;
/// Headers that describe a body.
const BODY_HEADERS: [HeaderName; 4] =
    [CONTENT_TYPE, CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_LOCATION];
/// The only headers that another origin gets, unless their values are sensitive.
const CROSS_ORIGIN_HEADERS: [HeaderName; 5] =
    [ACCEPT, CONTENT_TYPE, USER_AGENT, trace_context::TRACEPARENT, trace_context::CHAIN_DEPTH];

/// A request to one URL, without its redirects.
struct Hop {
    method: Method,
    url: Url,
    headers: HeaderMap,
    body: Option<Bytes>,
    repeatable: bool,
}

/// Sends a request and follows its redirects. Does not read the body of the response.
pub(super) async fn follow(egress: &Egress, request: &Outgoing) -> Result<Response, Failure> {
    let host = request.url.host_str().unwrap_or_default();
    if !request.secrets.iter().all(|secret| secret.may_go_to(host)) {
        return Err(refused(format!(
            "a secret of this request may not go to {host}: the list of its hosts (locally \
             SMARTSPACE_SECRET_NAME_HOSTS) does not have this host"
        )));
    }
    let mut hop = Hop::first(request);
    let mut response = hop.send(egress).await?;
    if request.only_status {
        return Ok(response);
    }
    for _ in 0..REDIRECTS {
        let Some(target) = target_of(&response, &hop.url) else {
            return Ok(response);
        };
        let redirected = async {
            hop = hop.redirected(response.status(), target?, egress).await?;
            hop.send(egress).await
        };
        // The first server has received the request and may have acted on it.
        response = redirected.await.map_err(Failure::after_something_was_sent)?;
    }
    match target_of(&response, &hop.url) {
        Some(_) => Err(unknown(format!("the server redirected more than {REDIRECTS} times"))),
        None => Ok(response),
    }
}

impl Hop {
    fn first(request: &Outgoing) -> Self {
        let mut headers = request.headers.clone();
        for name in &CONNECTION_HEADERS {
            headers.remove(name);
        }
        Self {
            method: request.method.clone(),
            url: request.url.clone(),
            headers,
            body: request.body.clone(),
            repeatable: request.repeatable,
        }
    }

    async fn send(&self, egress: &Egress) -> Result<Response, Failure> {
        let client = egress.client_for(&self.url, !self.repeatable).map_err(Failure::permanent)?;
        let mut request =
            client.request(self.method.clone(), self.url.clone()).headers(self.headers.clone());
        if let Some(body) = &self.body {
            request = request.body(body.clone());
        }
        let host = self.url.host_str().unwrap_or_default();
        let response =
            egress.go(request).await.map_err(|error| Failure::of_request(&error, host))?;
        let size: usize =
            response.headers().iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
        if size > LONGEST_HEADERS {
            return Err(unknown(format!(
                "the answer has more than {} KiB of headers",
                LONGEST_HEADERS / 1024
            )));
        }
        Ok(response)
    }

    /// The request to the target of a redirect.
    async fn redirected(
        &self,
        status: StatusCode,
        target: Url,
        egress: &Egress,
    ) -> Result<Self, Failure> {
        if self.url.scheme() == "https" && target.scheme() != "https" {
            return Err(unknown(
                "the server redirected from https:// to http://, which is not followed".into(),
            ));
        }
        // A public server must not redirect a tool into the deployment's own network.
        if egress.is_allowed_by_name(&target) && !egress.is_allowed_by_name(&self.url) {
            return Err(unknown(
                "the server redirected to a host in SMARTSPACE_TOOL_HOSTS, which is not followed: \
                 call that host directly"
                    .into(),
            ));
        }
        let is_read = matches!(self.method, Method::GET | Method::HEAD);
        let is_same_origin = target.origin() == self.url.origin();
        let keeps_all =
            matches!(status, StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT);
        if keeps_all && !is_same_origin && (!is_read || self.body.is_some()) {
            let host = target.host_str().unwrap_or_default();
            return Err(unknown(format!(
                "the server redirected a {} to {host}, another origin, which is not followed",
                self.method
            )));
        }
        let method = if keeps_all || is_read { self.method.clone() } else { Method::GET };
        let body = if keeps_all { self.body.clone() } else { None };
        let mut headers = self.headers.clone();
        if body.is_none() && self.body.is_some() {
            for name in &BODY_HEADERS {
                headers.remove(name);
            }
        }
        if !is_same_origin {
            refuse_secrets_in(&target, egress).await?;
            headers = cross_origin(&headers);
        }
        Ok(Self { method, url: target, headers, body, repeatable: self.repeatable })
    }
}

/// The server may have received a secret, and could pass it on to another origin in the target.
async fn refuse_secrets_in(target: &Url, egress: &Egress) -> Result<(), Failure> {
    let known = egress.secrets().await.map_err(Failure::permanent)?;
    let decoded = percent_decode_str(target.as_str()).decode_utf8_lossy();
    if known.is_in(target.as_str())
        || known.is_in(&decoded)
        || target.query_pairs().any(|(name, value)| known.is_in(&name) || known.is_in(&value))
    {
        return Err(unknown(
            "the server redirected to another origin with a secret in the address, \
             which is not followed"
                .into(),
        ));
    }
    Ok(())
}

fn cross_origin(headers: &HeaderMap) -> HeaderMap {
    let value =
        |name: &HeaderName| headers.get(name).filter(|value| !value.is_sensitive()).cloned();
    CROSS_ORIGIN_HEADERS
        .into_iter()
        .filter_map(|name| Some((name.clone(), value(&name)?)))
        .collect()
}

/// The target of the redirect, if the response is one.
fn target_of(response: &Response, base: &Url) -> Option<Result<Url, Failure>> {
    if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    let location = response.headers().get(LOCATION)?;
    let target =
        str::from_utf8(location.as_bytes()).ok().and_then(|location| base.join(location).ok());
    Some(target.ok_or_else(|| unknown("the server redirected to an invalid address".into())))
}

fn refused(text: String) -> Failure {
    Failure::permanent(SendError::Refused(text))
}

fn unknown(text: String) -> Failure {
    Failure::permanent(SendError::Unknown(text))
}

#[cfg(test)]
mod tests;
