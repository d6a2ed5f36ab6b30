//! What can be set, by flag or by environment. Nothing else reads the environment, but for the AWS SDK, which looks for what is its own.

use std::{collections::BTreeMap, ffi::OsString, net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use clap::{Parser, builder::FalseyValueParser};
use smartspace_api::Tokens;
use smartspace_domain::{durations::WrittenDuration, origins::origin, prices::Prices};
use smartspace_edges::{key_sets::HttpKeySet, secrets::KnownSecrets};
use smartspace_egress::ToolHosts;

use crate::environment_secrets;

/// What only the environment says.
const ENVIRONMENT: &str = "Models:
  OPENAI_API_KEY      a key for agents with the provider openai
  OPENAI_BASE_URL     where they are, if not at OpenAI: anything that speaks chat completions and calls tools, \
such as http://localhost:11434/v1
  ANTHROPIC_API_KEY   a key for agents with the provider anthropic
  ANTHROPIC_BASE_URL  where they are, if not at Anthropic
  AWS_REGION, …       for agents with the provider bedrock: region and credentials, wherever AWS's own tools look for them

Tools:
  SMARTSPACE_SECRET_NAME        what stands for ${secret.NAME} in an agent's tools, and NAME in its webhooks; at least 8 bytes
  SMARTSPACE_SECRET_NAME_HOSTS  the only hosts that it may be sent to, with commas between them; any unless given
  SMARTSPACE_TOOL_HOSTS         hosts on private addresses that tools may reach, with commas between them: localhost:3000, 10.0.0.7";

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
    /// The operator's key, at least 16 visible ASCII characters; made at the first start and kept in the data folder unless given
    #[arg(long, env = "SMARTSPACE_ADMIN_KEY", hide_env_values = true)]
    pub(crate) admin_key: Option<String>,
    /// Believe JWTs signed with this secret (HS256, at least 32 bytes): for a backend that makes its own
    #[arg(long, env = "SMARTSPACE_JWT_SECRET", hide_env_values = true)]
    pub(crate) jwt_secret: Option<String>,
    /// Believe JWTs of the provider that publishes its keys here (RS256, ES256)
    #[arg(long, env = "SMARTSPACE_JWKS_URL")]
    pub(crate) jwks_url: Option<String>,
    /// Who makes them: their `iss`
    #[arg(long, env = "SMARTSPACE_JWT_ISSUER")]
    pub(crate) jwt_issuer: Option<String>,
    /// For whom they are made: their `aud`
    #[arg(long, env = "SMARTSPACE_JWT_AUDIENCE")]
    pub(crate) jwt_audience: Option<String>,
    /// A token's `sub` that nobody has becomes a person
    #[arg(long, env = "SMARTSPACE_JWT_CREATE", value_parser = FalseyValueParser::new())]
    pub(crate) jwt_create: bool,
    /// Origins of pages that may call from browsers
    #[arg(long = "cors-origin", env = "SMARTSPACE_CORS_ORIGINS", value_delimiter = ',', value_parser = origin)]
    pub(crate) cors_origins: Vec<String>,
    /// What models cost: a JSON file, `{"provider/model": {"input", "cachedInput"?, "cacheWrite"?, "output"}}` in dollars for a million tokens
    #[arg(long, env = "SMARTSPACE_PRICES", default_value = "", hide_default_value = true, value_parser = prices)]
    pub(crate) prices: Arc<Prices>,
    /// How long ended runs are kept: "30 days", or a number of days; 0 keeps them for ever
    #[arg(long, env = "SMARTSPACE_KEEP_RUNS", default_value = "30 days", value_parser = keep_runs)]
    pub(crate) keep_runs: KeepRuns,
    /// Let everyone call as often as they like; so does `SMARTSPACE_RATE=0`
    #[arg(long)]
    pub(crate) no_rate_limit: bool,
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
    /// Hosts on private addresses that tools may reach
    #[arg(skip = variable("SMARTSPACE_TOOL_HOSTS"))]
    pub(crate) tool_hosts: Option<String>,
    /// 0 lets everyone call as often as they like
    #[arg(skip = variable("SMARTSPACE_RATE"))]
    pub(crate) rate: Option<String>,
    /// Secrets of tools and webhooks, and where they may go
    #[arg(skip = variables(environment_secrets::PREFIX))]
    pub(crate) secrets: BTreeMap<String, String>,
}

