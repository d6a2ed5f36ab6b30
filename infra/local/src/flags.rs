//! The settings, by flag or by environment variable. Nothing else reads the environment, except
//! that the AWS SDK reads its own variables.

mod values;

use std::{collections::BTreeMap, net::SocketAddr, path::PathBuf, sync::Arc};

use clap::{Parser, builder::FalseyValueParser};
use smartspace_api::Tokens;
use smartspace_domain::{
    attachments::{ByteLimit, FileLimits},
    budgets::{DEFAULT_COST_PER_DAY, DailyLimit},
    invites::InvitePolicy,
    prices::{PriceTable, Prices},
    providers::{ProviderApi, ProviderEntry, Providers},
    spaces::RouterModel,
    web_origins::origin,
};
use smartspace_egress::ToolHosts;
use smartspace_ports::{
    key_sets::HttpKeySet,
    otlp::OtlpSettings,
    secrets::{KnownSecrets, Secret},
};

pub(crate) use self::values::KeepRuns;
use self::values::{
    keep_runs, listen_address, log_filter, prices, providers, public_url, time_limits, variable,
    variables,
};
use crate::{environment_secrets, time_limits::TimeLimits};

/// The prefix of OpenTelemetry's variables.
const OTEL: &str = "OTEL_";

/// The settings that have no flag.
const ENVIRONMENT: &str = "Models:
  OPENAI_API_KEY      key for agents with the provider openai
  OPENAI_BASE_URL     another server with chat completions and tool calls, such as
                      http://localhost:11434/v1
  ANTHROPIC_API_KEY   key for agents with the provider anthropic
  ANTHROPIC_BASE_URL  another server with Anthropic's messages API
  AWS_REGION, AWS_PROFILE, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN,
  AWS_BEARER_TOKEN_BEDROCK
                      region and credentials for agents with the provider bedrock, from wherever
                      AWS's own tools read them

Traces of runs:
  OTEL_EXPORTER_OTLP_ENDPOINT   the collector that gets them over HTTP, such as
                                http://127.0.0.1:4318; without it nothing is exported
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT
                                the same as a whole address, with its path
  OTEL_EXPORTER_OTLP_HEADERS, OTEL_EXPORTER_OTLP_TRACES_HEADERS
                                headers for it: name=value, separated by commas
  OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT
                                true exports the texts of prompts, answers and tools, too
  OTEL_SERVICE_NAME             the name of the service in traces; by default smartspace

Tools:
  SMARTSPACE_SECRET_NAME        the secret NAME: ${secret.NAME} in an agent's tools and in
                                --providers, NAME in its webhooks; at least 8 bytes
  SMARTSPACE_SECRET_NAME_HOSTS  the only hosts that may receive it, separated by commas; without
                                it, every host
  SMARTSPACE_TOOL_HOSTS         hosts on private addresses that tools may reach, separated by
                                commas: localhost:3000, 10.0.0.7";

