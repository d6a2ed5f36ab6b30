//! Routes that take their path and methods from the handlers' annotations.
//!
//! The annotations also describe the API. Building that description costs 0.4 MB of code and time
//! at each start, so only tests build it, from the same routes, and compare it with the committed
//! text. The function serves the committed text ([`crate::description`]).

use std::sync::Arc;

use axum::{Router, handler::Handler, routing::MethodRouter};
use utoipa::{
    __dev::{SchemaReferences, Tags},
    Path,
    openapi::HttpMethod,
};
use utoipa_axum::PathItemExt;

use crate::Api;

/// What `#[utoipa::path]` generates for a handler.
pub(crate) trait Annotation: Path + SchemaReferences + Tags<'static> {}

impl<P: Path + SchemaReferences + Tags<'static>> Annotation for P {}

/// Routes, and in tests their description.
#[derive(Default)]
pub(crate) struct Routes {
    router: Router<Arc<Api>>,
    #[cfg(test)]
    described: utoipa::openapi::OpenApi,
}

impl Routes {
    /// Adds a handler at the path and methods of its annotation `P`.
    pub(crate) fn route<P: Annotation, T: 'static>(
        mut self,
        handler: impl Handler<T, Arc<Api>>,
    ) -> Self {
        let to = |methods: MethodRouter<_>, method: HttpMethod| {
            methods.on(method.to_method_filter(), handler.clone())
        };
        let methods = P::methods().into_iter().fold(MethodRouter::new(), to);
        self.router = self.router.route(&P::path(), methods);
        #[cfg(test)]
        self.describe::<P>();
        self
    }

    pub(crate) fn merge(mut self, others: Self) -> Self {
        self.router = self.router.merge(others.router);
        #[cfg(test)]
        self.described.merge(others.described);
        self
    }
}

impl From<Routes> for Router<Arc<Api>> {
    fn from(routes: Routes) -> Self {
        routes.router
    }
}

#[cfg(test)]
impl Routes {
    fn describe<P: Annotation>(&mut self) {
        let mut operation = P::operation();
        operation.tags.get_or_insert_default().extend(P::tags().into_iter().map(str::to_owned));
        self.described.paths.add_path_operation(P::path(), P::methods(), operation);
        let mut schemas = Vec::new();
        P::schemas(&mut schemas);
        self.described.components.get_or_insert_default().schemas.extend(schemas);
    }

    /// The paths and schemas of these routes.
    pub(crate) fn description(self) -> utoipa::openapi::OpenApi {
        self.described
    }
}

/// The routes to these handlers.
macro_rules! routes {
    ($($handler:ident),+) => {
        utoipa_axum::paste! {
            $crate::annotated_routes::Routes::default()
                $(.route::<[<__path_ $handler>], _>($handler))+
        }
    };
}

pub(crate) use routes;
