//! What stands in for AWS where one function runs by itself: the tests send the samples of `events/` through the functions' binaries with it, the program
//! `init` measures them with it, and the program `stand-in` is for trying a function by hand.
//!
//! - [`services`]: the table, the queues, the secret, the scheduler and the connections, which keep what they were asked
//! - [`model`]: a model that answers at once
//! - [`runtime`]: the endpoint that hands a function its events
//! - [`function`]: a function's binary as a child process, with its environment
//! - [`samples`]: the events
//! - [`world`]: what has to be in the table for them to mean something

pub mod function;
pub mod model;
pub mod runtime;
pub mod samples;
pub mod services;
pub mod world;

use axum::{Router, serve::ListenerExt};
use tokio::{net::TcpListener, task::JoinHandle};

/// Why something could not be done, for people.
pub type Result<T, E = String> = std::result::Result<T, E>;

/// A server on the loopback, which ends when it is dropped.
#[derive(Debug)]
pub(crate) struct Served {
    /// Its address, as in `127.0.0.1:7701`.
    pub(crate) address: String,
    serving: JoinHandle<()>,
}

impl Served {
    /// Serves at `address`; port 0 is any free one.
    pub(crate) async fn at(address: &str, router: Router) -> Result<Self> {
        let listener = TcpListener::bind(address).await.map_err(|error| format!("{address}: {error}"))?;
        let address = listener.local_addr().map_err(text)?.to_string();
        // Else an answer may wait for the acknowledgement of what was sent before, which would be measured as the function's time.
        let listener = listener.tap_io(|connection| {
            let _ = connection.set_nodelay(true);
        });
        let serving = tokio::spawn(async move {
            // It ends with its task alone.
            let _ = axum::serve(listener, router).await;
        });
        Ok(Self { address, serving })
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

pub(crate) fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