/// People and AI agents work together as equal members of shared spaces.
#[derive(Parser)]
#[command(name = "smartspace", version, about, after_help = ENVIRONMENT)]
pub(crate) struct Flags {
    /// What to do with a deployment; without a command this program serves one
    #[command(subcommand)]
    pub(crate) command: Option<smartspace_cli::Command>,
    /// Address and port to listen on
    #[arg(
        long,
        env = "SMARTSPACE_LISTEN",
        default_value = "127.0.0.1:7700",
        value_parser = listen_address
    )]
    pub(crate) listen: SocketAddr,
    /// The address at which others reach this server, such as `https://smartspace.example.com`: all
    /// addresses in answers begin with it, and remote agents answer there; by default the address
    /// that it listens at
    #[arg(long, env = "SMARTSPACE_PUBLIC_URL", value_name = "URL", value_parser = public_url)]
    pub(crate) public_url: Option<String>,
    /// Folder for all data; `:memory:` stores nothing on disk
    #[arg(long, env = "SMARTSPACE_DATA", default_value = ".smartspace")]
    pub(crate) data: PathBuf,
    /// The operator's key, at least 16 visible ASCII characters; by default it is generated at the
    /// first start and stored in the data folder
    #[arg(long, env = "SMARTSPACE_ADMIN_KEY", hide_env_values = true)]
    pub(crate) admin_key: Option<String>,
    /// Accept JWTs signed with this secret (HS256, at least 32 bytes), for a backend that issues
    /// its own tokens
    #[arg(long, env = "SMARTSPACE_JWT_SECRET", hide_env_values = true)]
    pub(crate) jwt_secret: Option<String>,
    /// Accept JWTs of the identity provider that publishes its keys at this URL (RS256, ES256)
    #[arg(long, env = "SMARTSPACE_JWKS_URL")]
    pub(crate) jwks_url: Option<String>,
    /// The required issuer of these JWTs: their `iss`
    #[arg(long, env = "SMARTSPACE_JWT_ISSUER")]
    pub(crate) jwt_issuer: Option<String>,
    /// The required audience of these JWTs: their `aud`
    #[arg(long, env = "SMARTSPACE_JWT_AUDIENCE")]
    pub(crate) jwt_audience: Option<String>,
    /// Create a person for a JWT with an unknown `sub`
    #[arg(long, env = "SMARTSPACE_JWT_CREATE", value_parser = FalseyValueParser::new())]
    pub(crate) jwt_create: bool,
    /// Who may accept invites to spaces: `off` (nobody), `members` (people with a token), or
    /// `guests` (also people without one)
    #[arg(
        long,
        env = "SMARTSPACE_INVITES",
        default_value = "members",
        value_parser = InvitePolicy::read
    )]
    pub(crate) invites: InvitePolicy,
    /// Origins whose pages may call from a browser, such as `https://app.example.com`
    #[arg(
        long = "cors-origin",
        env = "SMARTSPACE_CORS_ORIGINS",
        value_delimiter = ',',
        value_parser = origin
    )]
    pub(crate) cors_origins: Vec<String>,
    /// JSON file with the prices of models, in dollars per million tokens and per picture:
    /// `{"provider/model": {"input", "cachedInput"?, "cacheWrite"?, "output", "image"?}}`
    #[arg(
        long = "prices",
        value_name = "PRICES",
        env = "SMARTSPACE_PRICES",
        default_value = "",
        hide_default_value = true,
        value_parser = prices
    )]
    price_table: PriceTable,
    /// JSON file with more providers of models:
    /// `{"providers": {"name": {"api": "openai", "baseUrl", "key"?, "keyHeader"?, "headers"?}}}`
    #[arg(
        long,
        env = "SMARTSPACE_PROVIDERS",
        value_name = "FILE",
        default_value = "",
        hide_default_value = true,
        value_parser = providers
    )]
    pub(crate) providers: Providers,
    /// What all model calls of a day may cost, in dollars, or none; a day begins at midnight UTC
    #[arg(
        long,
        env = "SMARTSPACE_BUDGET_COST_PER_DAY",
        value_name = "DOLLARS",
        default_value = DEFAULT_COST_PER_DAY,
        value_parser = DailyLimit::read_ceiling
    )]
    pub(crate) budget_cost_per_day: DailyLimit,
    /// The model of routers in spaces for which the operator sets none, such as
    /// openai/gpt-4.1-mini; without one, the gate of such a space decides alone
    #[arg(long, env = "SMARTSPACE_ROUTER_MODEL", value_name = "PROVIDER/NAME")]
    router_model: Option<String>,
    /// How many bytes the files of a space may have together: "10 GiB", a number of bytes, or none
    #[arg(
        long,
        env = "SMARTSPACE_FILES_PER_SPACE",
        value_name = "SIZE",
        default_value = "10 GiB",
        value_parser = ByteLimit::read
    )]
    pub(crate) files_per_space: ByteLimit,
    /// How many bytes the files that an entity has uploaded may have together
    #[arg(
        long,
        env = "SMARTSPACE_FILES_PER_ENTITY",
        value_name = "SIZE",
        default_value = "2 GiB",
        value_parser = ByteLimit::read
    )]
    pub(crate) files_per_entity: ByteLimit,
    /// How many bytes all files may have together
    #[arg(
        long,
        env = "SMARTSPACE_FILES_IN_ALL",
        value_name = "SIZE",
        default_value = "none",
        value_parser = ByteLimit::read
    )]
    pub(crate) files_in_all: ByteLimit,
    /// How long to store ended runs: "30 days", or a number of days; 0 stores them forever
    #[arg(long, env = "SMARTSPACE_KEEP_RUNS", default_value = "30 days", value_parser = keep_runs)]
    pub(crate) keep_runs: KeepRuns,
    /// Lift the limits of calls, messages, frames and connections, as `SMARTSPACE_RATE=0` does
    #[arg(long)]
    pub(crate) no_rate_limit: bool,
    /// Factor for the time limits of connections: of bodies, uploads, frames, answers that nobody
    /// takes, and idle WebSockets
    #[arg(
        long,
        env = "SMARTSPACE_TIME_LIMITS",
        value_name = "FACTOR",
        default_value = "1",
        value_parser = time_limits
    )]
    pub(crate) time_limits: TimeLimits,
    /// Do not create the demo space in an empty data folder
    #[arg(long, env = "SMARTSPACE_NO_DEMO", value_parser = FalseyValueParser::new())]
    pub(crate) no_demo: bool,
    /// Log level (error, warn, info, debug, trace) or a filter such as `info,smartspace_run=debug`
    #[arg(long, env = "SMARTSPACE_LOG", default_value = "info", value_parser = log_filter)]
    pub(crate) log: String,
    #[arg(skip = variable("OPENAI_API_KEY"))]
    pub(crate) openai_key: Option<String>,
    #[arg(skip = variable("OPENAI_BASE_URL"))]
    pub(crate) openai_base_url: Option<String>,
    #[arg(skip = variable("ANTHROPIC_API_KEY"))]
    pub(crate) anthropic_key: Option<String>,
    #[arg(skip = variable("ANTHROPIC_BASE_URL"))]
    pub(crate) anthropic_base_url: Option<String>,
    #[arg(skip = variable("SMARTSPACE_TOOL_HOSTS"))]
    pub(crate) tool_hosts: Option<String>,
    #[arg(skip = variable("SMARTSPACE_RATE"))]
    pub(crate) rate: Option<String>,
    /// The variables of OpenTelemetry, without the prefix of their names
    #[arg(skip = variables(OTEL))]
    pub(crate) otel: BTreeMap<String, String>,
    /// The secrets of tools and webhooks, and their hosts, without the prefix of their names
    #[arg(skip = variables(environment_secrets::PREFIX))]
    pub(crate) secrets: BTreeMap<String, String>,
}

