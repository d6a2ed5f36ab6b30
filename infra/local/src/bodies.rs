//! The bodies of requests: how slowly they may arrive, and how much memory all of them together may
//! take. It holds for every route, whatever the route does with its body.
//!
//! Large bodies that are still arriving have a share of the memory, and each caller has one. So
//! half-sent bodies never keep out the small ones of others.

use std::{
    collections::HashMap,
    hash::{BuildHasher, RandomState},
    io,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    body::{Body, Bytes, HttpBody},
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use http_body::{Frame, SizeHint};
use smartspace_domain::{Error, invites::GuestToken, problems::Problem};
use smartspace_web::Refusal;
use tokio::time::{Instant, Sleep, sleep};

use crate::{
    hosts::refuse,
    time_limits::{LEAST_RATE, TimeLimits},
};

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;
/// The memory for all bodies together.
const ALL: usize = 64 * MIB;
/// The memory for the bodies of one caller.
const OF_CALLER: usize = 12 * MIB;
/// A body is small up to this length.
const SMALL: usize = 64 * KIB;
/// What large bodies of members and of guests may take of [`ALL`] while they arrive. The buffers in
/// which they arrive take about as much again.
const ARRIVING: usize = 12 * MIB;
const ARRIVING_OF_GUESTS: usize = 6 * MIB;
/// After how many seconds a caller may try again.
const RETRY_AFTER: u16 = 5;

#[derive(Clone)]
pub(crate) struct Bodies {
    limits: TimeLimits,
    /// `None` for routes that store bodies on disk as they arrive.
    memory: Option<Arc<Memory>>,
}

impl Bodies {
    pub(crate) fn in_memory(limits: TimeLimits) -> Self {
        Self { limits, memory: Some(Arc::default()) }
    }

    pub(crate) fn on_disk(limits: TimeLimits) -> Self {
        Self { limits, memory: None }
    }
}

/// The memory that bodies take.
#[derive(Debug, Default)]
struct Memory {
    hasher: RandomState,
    used: Mutex<Used>,
}

#[derive(Debug, Default)]
struct Used {
    all: usize,
    /// By the hash of the credential. All callers without one share an entry.
    of_callers: HashMap<u64, usize>,
    arriving: usize,
    arriving_of_guests: usize,
}

/// Why a body is not read further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cut {
    TooSlow(Duration),
    NoRoom,
}

impl Cut {
    fn into_response(self) -> Response {
        match self {
            Self::TooSlow(next) => {
                let rate = LEAST_RATE / 1024;
                let text = format!(
                    "expected the next bytes of the body within {next:?}, and {rate} KiB a second"
                );
                Refusal(Error::TooSlow(text)).into_response()
            }
            Self::NoRoom => {
                let text = "the bodies of other requests take the memory for them; try again soon";
                let mut response = refuse(&Problem::new(503, "Service Unavailable", text));
                let headers = response.headers_mut();
                headers.insert(header::RETRY_AFTER, RETRY_AFTER.into());
                headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
                response
            }
        }
    }
}

/// A body in memory. It takes its bytes until the request is answered.
struct Held {
    memory: Option<Arc<Memory>>,
    caller: u64,
    is_guest: bool,
    taken: Mutex<Taken>,
    cut: OnceLock<Cut>,
}

#[derive(Debug, Default)]
struct Taken {
    bytes: usize,
    /// Of these, what counts as large and still arriving.
    arriving: usize,
}

impl Held {
    fn new(memory: Option<Arc<Memory>>, headers: &HeaderMap) -> Self {
        let credential = headers.get(header::AUTHORIZATION).and_then(|it| it.to_str().ok());
        let token = credential.and_then(|credential| credential.rsplit(' ').next());
        let caller = memory.as_ref().map_or(0, |memory| memory.hasher.hash_one(token));
        let is_guest = token.is_some_and(GuestToken::is_like);
        Self { memory, caller, is_guest, taken: Mutex::default(), cut: OnceLock::new() }
    }

