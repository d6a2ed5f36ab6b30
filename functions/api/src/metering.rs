//! Charges callers for long answers. A call is counted before its answer is known, and a page of a
//! megabyte reads two hundred times more of the table than most calls.

use std::sync::{Arc, OnceLock};

use axum::{
    body::HttpBody,
    extract::{Request, State},
    middleware::Next,
    response::Response,
};
use smartspace_domain::access::Caller;

use crate::Api;

/// The caller that is charged for an answer. It is known once the credential is checked.
#[derive(Clone, Default)]
pub(crate) struct Charged(Arc<OnceLock<Caller>>);

impl Charged {
    pub(crate) fn to(&self, caller: Caller) {
        // A request has one credential, however often it is read.
        let _ = self.0.set(caller);
    }
}

pub(crate) async fn charge(
    State(api): State<Arc<Api>>,
    mut request: Request,
    next: Next,
) -> Response {
    let charged = Charged::default();
    request.extensions_mut().insert(charged.clone());
    let response = next.run(request).await;
    let bytes = response.body().size_hint().exact().unwrap_or(0);
    if let Some(caller) = charged.0.get() {
        api.pipeline.charge_for(*caller, bytes).await;
    }
    response
}