impl Flags {
    /// Reports wrong settings before anything is started.
    pub(crate) fn check(&self) -> Result<(), String> {
        self.tokens()?;
        self.tool_hosts()?;
        self.secrets()?;
        self.otlp()?;
        self.router_model()?;
        // Not a check by clap, which would print the value.
        if self.admin_key.as_ref().is_some_and(|key| !is_strong(key)) {
            return Err("--admin-key: expected at least 16 visible ASCII characters".into());
        }
        if self.rate.as_ref().is_some_and(|rate| !["0", "1"].contains(&rate.as_str())) {
            return Err(
                "SMARTSPACE_RATE: expected 0, which lifts the limits of calls per second, or 1"
                    .into(),
            );
        }
        let bases = [
            ("OPENAI_BASE_URL", &self.openai_base_url, "http://localhost:11434/v1"),
            ("ANTHROPIC_BASE_URL", &self.anthropic_base_url, "http://localhost:4000"),
        ];
        for (name, base, example) in bases {
            if base
                .as_ref()
                .is_some_and(|base| !base.starts_with("http://") && !base.starts_with("https://"))
            {
                return Err(format!("{name}: expected an address like {example}"));
            }
        }
        Ok(())
    }

    /// Which tokens are accepted. `None` if no flag configures tokens. Errors do not show a secret.
    pub(crate) fn tokens(&self) -> Result<Option<Tokens>, String> {
        // An empty variable counts as not set.
        let values = [&self.jwt_secret, &self.jwks_url, &self.jwt_issuer, &self.jwt_audience];
        let [secret, url, issuer, audience] =
            values.map(|value| value.as_deref().filter(|value| !value.is_empty()));
        let create = self.jwt_create;
        let wrong = match (secret, url, issuer, audience) {
            (Some(secret), None, None, None) => {
                return Tokens::signed_with(secret, create)
                    .map(Some)
                    .map_err(|error| format!("--jwt-secret: {error}"));
            }
            (None, Some(url), Some(issuer), Some(audience)) => {
                let keys = HttpKeySet::new(url).map_err(|error| format!("--jwks-url: {error}"))?;
                let keys = Arc::new(keys);
                let issuer = issuer.to_owned();
                return Ok(Some(Tokens::of_provider(keys, issuer, audience.to_owned(), create)));
            }
            (None, None, None, None) if !create => return Ok(None),
            (Some(_), Some(_), ..) => "expected only one of --jwt-secret and --jwks-url",
            (None, Some(_), None, _) => "--jwks-url needs --jwt-issuer, the iss of its tokens",
            (None, Some(_), Some(_), None) => {
                "--jwks-url needs --jwt-audience, the aud of its tokens"
            }
            (_, None, Some(_), _) => "--jwt-issuer needs --jwks-url",
            (_, None, None, Some(_)) => "--jwt-audience needs --jwks-url",
            (None, None, None, None) => "--jwt-create needs --jwt-secret or --jwks-url",
        };
        Err(wrong.into())
    }

