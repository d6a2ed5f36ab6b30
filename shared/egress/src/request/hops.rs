//! A request and its redirects. They are followed here and not by the client, because each of them leads to where nobody has checked.

use bytes::Bytes;
use http::{
    HeaderMap, HeaderName, Method, StatusCode,
    header::{ACCEPT, CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_LOCATION, CONTENT_TYPE, LOCATION, USER_AGENT},
};
use percent_encoding::percent_decode_str;
use reqwest::{Response, Url};

use super::{OF_THE_CONNECTION, Outgoing, SendError, failures::Failure};
use crate::{Egress, trail};

/// How many redirects are followed.
const REDIRECTS: usize = 5;
/// How large the headers of an answer may be, names and values, in bytes.
const HEADERS_MOST: usize = 64 * 1024;
/// What says something about a body.
const OF_THE_BODY: [HeaderName; 4] = [CONTENT_TYPE, CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_LOCATION];
/// What also another origin is told, where it is not sensitive.
const FOR_ALL: [HeaderName; 5] = [ACCEPT, CONTENT_TYPE, USER_AGENT, trail::TRACEPARENT, trail::CHAIN_DEPTH];

/// One request to one origin.
struct Hop {
    method: Method,
    url: Url,
    headers: HeaderMap,
    body: Option<Bytes>,
    repeatable: bool,
}

/// Sends a request and follows where it is redirected. The answer's body is not yet read.
pub(super) async fn follow(egress: &Egress, request: &Outgoing) -> Result<Response, Failure> {
    let host = request.url.host_str().unwrap_or_default();
    if !request.secrets.iter().all(|secret| secret.may_go_to(host)) {
        return Err(refused(format!("a secret of this request may not go to {host}")));
    }
    let mut hop = Hop::first(request);
    let mut response = hop.send(egress).await?;
    for _ in 0..REDIRECTS {
        let Some(target) = target_of(&response, &hop.url) else {
            return Ok(response);
        };
        let redirected = async {
            hop = hop.redirected(response.status(), target?, egress).await?;
            hop.send(egress).await
        };
        // The first server has had the request, and may have done what it asks for.
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
        for name in &OF_THE_CONNECTION {
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
        let client = egress.client_for(&self.url, !self.repeatable).map_err(Failure::lasting)?;
        let mut request = client.request(self.method.clone(), self.url.clone()).headers(self.headers.clone());
        if let Some(body) = &self.body {
            request = request.body(body.clone());
        }
        let host = self.url.host_str().unwrap_or_default();
        let response = egress.go(request).await.map_err(|error| Failure::of_request(&error, host))?;
        let size: usize = response.headers().iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
        if size > HEADERS_MOST {
            return Err(unknown(format!("the answer has more than {} KiB of headers", HEADERS_MOST / 1024)));
        }
        Ok(response)
    }

    /// The request that `target` gets instead.
    async fn redirected(&self, status: StatusCode, target: Url, egress: &Egress) -> Result<Self, Failure> {
        if self.url.scheme() == "https" && target.scheme() != "https" {
            return Err(unknown("the server redirected from https:// to http://, which is not followed".into()));
        }
        // Nobody out there may lead a tool into the deployment's own network.
        if egress.is_allowed_by_name(&target) && !egress.is_allowed_by_name(&self.url) {
            return Err(unknown("the server redirected to a host that only a tool's own address may name, which is not followed".into()));
        }
        let is_read = matches!(self.method, Method::GET | Method::HEAD);
        let is_same_origin = target.origin() == self.url.origin();
        let keeps_all = matches!(status, StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT);
        if keeps_all && !is_same_origin && (!is_read || self.body.is_some()) {
            let host = target.host_str().unwrap_or_default();
            return Err(unknown(format!("the server redirected a {} to {host}, another origin, which is not followed", self.method)));
        }
        let method = if keeps_all || is_read { self.method.clone() } else { Method::GET };
        let body = if keeps_all { self.body.clone() } else { None };
        let mut headers = self.headers.clone();
        if body.is_none() && self.body.is_some() {
            for name in &OF_THE_BODY {
                headers.remove(name);
            }
        }
        if !is_same_origin {
            // The server may have been told a secret, and may hand it on.
            let known = egress.secrets().await.map_err(Failure::lasting)?;
            let decoded = percent_decode_str(target.as_str()).decode_utf8_lossy();
            if known.is_in(target.as_str())
                || known.is_in(&decoded)
                || target.query_pairs().any(|(name, value)| known.is_in(&name) || known.is_in(&value))
            {
                return Err(unknown("the server redirected to another origin with a secret in the address, which is not followed".into()));
            }
            let told = |name: &HeaderName| headers.get(name).filter(|value| !value.is_sensitive()).cloned();
            headers = FOR_ALL.into_iter().filter_map(|name| Some((name.clone(), told(&name)?))).collect();
        }
        Ok(Self { method, url: target, headers, body, repeatable: self.repeatable })
    }
}

/// Where an answer redirects to, if it does.
fn target_of(response: &Response, base: &Url) -> Option<Result<Url, Failure>> {
    if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    let location = response.headers().get(LOCATION)?;
    let target = str::from_utf8(location.as_bytes()).ok().and_then(|location| base.join(location).ok());
    Some(target.ok_or_else(|| unknown("the server redirected to what is no address".into())))
}

fn refused(text: String) -> Failure {
    Failure::lasting(SendError::NotSent(text))
}

fn unknown(text: String) -> Failure {
    Failure::lasting(SendError::Unknown(text))
}

#[cfg(test)]
mod tests;
