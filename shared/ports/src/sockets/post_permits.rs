//! Bounds the posts that a process has under way, and counts those that are late.
//!
//! A Lambda environment has 1,024 file descriptors and a fraction of a processor. A crowd of posts
//! that all start at once would share both, and all of them would be slow.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use tokio::sync::{Semaphore, SemaphorePermit};

/// How many posts a process has under way at once.
pub const POSTS_AT_ONCE: usize = 64;

/// The permits of the posts of one process. Clones share them.
#[derive(Clone, Debug)]
pub struct PostPermits {
    free: Arc<Semaphore>,
    late: Arc<AtomicU64>,
}

impl Default for PostPermits {
    fn default() -> Self {
        Self { free: Arc::new(Semaphore::new(POSTS_AT_ONCE)), late: Arc::default() }
    }
}

impl PostPermits {
    /// Waits for a permit. Posts get permits in the order in which they ask. Returns `None` only if
    /// posts are no longer limited, which never happens.
    pub(super) async fn take(&self) -> Option<SemaphorePermit<'_>> {
        self.free.acquire().await.ok()
    }

    pub(super) fn count_late(&self) {
        self.late.fetch_add(1, Ordering::Relaxed);
    }

    /// Logs how many posts were late since the last report, if any. The log line is the metric
    /// `LatePosts`. One line stands for many posts, because a crowd would write thousands of lines.
    pub fn report_late(&self) {
        let posts = self.late.swap(0, Ordering::Relaxed);
        if posts > 0 {
            tracing::warn!(event = "late_posts", posts, "frames were sent late or not at all");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::{Mutex, PoisonError},
        time::Duration,
    };

    use async_trait::async_trait;
    use futures::future::join_all;
    use smartspace_domain::ids::ConnectionId;
    use tokio::time::{Instant, sleep};

    use super::*;
    use crate::sockets::{CloseCode, PostError, Sockets, post_in_time};

    /// Connections whose posts take a while, and the greatest number of posts at once.
    #[derive(Default)]
    struct SlowSockets {
        post_permits: PostPermits,
        at_once: Mutex<(usize, usize)>,
    }

    #[async_trait]
    impl Sockets for SlowSockets {
        fn post_permits(&self) -> &PostPermits {
            &self.post_permits
        }

        async fn post(&self, connection: &ConnectionId, _: Arc<str>) -> Result<(), PostError> {
            {
                let mut at_once = self.at_once.lock().unwrap_or_else(PoisonError::into_inner);
                at_once.0 += 1;
                at_once.1 = at_once.1.max(at_once.0);
            }
            let takes = if connection.0 == "dead" { 3_600_000 } else { 400 };
            sleep(Duration::from_millis(takes)).await;
            self.at_once.lock().unwrap_or_else(PoisonError::into_inner).0 -= 1;
            Ok(())
        }

        async fn close(&self, _: &ConnectionId, _: CloseCode) {}

        async fn is_open(&self, _: &ConnectionId) -> bool {
            true
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_crowd_of_posts_is_bounded_and_no_clock_starts_before_its_post() {
        let sockets = SlowSockets::default();
        let due = Instant::now();
        let ids: Vec<_> = (0..1_000).map(|number| ConnectionId(number.to_string())).collect();
        let posts = ids.iter().map(|id| post_in_time(&sockets, id, "{}".into(), due));
        // The last ones wait for six seconds, and are sent all the same.
        assert!(join_all(posts).await.iter().all(Result::is_ok));
        assert_eq!(sockets.at_once.lock().unwrap().1, POSTS_AT_ONCE);
        // Three rounds of posts begin within the first second.
        assert_eq!(
            sockets.post_permits.late.load(Ordering::Relaxed) as usize,
            1_000 - 3 * POSTS_AT_ONCE
        );

        sockets.post_permits.report_late();
        assert_eq!(sockets.post_permits.late.load(Ordering::Relaxed), 0);
        let dead = ConnectionId("dead".into());
        let failed = post_in_time(&sockets, &dead, "{}".into(), Instant::now()).await;
        assert!(matches!(failed, Err(PostError::Failed(_))), "{failed:?}");
        assert_eq!(sockets.post_permits.late.load(Ordering::Relaxed), 1);
    }
}
