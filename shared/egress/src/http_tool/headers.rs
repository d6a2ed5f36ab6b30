//! The headers of a request.

use http::{HeaderMap, HeaderName, HeaderValue, header};
use smartspace_domain::templates::{self, PlaceholderValues};

use crate::http_tool::HttpTool;

/// The `Accept` header, unless one is configured.
const ACCEPTED: &str = "application/json, text/*;q=0.9, */*;q=0.8";

impl HttpTool {
    pub(super) fn headers(
        &self,
        mut headers: HeaderMap,
        filling: &PlaceholderValues<'_>,
    ) -> Result<HeaderMap, String> {
        headers.insert(header::ACCEPT, HeaderValue::from_static(ACCEPTED));
        if self.body.is_some() {
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        for (name, template) in &self.headers {
            let invalid = |error: &dyn std::fmt::Display| {
                format!("the header {name} of this tool can't be sent: {error}")
            };
            let name: HeaderName = name.parse().map_err(|error| invalid(&error))?;
            let Some(value) =
                templates::header(template, filling).map_err(|error| invalid(&error))?
            else {
                headers.remove(name);
                continue;
            };
            let mut value =
                HeaderValue::from_bytes(value.as_bytes()).map_err(|error| invalid(&error))?;
            let is_secret = !templates::secrets_of(template).is_empty()
                || name == header::AUTHORIZATION
                || name == header::COOKIE;
            value.set_sensitive(is_secret);
            headers.insert(name, value);
        }
        Ok(headers)
    }
}
