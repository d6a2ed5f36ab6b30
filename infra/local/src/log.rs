//! The log: text on a terminal, JSON elsewhere, and in neither a secret. It goes to standard error; standard output is for the address.

use std::{
    io::{self, IsTerminal, Stderr, Write, stderr},
    sync::Arc,
};

use smartspace_edges::{
    log::{Concealed, JsonLines},
    secrets::KnownSecrets,
};
use tracing_subscriber::{EnvFilter, Layer, fmt::MakeWriter, layer::SubscriberExt, util::SubscriberInitExt};

/// Begins to log what `filter` lets through; what is no filter is taken for `info`.
pub(crate) fn start(filter: &str, secrets: Arc<KnownSecrets>) {
    let filter = EnvFilter::try_new(filter).unwrap_or_else(|_| EnvFilter::new("info"));
    // It would log the inputs of tools, and each server that is away as an error of ours.
    let filter = "rmcp=off".parse().into_iter().fold(filter, EnvFilter::add_directive);
    // A second call, in a test, changes nothing.
    if stderr().is_terminal() {
        let _ = tracing_subscriber::fmt().with_env_filter(filter).with_writer(WithoutSecrets(secrets)).compact().try_init();
    } else {
        let concealed = Concealed::default();
        concealed.set(secrets);
        let _ = tracing_subscriber::registry().with(JsonLines::new(stderr(), concealed, None).with_filter(filter)).try_init();
    }
}

/// Libraries log what they like at their lower levels: none of our own lines holds a secret.
struct WithoutSecrets(Arc<KnownSecrets>);

impl<'a> MakeWriter<'a> for WithoutSecrets {
    type Writer = Line<'a>;

    fn make_writer(&'a self) -> Line<'a> {
        Line { secrets: &self.0, to: stderr() }
    }
}

/// One line: the subscriber writes each whole.
struct Line<'a> {
    secrets: &'a KnownSecrets,
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
