//! The trait of built-in tools, and the adapter that makes each of them a [`Tool`].

use async_trait::async_trait;
use serde_json::Value;
use smartspace_domain::Result;

use crate::tools::{
    calling::{Calling, Outcome},
    tool::{Concurrency, Spec, StartedCall, Tool},
};

/// A tool whose calls return their outcome at once. The adapter below makes it a [`Tool`].
#[async_trait]
pub(crate) trait BuiltInTool: Send + Sync {
    /// See [`Tool::spec`].
    fn spec(&self) -> Spec;

    /// See [`Tool::concurrency`].
    fn concurrency(&self) -> Concurrency {
        Concurrency::Alone
    }

    /// See [`Tool::is_made_dry`].
    fn is_made_dry(&self) -> bool {
        self.spec().read_only
    }

    /// Makes a call whose input fits the schema of the spec. See [`Tool::call`] about errors.
    async fn call(&self, calling: &Calling<'_>, input: &Value) -> Result<Outcome>;
}

#[async_trait]
impl<T: BuiltInTool> Tool for T {
    fn spec(&self) -> Spec {
        BuiltInTool::spec(self)
    }

    fn concurrency(&self) -> Concurrency {
        BuiltInTool::concurrency(self)
    }

    fn is_made_dry(&self) -> bool {
        BuiltInTool::is_made_dry(self)
    }

    async fn call<'a>(&'a self, calling: &'a Calling<'a>, input: Value) -> Result<StartedCall<'a>> {
        BuiltInTool::call(self, calling, &input).await.map(StartedCall::Done)
    }
}