impl Flags {
    /// What can't be right, before anything is begun.
    pub(crate) fn check(&self) -> Result<(), String> {
        self.tokens()?;
        self.tool_hosts()?;
        self.secrets()?;
        // Not as clap's own check, which would print what was given.
        if self.admin_key.as_ref().is_some_and(|key| !is_strong(key)) {
            return Err("--admin-key: expected at least 16 visible ASCII characters".into());
        }
        if self.rate.as_ref().is_some_and(|rate| !["0", "1"].contains(&rate.as_str())) {
            return Err("SMARTSPACE_RATE: expected 0, which lets everyone call as often as they like, or 1".into());
        }
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

    /// Which tokens are believed; none where nothing is said of them. No error shows a secret.
    pub(crate) fn tokens(&self) -> Result<Option<Tokens>, String> {
        // An empty variable is like none.
        let said = [&self.jwt_secret, &self.jwks_url, &self.jwt_issuer, &self.jwt_audience];
        let [secret, url, issuer, audience] = said.map(|value| value.as_deref().filter(|value| !value.is_empty()));
        match (secret, url, issuer, audience) {
            (Some(_), Some(_), ..) => Err("--jwt-secret and --jwks-url: expected one of them, as tokens are signed in one way only".into()),
            (Some(secret), None, None, None) => {
                Tokens::signed_with(secret, self.jwt_create).map(Some).map_err(|error| format!("--jwt-secret: {error}"))
            }
            (None, Some(url), Some(issuer), Some(audience)) => {
                let keys = HttpKeySet::new(url).map_err(|error| format!("--jwks-url: {error}"))?;
                Ok(Some(Tokens::of_provider(Arc::new(keys), issuer.to_owned(), audience.to_owned(), self.jwt_create)))
            }
            (None, Some(_), None, _) => Err("--jwks-url needs --jwt-issuer: whose tokens are believed (their iss)".into()),
            (None, Some(_), Some(_), None) => Err("--jwks-url needs --jwt-audience: tokens made for whom (their aud)".into()),
            (_, None, Some(_), _) => Err("--jwt-issuer goes with --jwks-url".into()),
            (_, None, None, Some(_)) => Err("--jwt-audience goes with --jwks-url".into()),
            (None, None, None, None) if self.jwt_create => Err("--jwt-create goes with --jwt-secret or --jwks-url".into()),
            (None, None, None, None) => Ok(None),
        }
    }

    /// Whether who calls too often is refused.
    pub(crate) fn is_rate_limited(&self) -> bool {
        !self.no_rate_limit && self.rate.as_deref() != Some("0")
    }

    /// Hosts on private addresses that tools may reach.
    pub(crate) fn tool_hosts(&self) -> Result<ToolHosts, String> {
        self.tool_hosts.as_deref().unwrap_or("").parse().map_err(|error| format!("SMARTSPACE_TOOL_HOSTS: {error}"))
    }

    /// Secrets of tools and webhooks. No error shows one.
    pub(crate) fn secrets(&self) -> Result<KnownSecrets, String> {
        environment_secrets::read(&self.secrets)
    }

    /// Whether nothing is kept.
    pub(crate) fn in_memory(&self) -> bool {
        self.data.as_os_str() == ":memory:"
    }
}

/// How long ended runs are kept; for ever where none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KeepRuns(pub(crate) Option<Duration>);

/// The table in a file; the one that comes with the product where none is named.
fn prices(path: &str) -> Result<Arc<Prices>, String> {
    if path.is_empty() {
        return Ok(Arc::new(Prices::built_in()));
    }
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    Prices::read(&text).map(Arc::new).map_err(|error| format!("{path}: {error}"))
}

fn keep_runs(text: &str) -> Result<KeepRuns, String> {
    if let Ok(days) = text.parse::<u32>() {
        return Ok(KeepRuns((days > 0).then(|| Duration::from_hours(24) * days)));
    }
    let written = text.parse::<WrittenDuration>().map_err(|error| format!("{error}, or a number of days"))?;
    Ok(KeepRuns(Some(written.length())))
}

fn is_strong(key: &str) -> bool {
    key.len() >= 16 && key.chars().all(|char| char.is_ascii_graphic())
}

/// The variables of the environment that begin so, by the rest of their names.
fn variables(prefix: &str) -> BTreeMap<String, String> {
    let named = |(name, value): (OsString, OsString)| {
        let (name, value) = (name.into_string().ok()?, value.into_string().ok()?);
        Some((name.strip_prefix(prefix)?.to_owned(), value))
    };
    std::env::vars_os().filter_map(named).collect()
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
        let weak = Flags { admin_key: Some("too short".into()), ..Flags::parse_from(["smartspace"]) };
        let told = weak.check().unwrap_err();
        assert!(told.contains("at least 16") && !told.contains("too short"), "{told}");
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

    #[test]
    fn what_is_said_of_tokens_is_whole_or_refused_without_showing_a_secret() {
        let told = |arguments: &[&str]| {
            let flags = Flags::try_parse_from([&["smartspace"], arguments].concat()).unwrap();
            flags.tokens().map(|tokens| tokens.is_some())
        };
        let (secret, url) = ("0123456789abcdef0123456789abcdef", "https://login.example.com/jwks.json");
        assert_eq!(told(&[]), Ok(false));
        assert_eq!(told(&["--jwt-secret", ""]), Ok(false), "an empty variable is like none");
        assert_eq!(told(&["--jwt-secret", secret, "--jwt-create"]), Ok(true));
        assert_eq!(told(&["--jwks-url", url, "--jwt-issuer", "i", "--jwt-audience", "a"]), Ok(true));
        let refused: [(&[&str], &str); 8] = [
            (&["--jwt-secret", &secret[1..]], "at least 32 bytes, got 31"),
            (&["--jwt-secret", secret, "--jwks-url", url], "expected one of them"),
            (&["--jwks-url", url, "--jwt-audience", "a"], "needs --jwt-issuer"),
            (&["--jwks-url", url, "--jwt-issuer", "i"], "needs --jwt-audience"),
            (&["--jwks-url", "login", "--jwt-issuer", "i", "--jwt-audience", "a"], "expected an address like"),
            (&["--jwks-url", "file:///keys", "--jwt-issuer", "i", "--jwt-audience", "a"], "begins with https://"),
            (&["--jwt-secret", secret, "--jwt-issuer", "i"], "--jwt-issuer goes with --jwks-url"),
            (&["--jwt-create"], "goes with"),
        ];
        for (arguments, expected) in refused {
            let error = told(arguments).unwrap_err();
            assert!(error.contains(expected) && !error.contains(&secret[1..]), "{arguments:?}: {error}");
        }
        let flags = Flags::try_parse_from(["smartspace", "--jwt-secret", secret]).unwrap();
        assert!(!format!("{:?}", flags.tokens()).contains("0123456789"), "nor does a log");
    }
}
