//! The thread that drives the connections. A server can occupy this thread with an endless response
//! that no limit covers, such as interim responses. Other threads are not affected.

use std::{future::Future, io, sync::OnceLock};

use tokio::{
    runtime::{Builder, Runtime},
    task::JoinHandle,
};

/// A runtime with one thread, created at its first use.
#[derive(Default)]
pub(super) struct OwnThread(OnceLock<io::Result<Runtime>>);

impl OwnThread {
    /// Runs the work on the thread. Dropping the returned future aborts the work.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> T {
        let created = self.0.get_or_init(|| {
            Builder::new_multi_thread().worker_threads(1).thread_name("egress").enable_all().build()
        });
        // If the thread can't be created, the work runs on the current one.
        let Ok(runtime) = created else { return work.await };
        let mut task = AbortOnDrop(runtime.spawn(work));
        match (&mut task.0).await {
            Ok(done) => done,
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            // The runtime stops only with the process.
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

struct AbortOnDrop<T>(JoinHandle<T>);

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}
