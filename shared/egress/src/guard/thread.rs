//! The thread that connections are driven on: a server that sends without end what nobody counts, such as provisional answers, takes this one and no other.

use std::{future::Future, io, sync::OnceLock};

use tokio::{
    runtime::{Builder, Runtime},
    task::JoinHandle,
};

/// A runtime of one thread, made when it is first used.
#[derive(Default)]
pub(super) struct OwnThread(OnceLock<io::Result<Runtime>>);

impl OwnThread {
    /// Does it on the thread, and drops it there where nobody waits any more.
    pub(super) async fn run<T: Send + 'static>(&self, work: impl Future<Output = T> + Send + 'static) -> T {
        let made = self.0.get_or_init(|| Builder::new_multi_thread().worker_threads(1).thread_name("egress").enable_all().build());
        // Where there can be no other thread, it is done on this one.
        let Ok(runtime) = made else { return work.await };
        let mut task = Aborted(runtime.spawn(work));
        match (&mut task.0).await {
            Ok(done) => done,
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            // The process ends.
            Err(_) => std::future::pending().await,
        }
    }
}

impl Drop for OwnThread {
    fn drop(&mut self) {
        if let Some(Ok(runtime)) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// Ends with whoever waits for it.
struct Aborted<T>(JoinHandle<T>);

impl<T> Drop for Aborted<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}
