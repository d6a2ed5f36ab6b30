//! DynamoDB calls and answers as the SDK sends them over HTTP.

use aws_smithy_runtime_api::{
    client::{
        orchestrator::{HttpRequest, HttpResponse},
        result::ConnectorError,
    },
    http::StatusCode,
};
use aws_smithy_types::body::SdkBody;

#[derive(Debug)]
pub struct TableCall {
    /// The name of the operation, such as `GetItem`.
    pub operation: String,
    /// The input of the operation, as JSON.
    pub body: Vec<u8>,
}

impl TableCall {
    /// Takes a call out of an HTTP request of the SDK.
    pub fn of(request: &HttpRequest) -> Self {
        let target = request.headers().get("x-amz-target").unwrap_or_default();
        Self {
            operation: target.rsplit('.').next().unwrap_or_default().to_owned(),
            body: request.body().bytes().unwrap_or_default().to_vec(),
        }
    }
}

/// Puts the answer to a call into an HTTP response.
pub fn respond(status: u16, body: String) -> Result<HttpResponse, ConnectorError> {
    let status =
        StatusCode::try_from(status).map_err(|error| ConnectorError::other(error.into(), None))?;
    Ok(HttpResponse::new(status, SdkBody::from(body)))
}
