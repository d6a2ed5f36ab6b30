//! A connector to the table that lets another process write before a call.

use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex},
};

use aws_smithy_runtime_api::client::{
    http::{
        HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
    },
    orchestrator::HttpRequest,
    runtime_components::RuntimeComponents,
};
use smartspace_embedded_table::{EmbeddedTable, TableCall};

/// The actions of the other process.
pub(crate) type Interruption = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A connector to the table that awaits an interruption before the next call of an operation, once.
#[derive(Clone)]
pub(crate) struct InterruptedConnector {
    pub(crate) table: EmbeddedTable,
    /// The operation and the interruption.
    pub(crate) plan: Arc<Mutex<Option<(&'static str, Interruption)>>>,
}

impl std::fmt::Debug for InterruptedConnector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("InterruptedConnector").finish_non_exhaustive()
    }
}

impl HttpClient for InterruptedConnector {
    fn http_connector(
        &self,
        _: &HttpConnectorSettings,
        _: &RuntimeComponents,
    ) -> SharedHttpConnector {
        SharedHttpConnector::new(self.clone())
    }
}

impl HttpConnector for InterruptedConnector {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let TableCall { operation, .. } = TableCall::of(&request);
        let planned = self.plan.lock().unwrap().take_if(|(before, _)| *before == operation);
        let table = self.table.clone();
        HttpConnectorFuture::new(async move {
            if let Some((_, interruption)) = planned {
                interruption.await;
            }
            table.call(request).await
        })
    }
}
