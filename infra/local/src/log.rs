//! The log: text on a terminal, JSON lines otherwise, without secrets in either. It goes to
//! standard error, because standard output is for the console's address.

use std::{
    io::{self, IsTerminal, Stderr, Write, stderr},
    sync::Arc,
};

use smartspace_ports::{
    log::{Concealed, JsonLines},
    secrets::KnownSecrets,
};
use tracing_subscriber::{
    EnvFilter, Layer, fmt::MakeWriter, layer::SubscriberExt, util::SubscriberInitExt,
};

/// Starts the log with a filter, which the flags have checked. Returns what it conceals, for
/// secrets that are known later.
pub(crate) fn start(filter: &str, secrets: Arc<KnownSecrets>) -> Concealed {
    let filter = EnvFilter::new(filter);
    // This library logs the inputs of tools, and every unreachable server as an error of ours.
    let filter = "rmcp=off".parse().into_iter().fold(filter, EnvFilter::add_directive);
    let concealed = Concealed::default();
    concealed.set(secrets);
    // A second call, as in tests, has no effect.
    if stderr().is_terminal() {
        let _ = tracing_subscriber::fmt()
            .with_env_filter(filter)
            .with_writer(WithoutSecrets(concealed.clone()))
            .compact()
            .try_init();
    } else {
        let _ = tracing_subscriber::registry()
            .with(JsonLines::new(stderr(), concealed.clone(), None).with_filter(filter))
            .try_init();
    }
    concealed
}

/// Redacts secrets from each line. Our own lines contain none, but libraries may log anything at
/// their lower levels.
struct WithoutSecrets(Concealed);

impl<'a> MakeWriter<'a> for WithoutSecrets {
    type Writer = Line<'a>;

    fn make_writer(&'a self) -> Line<'a> {
        Line { secrets: &self.0, to: stderr() }
    }
}

/// Writes one line. The subscriber passes each line in one piece.
struct Line<'a> {
    secrets: &'a Concealed,
    to: Stderr,
}

impl Write for Line<'_> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(line);
        self.to.write_all(self.secrets.redact(&text).as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}
