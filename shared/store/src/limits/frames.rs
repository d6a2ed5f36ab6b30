//! The frames of each connection, counted for all processes together. A frame costs one small
//! write, or two if the connection has sent another one just before.
//!
//! The item holds the time at which the bucket is full again, in milliseconds, so that DynamoDB
//! itself adds the cost of a frame. No frame needs to know the item, and no two race for it.

use std::time::Duration;

use serde::Deserialize;
use smartspace_domain::{Time, ids::ConnectionId, rates::Rate};

use crate::{
    Rates, Result,
    table::{WriteError, keys, write::Write},
};

/// How often a frame tries again because its bucket became full, or not full, in between.
const TRIES: usize = 4;
/// Clocks of processes that differ by more than this are wrong, and a bucket that one of them
/// filled does not count.
const CLOCKS_DIFFER_BY: Duration = Duration::from_secs(10);
/// How long an unused bucket is stored.
const STORED_FOR: Duration = Duration::from_mins(5);

/// Whether a frame is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameCount {
    /// The bucket had enough tokens.
    Allowed,
    /// The bucket has too few tokens.
    Refused {
        /// How long to wait.
        wait: Duration,
        /// How many frames have been refused in a row, including this one.
        in_a_row: u32,
    },
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct BucketItem {
    full_at_ms: i64,
    #[serde(default)]
    refused: u32,
}

/// A frame, with the times that its bucket is compared with.
struct Frame<'a> {
    connection: &'a ConnectionId,
    /// The time in which the bucket gains the tokens of this frame.
    price: Duration,
    now: Time,
    /// The latest time at which the bucket may be full for this frame to be allowed.
    latest: Time,
    /// No bucket that another right clock has filled is full later than this.
    limit: Time,
}

impl Rates<'_> {
    /// Takes `tokens` out of the bucket of a connection. A failing table refuses nobody.
    pub async fn count_frame(
        self,
        connection: &ConnectionId,
        rate: Rate,
        tokens: u32,
        now: Time,
    ) -> FrameCount {
        let price = rate.token() * tokens;
        let most = now + rate.token() * rate.burst;
        let limit = most + CLOCKS_DIFFER_BY;
        let frame = Frame { connection, price, now, latest: most - price, limit };
        self.take_tokens(&frame).await.unwrap_or_else(|error| {
            tracing::warn!(%connection, %error, "a frame could not be counted");
            FrameCount::Allowed
        })
    }

    async fn take_tokens(self, frame: &Frame<'_>) -> Result<FrameCount> {
        for _ in 0..TRIES {
            let Some(bucket) = self.take_from_full(frame).await? else {
                return Ok(FrameCount::Allowed);
            };
            if bucket.full_at_ms > frame.latest.as_millis() {
                return self.refuse(frame, &bucket).await;
            }
            let Some(bucket) = self.take_from_used(frame).await? else {
                return Ok(FrameCount::Allowed);
            };
            if bucket.full_at_ms > frame.latest.as_millis() {
                return self.refuse(frame, &bucket).await;
            }
        }
        // Only clocks that differ by the age of the bucket end up here.
        Ok(FrameCount::Allowed)
    }

    /// Takes from a bucket that is full, or that a wrong clock has filled. Returns the bucket if it
    /// is neither.
    async fn take_from_full(self, frame: &Frame<'_>) -> Result<Option<BucketItem>> {
        let then = frame.now + frame.price;
        let write = Write::count(
            keys::frames(frame.connection),
            "SET #fullAtMs = :then, #expiresAt = :expires REMOVE #refused",
        )
        .when("attribute_not_exists(#fullAtMs) OR #fullAtMs < :now OR #fullAtMs > :limit")
        .value(":then", then.as_millis())?
        .value(":limit", frame.limit.as_millis())?
        .value(":expires", (then + STORED_FOR).as_seconds())?
        .value(":now", frame.now.as_millis())?;
        self.take(frame, write).await
    }

    /// Takes from a bucket that is not full. Returns the bucket if it does not have enough.
    async fn take_from_used(self, frame: &Frame<'_>) -> Result<Option<BucketItem>> {
        let write = Write::count(
            keys::frames(frame.connection),
            "SET #fullAtMs = #fullAtMs + :price, #expiresAt = :expires REMOVE #refused",
        )
        .when("#fullAtMs >= :now AND #fullAtMs <= :latest")
        .value(":price", i64::try_from(frame.price.as_millis()).unwrap_or(i64::MAX))?
        .value(":latest", frame.latest.as_millis())?
        .value(":expires", (frame.limit + STORED_FOR).as_seconds())?
        .value(":now", frame.now.as_millis())?;
        self.take(frame, write).await
    }

    async fn take(self, frame: &Frame<'_>, write: Write) -> Result<Option<BucketItem>> {
        match self.store.table.write(write).await {
            Ok(_) => Ok(None),
            Err(WriteError::Refused(refusal)) => {
                let missing = BucketItem { full_at_ms: 0, refused: 0 };
                Ok(Some(refusal.existing(&keys::frames(frame.connection)).unwrap_or(missing)))
            }
            Err(WriteError::Other(error)) => Err(error),
        }
    }

    async fn refuse(self, frame: &Frame<'_>, bucket: &BucketItem) -> Result<FrameCount> {
        let write =
            Write::count(keys::frames(frame.connection), "ADD #refused :one").value(":one", 1)?;
        self.store.table.write_always(write).await?;
        Ok(FrameCount::Refused {
            wait: Time::from_millis(bucket.full_at_ms).since(frame.latest),
            in_a_row: bucket.refused + 1,
        })
    }
}
