//! Tools of the type `http`: the configured request, filled in with the input of the call.

mod headers;
mod response;

use std::{collections::BTreeMap, time::Duration};

use http::{HeaderMap, Method};
use reqwest::Url;
use serde_json::Value;
use smartspace_domain::templates::{self, PlaceholderValues};
use smartspace_ports::secrets::{KnownSecrets, Secret};

pub use self::response::{HttpResult, send};
use crate::{Egress, Outgoing};

/// The longest address that the HTTP client can send, in bytes.
const MAX_ADDRESS_BYTES: usize = 60 * 1024;

/// A request as it is configured.
#[derive(Debug)]
pub struct HttpTool {
    /// GET, POST, PUT, PATCH or DELETE.
    pub method: String,
    /// The URL, with its placeholders.
    pub url: String,
    /// The headers, with their placeholders.
    pub headers: BTreeMap<String, String>,
    /// The body, with its placeholders.
    pub body: Option<Value>,
    /// For the whole call.
    pub limit: Duration,
}

impl HttpTool {
    /// The filled-in request of a call, with the headers of its trace.
    ///
    /// # Errors
    /// A text for the model about a bad input or a missing setting.
    pub async fn request(
        &self,
        egress: &Egress,
        trace: HeaderMap,
        input: &Value,
        repeatable: bool,
    ) -> Result<Outgoing, String> {
        let known = egress.secrets().await.map_err(|error| error.to_string())?;
        let secret = |name: &str| match known.get(name) {
            Some(secret) => Ok(secret.reveal().to_owned()),
            None => Err(format!(
                "the secret {name} is not set here; the operator of this deployment can set it"
            )),
        };
        let filling = PlaceholderValues { input, secret: &secret };
        let address = templates::address(&self.url, &filling)?;
        if address.len() > MAX_ADDRESS_BYTES {
            return Err(format!(
                "the address is too long with this input; \
                 expected at most {MAX_ADDRESS_BYTES} bytes"
            ));
        }
        let url = Url::parse(&address)
            .map_err(|error| format!("the address of this tool can't be used: {error}"))?;
        let secrets = self.secrets(&known);
        let host = url.host_str().unwrap_or_default();
        if let Some((name, _)) = secrets.iter().find(|(_, secret)| !secret.may_go_to(host)) {
            return Err(format!(
                "the secret {name} may not go to {host}; \
                 the operator of this deployment sets its hosts"
            ));
        }
        Ok(Outgoing {
            method: Method::from_bytes(self.method.as_bytes())
                .map_err(|error| error.to_string())?,
            url,
            headers: self.headers(trace, &filling)?,
            body: self
                .body
                .as_ref()
                .map(|body| templates::body(body, &filling))
                .transpose()?
                .map(|body| self.body_text(body).into()),
            limit: self.limit,
            repeatable,
            only_status: false,
            secrets: secrets.into_iter().map(|(_, secret)| secret.clone()).collect(),
        })
    }

    /// The body to send: JSON, or a plain text if the configured content type is not JSON.
    fn body_text(&self, body: Value) -> String {
        let configured =
            self.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        let is_json =
            configured.is_none_or(|(_, value)| value.to_ascii_lowercase().contains("json"));
        match body {
            Value::String(text) if !is_json => text,
            body => body.to_string(),
        }
    }

    /// The secrets that the request contains.
    fn secrets<'a>(&'a self, known: &'a KnownSecrets) -> Vec<(&'a str, &'a Secret)> {
        let mut names = templates::secrets_of(&self.url);
        names.extend(self.headers.values().flat_map(|value| templates::secrets_of(value)));
        if let Some(body) = &self.body {
            templates::texts_of_body(body, &mut |text, _| {
                names.extend(templates::secrets_of(text));
            });
        }
        names.into_iter().filter_map(|name| Some((name, known.get(name)?))).collect()
    }
}
