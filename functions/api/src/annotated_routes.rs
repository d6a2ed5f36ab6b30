//! Routes that take their path and methods from the handlers' annotations.
//!
//! The annotations also describe the API. Building that description cost 0.4 MB of code and time at
//! each start, so only tests build it and compare it with the committed text. The function serves
//! the committed text ([`crate::description`]).

#[cfg(test)]
pub(crate) use described::{Routes, routes};
#[cfg(not(test))]
pub(crate) use plain::{Routes, routes};

#[cfg(not(test))]
mod plain {
    use std::sync::Arc;

    use axum::{Router, handler::Handler, routing::MethodRouter};
    use utoipa::{Path, openapi::HttpMethod};
    use utoipa_axum::PathItemExt;

    use crate::Api;

    #[derive(Default)]
    pub(crate) struct Routes(Router<Arc<Api>>);

    impl Routes {
        /// Adds a handler at the path and methods of its annotation `P`.
        pub(crate) fn route<P: Path, T: 'static>(self, handler: impl Handler<T, Arc<Api>>) -> Self {
            let methods = P::methods().into_iter();
            let to = |methods: MethodRouter<_>, method: HttpMethod| {
                methods.on(method.to_method_filter(), handler.clone())
            };
            Self(self.0.route(&P::path(), methods.fold(MethodRouter::new(), to)))
        }

        pub(crate) fn merge(self, others: Self) -> Self {
            Self(self.0.merge(others.0))
        }
    }

    impl From<Routes> for Router<Arc<Api>> {
        fn from(routes: Routes) -> Self {
            routes.0
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
}

#[cfg(test)]
mod described {
    use std::sync::Arc;

    use utoipa_axum::router::OpenApiRouter;

    use crate::Api;

    /// Routes with their `OpenAPI` description.
    pub(crate) type Routes = OpenApiRouter<Arc<Api>>;

    /// The routes to these handlers.
    macro_rules! routes {
        ($($handler:ident),+) => {
            $crate::annotated_routes::Routes::default()$(.routes(utoipa_axum::routes!($handler)))+
        };
    }

    pub(crate) use routes;
}
