//! What can be set, by flag or by environment. Nothing else reads the environment.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use clap::{Parser, builder::FalseyValueParser};
use smartspace_domain::durations::WrittenDuration;

/// What only the environment says.
const ENVIRONMENT: &str = "Models:
  OPENAI_API_KEY      a key for agents with the provider openai
  OPENAI_BASE_URL     where they are, if not at OpenAI: anything that speaks chat completions and calls tools, \
such as http://localhost:11434/v1
  ANTHROPIC_API_KEY   a key for agents with the provider anthropic
  ANTHROPIC_BASE_URL  where they are, if not at Anthropic";

/// People and AI agents work together as equal members of shared spaces.
#[derive(Parser)]
#[command(name = "smartspace", version, about, after_help = ENVIRONMENT)]
pub(crate) struct Flags {
    /// Where to listen
    #[arg(long, env = "SMARTSPACE_LISTEN", default_value = "127.0.0.1:7700")]
    pub(crate) listen: SocketAddr,
    /// Folder that keeps everything; `:memory:` keeps nothing
    #[arg(long, env = "SMARTSPACE_DATA", default_value = ".smartspace")]
    pub(crate) data: PathBuf,
    /// The operator's key; made at the first start and kept in the data folder unless given
    #[arg(long, env = "SMARTSPACE_ADMIN_KEY", hide_env_values = true, value_parser = admin_key)]
    pub(crate) admin_key: Option<String>,
    /// Origins of pages that may call from browsers
    #[arg(long = "cors-origin", env = "SMARTSPACE_CORS_ORIGINS", value_delimiter = ',')]
    pub(crate) cors_origins: Vec<String>,
    /// How long ended runs are kept: "30 days", or a number of days; 0 keeps them for ever
    #[arg(long, env = "SMARTSPACE_KEEP_RUNS", default_value = "30 days", value_parser = keep_runs)]
    pub(crate) keep_runs: KeepRuns,
    /// Do not make a demo space on an empty folder
    #[arg(long, env = "SMARTSPACE_NO_DEMO", value_parser = FalseyValueParser::new())]
    pub(crate) no_demo: bool,
    /// What is logged: error, warn, info, debug, trace, or a filter
    #[arg(long, env = "SMARTSPACE_LOG", default_value = "info")]
    pub(crate) log: String,
    /// A key for models that speak like OpenAI's
    #[arg(skip = variable("OPENAI_API_KEY"))]
    pub(crate) openai_key: Option<String>,
    /// Where they are
    #[arg(skip = variable("OPENAI_BASE_URL"))]
    pub(crate) openai_base_url: Option<String>,
    /// A key for Anthropic's models
    #[arg(skip = variable("ANTHROPIC_API_KEY"))]
    pub(crate) anthropic_key: Option<String>,
    /// Where they are
    #[arg(skip = variable("ANTHROPIC_BASE_URL"))]
    pub(crate) anthropic_base_url: Option<String>,
}

impl Flags {
    /// What can't be right, before anything is begun.
    pub(crate) fn check(&self) -> Result<(), String> {
        let bases = [
            ("OPENAI_BASE_URL", &self.openai_base_url, "http://localhost:11434/v1"),
            ("ANTHROPIC_BASE_URL", &self.anthropic_base_url, "http://localhost:4000"),
        ];
        for (name, base, example) in bases {
            if base.as_ref().is_some_and(|base| !base.starts_with("http://") && !base.starts_with("https://")) {
                return Err(format!("{name}: expected an address like {example}"));
            }
        }
        Ok(())
    }

    /// Whether nothing is kept.
    pub(crate) fn in_memory(&self) -> bool {
        self.data.as_os_str() == ":memory:"
    }
}

/// How long ended runs are kept; for ever where none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KeepRuns(pub(crate) Option<Duration>);

fn keep_runs(text: &str) -> Result<KeepRuns, String> {
    if let Ok(days) = text.parse::<u32>() {
        return Ok(KeepRuns((days > 0).then(|| Duration::from_hours(24) * days)));
    }
    let written = text.parse::<WrittenDuration>().map_err(|error| format!("{error}, or a number of days"))?;
    Ok(KeepRuns(Some(written.length())))
}

fn admin_key(text: &str) -> Result<String, String> {
    let plain = text.chars().all(|char| char.is_ascii_graphic());
    if text.len() >= 16 && plain { Ok(text.to_owned()) } else { Err("expected at least 16 visible ASCII characters".into()) }
}

/// A variable of the environment; an empty one is like none.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_flags_are_sound() {
        Flags::command().debug_assert();
        assert_eq!(keep_runs("30 days"), Ok(KeepRuns(Some(Duration::from_hours(24 * 30)))));
        assert_eq!(keep_runs("7"), Ok(KeepRuns(Some(Duration::from_hours(24 * 7)))));
        assert_eq!(keep_runs("0"), Ok(KeepRuns(None)));
        assert!(keep_runs("soon").is_err());
        assert!(admin_key("short").is_err());
    }

    #[test]
    fn an_address_that_is_none_is_told_by_its_name() {
        let flags = || Flags::parse_from(["smartspace"]);
        let openai = Flags { openai_base_url: Some("localhost".into()), anthropic_base_url: None, ..flags() };
        assert_eq!(openai.check(), Err("OPENAI_BASE_URL: expected an address like http://localhost:11434/v1".into()));
        let anthropic = Flags { openai_base_url: None, anthropic_base_url: Some("localhost".into()), ..flags() };
        assert_eq!(anthropic.check(), Err("ANTHROPIC_BASE_URL: expected an address like http://localhost:4000".into()));
        let fine = Flags { openai_base_url: Some("http://a".into()), anthropic_base_url: Some("https://b".into()), ..flags() };
        assert_eq!(fine.check(), Ok(()));
    }
}