    /// Takes room for bytes that have arrived. Returns whether there was some.
    fn take(&self, bytes: usize) -> bool {
        let Some(memory) = &self.memory else { return true };
        let mut taken = lock(&self.taken);
        let total = taken.bytes + bytes;
        let large = total.saturating_sub(SMALL).saturating_sub(taken.arriving);
        let mut used = lock(&memory.used);
        let of_caller = used.of_callers.get(&self.caller).copied().unwrap_or_default();
        let (arriving, most) = if self.is_guest {
            (used.arriving_of_guests, ARRIVING_OF_GUESTS)
        } else {
            (used.arriving, ARRIVING)
        };
        if used.all + bytes > ALL || of_caller + bytes > OF_CALLER || arriving + large > most {
            return false;
        }
        used.all += bytes;
        *used.of_callers.entry(self.caller).or_default() += bytes;
        *used.arriving(self.is_guest) += large;
        taken.bytes = total;
        taken.arriving += large;
        true
    }

    /// The body arrives no longer.
    fn end(&self) {
        let Some(memory) = &self.memory else { return };
        let arriving = std::mem::take(&mut lock(&self.taken).arriving);
        *lock(&memory.used).arriving(self.is_guest) -= arriving;
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.end();
        let Some(memory) = &self.memory else { return };
        let bytes = lock(&self.taken).bytes;
        let mut used = lock(&memory.used);
        used.all -= bytes;
        if let Some(of_caller) = used.of_callers.get_mut(&self.caller) {
            *of_caller -= bytes;
            if *of_caller == 0 {
                used.of_callers.remove(&self.caller);
            }
        }
    }
}

impl Used {
    fn arriving(&mut self, is_guest: bool) -> &mut usize {
        if is_guest { &mut self.arriving_of_guests } else { &mut self.arriving }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Answers a request within the limits of bodies.
pub(crate) async fn limit(State(bodies): State<Bodies>, request: Request, next: Next) -> Response {
    if request.body().is_end_stream() {
        return next.run(request).await;
    }
    let held = Arc::new(Held::new(bodies.memory, request.headers()));
    let next_bytes = bodies.limits.next_bytes();
    let request = request.map(|body| {
        let held = Arc::clone(&held);
        let waited = Duration::ZERO;
        Body::new(LimitedBody { body, held, next_bytes, bytes: 0, waiting: None, waited })
    });
    let response = next.run(request).await;
    // The route knows only that its body broke.
    held.cut.get().map_or(response, |cut| cut.into_response())
}

/// A body that ends with an error if it arrives too slowly, or if there is no room for it.
struct LimitedBody {
    body: Body,
    held: Arc<Held>,
    next_bytes: Duration,
    bytes: u64,
    /// Since when the next bytes are awaited, and until when.
    waiting: Option<(Instant, Pin<Box<Sleep>>)>,
    /// The whole time for which bytes were awaited. A route may take its own time between them.
    waited: Duration,
}

impl LimitedBody {
    fn cut(&mut self, cut: Cut) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let _ = self.held.cut.set(cut);
        self.held.end();
        Poll::Ready(Some(Err(axum::Error::new(io::Error::from(io::ErrorKind::TimedOut)))))
    }

    /// Counts bytes that have arrived.
    fn count(&mut self, bytes: usize) -> Result<(), Cut> {
        if let Some((since, _)) = self.waiting.take() {
            self.waited += since.elapsed();
        }
        self.bytes += bytes as u64;
        let rated = self.waited.saturating_sub(self.next_bytes);
        if (self.bytes as f64) < rated.as_secs_f64() * LEAST_RATE as f64 {
            return Err(Cut::TooSlow(self.next_bytes));
        }
        if self.held.take(bytes) { Ok(()) } else { Err(Cut::NoRoom) }
    }
}

impl HttpBody for LimitedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if let Some(cut) = self.held.cut.get().copied() {
            return self.cut(cut);
        }
        let polled = Pin::new(&mut self.body).poll_frame(context);
        match &polled {
            Poll::Ready(Some(Ok(frame))) => {
                let bytes = frame.data_ref().map_or(0, Bytes::len);
                if let Err(cut) = self.count(bytes) {
                    return self.cut(cut);
                }
                if self.body.is_end_stream() {
                    self.held.end();
                }
            }
            Poll::Ready(_) => self.held.end(),
            Poll::Pending => {
                let next_bytes = self.next_bytes;
                let new = || (Instant::now(), Box::pin(sleep(next_bytes)));
                let (_, limit) = self.waiting.get_or_insert_with(new);
                if limit.as_mut().poll(context).is_ready() {
                    return self.cut(Cut::TooSlow(next_bytes));
                }
            }
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for LimitedBody {
    fn drop(&mut self) {
        self.held.end();
    }
}

#[cfg(test)]
mod tests;
