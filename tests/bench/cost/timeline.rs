//! How long people wait on AWS, call by call: from a message to the request of the model, and from
//! the model's first text to a browser.
//!
//! The clock is virtual: a call takes what such calls usually take (`ports`), and computing takes
//! no time.

use tokio::time::Instant;

use crate::{
    deployment::Deployment,
    locked,
    report::Out,
    room::{Plan, Room},
};

/// A call, or a moment.
#[derive(Clone, Debug)]
pub(crate) struct Span {
    begun: Instant,
    ended: Instant,
    function: &'static str,
    pub(crate) what: String,
}

/// The begin and the end of what people wait for.
pub(crate) const REQUEST: &str = "the model gets the request";
pub(crate) const FIRST_TEXT: &str = "the model's first text";
const MESSAGE: &str = "a person posts a message";
/// How the first frame with text is noted.
pub(crate) const TEXT_FRAME: &str = "frame with text";

impl Deployment {
    /// Notes a call that has begun at `begun` and ends now.
    pub(crate) fn note(&self, begun: Instant, function: &'static str, what: impl Into<String>) {
        let span = Span { begun, ended: Instant::now(), function, what: what.into() };
        locked(&self.spans).push(span);
    }
}

/// Plays one message and writes its calls.
pub(crate) async fn show(
    plan: Plan<'_>,
    warm: usize,
    title: &str,
    write: Out<'_>,
) -> Result<(), String> {
    let room = Room::make(plan).await?;
    for _ in 0..warm {
        room.say("").await?;
    }
    let deployment = &room.deployment;
    locked(&deployment.spans).clear();
    deployment.note(Instant::now(), "", MESSAGE);
    room.say("").await?;
    let spans = locked(&deployment.spans).clone();
    let first = |what: &str| {
        let position = spans.iter().position(|span| span.what == what);
        position.ok_or_else(|| format!("nobody noted: {what}"))
    };
    for (from, to) in [(MESSAGE, REQUEST), (FIRST_TEXT, TEXT_FRAME)] {
        let begun = spans[first(from)?].ended;
        let ended = spans[first(to)?].ended;
        write(format!("## {title}: {from}, until {to}\n"))?;
        write("| begins, ms | ends, ms | function | call |\n|---|---|---|---|".into())?;
        let mut between: Vec<_> =
            spans.iter().filter(|span| span.begun >= begun && span.ended <= ended).collect();
        between.sort_by_key(|span| (span.begun, span.ended));
        let ms = |at: Instant| at.duration_since(begun).as_millis();
        for Span { begun, ended, function, what } in between {
            write(format!("| {} | {} | {function} | {what} |", ms(*begun), ms(*ended)))?;
        }
        write(format!("\n{} ms\n", ms(ended)))?;
    }
    Ok(())
}