    /// Whether callers that send too many requests are refused.
    pub(crate) fn is_rate_limited(&self) -> bool {
        !self.no_rate_limit && self.rate.as_deref() != Some("0")
    }

    /// How many bytes files may have together.
    pub(crate) fn file_limits(&self) -> FileLimits {
        let Self { files_per_space, files_per_entity, files_in_all, .. } = *self;
        FileLimits {
            per_space: files_per_space,
            per_entity: files_per_entity,
            in_all: files_in_all,
        }
    }

    /// The hosts on private addresses that tools may reach.
    pub(crate) fn tool_hosts(&self) -> Result<ToolHosts, String> {
        self.tool_hosts
            .as_deref()
            .unwrap_or("")
            .parse()
            .map_err(|error| format!("SMARTSPACE_TOOL_HOSTS: {error}"))
    }

    /// How traces of runs are exported, if they are.
    pub(crate) fn otlp(&self) -> Result<Option<OtlpSettings>, String> {
        let variable = |name: &str| self.otel.get(name.strip_prefix(OTEL)?).cloned();
        let settings = OtlpSettings::read(variable)?;
        if settings.as_ref().is_some_and(|settings| settings.xray_region().is_some()) {
            return Err(
                "OTEL_EXPORTER_OTLP_ENDPOINT: X-Ray takes signed requests, which a deployment on \
                 AWS sends; expected the address of a collector"
                    .into(),
            );
        }
        Ok(settings)
    }

    /// The secrets of tools and webhooks, and hidden ones: the operator's key and whatever else
    /// nothing may show, because a server may send it back.
    pub(crate) fn all_secrets(&self, admin_key: &str) -> Result<KnownSecrets, String> {
        let providers = self.providers()?;
        let mut hidden = vec![("adminKey".to_owned(), admin_key.to_owned())];
        hidden.extend(self.jwt_secret.iter().map(|secret| ("jwtSecret".into(), secret.clone())));
        for (name, entry) in providers.iter() {
            let secrets = entry.key.iter().chain(&entry.hidden);
            let named =
                secrets.enumerate().map(|(index, it)| (format!("{name} {index}"), it.clone()));
            hidden.extend(named);
        }
        for (name, value) in self.otlp()?.iter().flat_map(|otlp| &otlp.headers) {
            let value = value.to_str().unwrap_or_default();
            hidden.push((format!("OTLP {name}"), value.to_owned()));
        }
        // Shorter texts are no secrets: they occur in other texts.
        let hidden = hidden
            .into_iter()
            .filter_map(|(name, value)| Secret::new(value, None).ok().map(|secret| (name, secret)));
        Ok(environment_secrets::read(&self.secrets)?.and_hidden(hidden.collect()))
    }

    /// The secrets of tools and webhooks. Errors do not show a secret.
    pub(crate) fn secrets(&self) -> Result<KnownSecrets, String> {
        environment_secrets::read(&self.secrets)
    }

    /// The providers of models, with their secrets. The variables are the entries of the providers
    /// `openai` and `anthropic`, unless the file has its own.
    pub(crate) fn providers(&self) -> Result<Providers, String> {
        let secrets = self.secrets()?;
        let secret = |name: &str, host: &str| secrets.value_for(name, host).map(str::to_owned);
        let entry = |api, key: &Option<String>, base: &Option<String>| {
            ProviderEntry::of(api).with(key.as_deref(), base.as_deref())
        };
        Ok(self
            .providers
            .resolved(&secret)
            .with_default(entry(ProviderApi::Openai, &self.openai_key, &self.openai_base_url))
            .with_default(entry(
                ProviderApi::Anthropic,
                &self.anthropic_key,
                &self.anthropic_base_url,
            )))
    }

    /// The prices of the models that these providers have.
    pub(crate) fn prices(&self) -> Result<Arc<Prices>, String> {
        Ok(Arc::new(Prices::new(self.price_table.clone(), &self.providers()?)))
    }

    /// The model of routers in spaces without one of their own.
    pub(crate) fn router_model(&self) -> Result<Option<RouterModel>, String> {
        let named = |error: &dyn std::fmt::Display| format!("--router-model: {error}");
        let model = RouterModel::read(self.router_model.as_deref().unwrap_or_default())
            .map_err(|error| named(&error))?;
        if let Some(model) = &model {
            model.must_have_provider(&self.providers()?).map_err(|error| named(&error))?;
        }
        Ok(model)
    }

    pub(crate) fn in_memory(&self) -> bool {
        self.data.as_os_str() == ":memory:"
    }
}

fn is_strong(key: &str) -> bool {
    key.len() >= 16 && key.chars().all(|char| char.is_ascii_graphic())
}

#[cfg(test)]
mod tests;
