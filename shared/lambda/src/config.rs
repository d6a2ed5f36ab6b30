//! The environment of a function, as the template sets it. Nothing else reads the environment.

use std::{sync::Arc, time::Duration};

use smartspace_domain::{
    attachments::{ByteLimit, FileLimits},
    budgets::DailyLimit,
    invites::InvitePolicy,
    limits::CallLimits,
    prices::{PriceTable, Prices},
    providers::Providers,
    spaces::RouterModel,
    web_origins::origin,
};
use smartspace_ports::{alarms::Schedules, otlp::OtlpSettings};

use crate::{
    invocation::{self, Sources},
    log,
    secret::Part,
};

/// The configuration of a function. Every function gets all of it.
#[derive(Clone, Debug)]
pub struct Config {
    /// `TABLE_NAME`.
    pub table: String,
    /// `RUNS_QUEUE_URL`.
    pub runs_queue: String,
    /// `BROADCASTS_QUEUE_URL`.
    pub broadcasts_queue: String,
    /// `TRIGGERS_QUEUE_URL`.
    pub triggers_queue: String,
    /// `TRIGGERS_QUEUE_ARN`, `SCHEDULE_GROUP`, `SCHEDULE_ROLE_ARN`: for alarms beyond 15 minutes.
    pub schedules: Schedules,
    /// `ATTACHMENTS_BUCKET`: the bucket of the files of spaces.
    pub attachments_bucket: String,
    /// `API_URL`: the HTTP API. `protocols` has it, which is a client of the API, and `run`, which
    /// tells remote agents where to answer.
    pub api_url: Option<String>,
    /// `SOCKET_URL`: the WebSocket address for clients.
    pub socket_url: String,
    /// `SOCKET_ENDPOINT`: the address that frames are posted to.
    pub socket_endpoint: String,
    /// `KEYS_SECRET_ARN`, and for `api` also `ADMIN_SECRET_ARN` and `TOKEN_SECRET_ARN`: the secrets
    /// that the function reads.
    pub secrets: Vec<(Part, String)>,
    /// `ALLOWED_ORIGINS`, comma-separated; may be empty.
    pub cors_origins: Vec<String>,
    /// `RUN_RETENTION_DAYS`: how long ended runs are stored; 0 stores them forever.
    pub keep_runs: Option<Duration>,
    /// `PROVIDERS`: more providers of models as JSON, without the values of their secrets; may be
    /// empty.
    pub providers: Providers,
    /// `MAX_PROTOCOL_CALLS`: how many calls through other protocols may be open in the deployment;
    /// 0, as if it is empty, limits nothing. An entity has a part of them.
    pub call_limits: CallLimits,
    /// `JWKS_URL`, `JWT_ISSUER`, `JWT_AUDIENCE`: the identity provider whose tokens are accepted.
    /// Without it, tokens are signed with the secret's `jwtSecret`.
    pub provider: Option<Provider>,
    /// `JWT_CREATE`: "true" creates a person for an unknown `sub`.
    pub jwt_create: bool,
    /// `INVITES`: who may accept invites: `off`, `members` or `guests`; `members` if it is empty.
    pub invites: InvitePolicy,
    /// `TOOL_HOSTS`: hosts on private addresses that tools may reach, comma-separated; may be
    /// empty.
    pub tool_hosts: String,
    /// `MODEL_PRICES`: a table of prices as JSON. If it is empty, the built-in table is used.
    pub prices: Arc<Prices>,
    /// `BUDGET_COST_PER_DAY`: dollars, or `none`; 20 if it is empty.
    pub budget: DailyLimit,
    /// `ROUTER_MODEL`: `provider/name` of the model of routers; may be empty.
    pub router_model: Option<RouterModel>,
    /// `FILES_PER_SPACE`, `FILES_PER_ENTITY`, `FILES_IN_ALL`: sizes such as `10 GiB`, or `none`. An
    /// empty one selects the default.
    pub file_limits: FileLimits,
    /// `OTEL_EXPORTER_OTLP_ENDPOINT` and others: how traces of runs are exported, if they are.
    pub otlp: Option<OtlpSettings>,
    /// `AWS_REGION`, which Lambda sets.
    pub region: String,
    /// `AWS_ENDPOINT_URL`: the address of an AWS emulator.
    pub endpoint: Option<String>,
    /// `SOURCE_ADDRESSES` and `STACK_ID`: how the log shows the addresses of callers; `hashed` if
    /// it is empty.
    pub sources: Sources,
    /// `SMARTSPACE_LOG`: the log filter; `info` if it is empty.
    pub log: String,
    /// `STACK_NAME`: the deployment that metrics belong to. If it is empty, no metrics are written.
    pub stack: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provider {
    /// The URL of its published keys.
    pub keys: String,
    /// The `iss` of its tokens.
    pub issuer: String,
    /// The `aud` of its tokens.
    pub audience: String,
}

/// All that is wrong with the environment.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the environment is not valid: {}", .0.join("; "))]
pub struct BadConfig(pub Vec<String>);

impl Config {
    /// Reads the environment of this process and starts the log.
    pub fn start() -> Result<Self, BadConfig> {
        match Self::read(|name| std::env::var(name).ok()) {
            Ok(config) => {
                log::start(&config.log, config.stack.clone());
                invocation::show(config.sources.clone());
                Ok(config)
            }
            Err(error) => {
                log::start("info", None);
                tracing::error!(event = "not_configured", %error, "the function can't start");
                Err(error)
            }
        }
    }

    /// The address of the HTTP API, for a function that can't do without.
    pub fn needed_api_url(&self) -> Result<String, BadConfig> {
        self.api_url.clone().ok_or_else(|| BadConfig(vec!["API_URL is missing".into()]))
    }

    fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Self, BadConfig> {
        let mut wrong = Vec::new();
        let mut config = Self::plain(&variable, &mut wrong);
        match Providers::read(&variable("PROVIDERS").unwrap_or_default()) {
            Ok(providers) => config.providers = providers,
            Err(error) => wrong.push(format!("PROVIDERS: {error}")),
        }
        let mut table = PriceTable::built_in();
        if let Some(text) = variable("MODEL_PRICES").filter(|text| !text.is_empty()) {
            match PriceTable::read(&text) {
                Ok(read) => table = read,
                Err(error) => wrong.push(format!("MODEL_PRICES: {error}")),
            }
        }
        config.prices = Arc::new(Prices::new(table, &config.providers));
        match router_model(&variable("ROUTER_MODEL").unwrap_or_default(), &config.providers) {
            Ok(model) => config.router_model = model,
            Err(error) => wrong.push(format!("ROUTER_MODEL: {error}")),
        }
        match DailyLimit::read_ceiling(&variable("BUDGET_COST_PER_DAY").unwrap_or_default()) {
            Ok(budget) => config.budget = budget,
            Err(error) => wrong.push(format!("BUDGET_COST_PER_DAY: {error}")),
        }
        if let Some(text) = variable("INVITES").filter(|text| !text.is_empty()) {
            match InvitePolicy::read(&text) {
                Ok(invites) => config.invites = invites,
                Err(error) => wrong.push(format!("INVITES: {error}")),
            }
        }
        match Sources::read(
            &variable("SOURCE_ADDRESSES").unwrap_or_default(),
            &variable("STACK_ID").unwrap_or_default(),
        ) {
            Ok(sources) => config.sources = sources,
            Err(error) => wrong.push(format!("SOURCE_ADDRESSES: {error}")),
        }
        config.file_limits = file_limits(&variable, &mut wrong);
        config.provider = provider(&variable, &mut wrong);
        match OtlpSettings::read(&variable) {
            Ok(otlp) => config.otlp = otlp,
            Err(error) => wrong.push(error),
        }
        let origins = variable("ALLOWED_ORIGINS").unwrap_or_default();
        for text in origins.split(',').filter(|origin| !origin.trim().is_empty()) {
            match origin(text) {
                Ok(origin) => config.cors_origins.push(origin),
                Err(error) => wrong.push(format!("ALLOWED_ORIGINS: {error}")),
            }
        }
        match variable("RUN_RETENTION_DAYS").unwrap_or_else(|| "30".into()).parse::<u32>() {
            Ok(days) => config.keep_runs = (days > 0).then(|| Duration::from_hours(24) * days),
            Err(_) => wrong.push("RUN_RETENTION_DAYS: expected a number of days".into()),
        }
        config.call_limits = call_limits(&variable, &mut wrong);
        if wrong.is_empty() { Ok(config) } else { Err(BadConfig(wrong)) }
    }

    /// Reads the variables that need no parsing. The other fields get their defaults.
    fn plain(variable: &impl Fn(&str) -> Option<String>, wrong: &mut Vec<String>) -> Self {
        let mut required = |name: &str| {
            let value = variable(name).unwrap_or_default();
            if value.is_empty() {
                wrong.push(format!("{name} is missing"));
            }
            value
        };
        Self {
            table: required("TABLE_NAME"),
            runs_queue: required("RUNS_QUEUE_URL"),
            broadcasts_queue: required("BROADCASTS_QUEUE_URL"),
            triggers_queue: required("TRIGGERS_QUEUE_URL"),
            schedules: Schedules {
                group: required("SCHEDULE_GROUP"),
                role: required("SCHEDULE_ROLE_ARN"),
                target: required("TRIGGERS_QUEUE_ARN"),
            },
            attachments_bucket: required("ATTACHMENTS_BUCKET"),
            api_url: variable("API_URL").filter(|url| !url.is_empty()),
            socket_url: required("SOCKET_URL"),
            socket_endpoint: required("SOCKET_ENDPOINT"),
            secrets: secrets(required("KEYS_SECRET_ARN"), variable),
            cors_origins: Vec::new(),
            keep_runs: None,
            providers: Providers::default(),
            provider: None,
            invites: InvitePolicy::default(),
            call_limits: CallLimits::DEFAULT,
            tool_hosts: variable("TOOL_HOSTS").unwrap_or_default(),
            jwt_create: variable("JWT_CREATE").is_some_and(|create| create == "true"),
            prices: Arc::default(),
            budget: DailyLimit::default(),
            router_model: None,
            file_limits: FileLimits::DEFAULT,
            otlp: None,
            region: required("AWS_REGION"),
            endpoint: variable("AWS_ENDPOINT_URL").filter(|url| !url.is_empty()),
            sources: Sources::Omitted,
            log: variable("SMARTSPACE_LOG")
                .filter(|filter| !filter.is_empty())
                .unwrap_or_else(|| "info".into()),
            stack: variable("STACK_NAME").filter(|name| !name.is_empty()),
        }
    }
}

/// The secrets of a function: the keys, and those of `api` if it is that.
fn secrets(keys: String, variable: &impl Fn(&str) -> Option<String>) -> Vec<(Part, String)> {
    let own = [(Part::Admin, "ADMIN_SECRET_ARN"), (Part::Token, "TOKEN_SECRET_ARN")];
    let own = own.into_iter().filter_map(|(part, name)| Some((part, variable(name)?)));
    let own = own.filter(|(_, id)| !id.is_empty());
    own.chain([(Part::Keys, keys)]).collect()
}

/// The router model of the deployment, whose provider must exist.
fn router_model(text: &str, providers: &Providers) -> Result<Option<RouterModel>, String> {
    let model = RouterModel::read(text)?;
    if let Some(model) = &model {
        model.must_have_provider(providers).map_err(|error| error.to_string())?;
    }
    Ok(model)
}

fn file_limits(variable: &impl Fn(&str) -> Option<String>, wrong: &mut Vec<String>) -> FileLimits {
    let mut limits = FileLimits::DEFAULT;
    for (name, limit) in [
        ("FILES_PER_SPACE", &mut limits.per_space),
        ("FILES_PER_ENTITY", &mut limits.per_entity),
        ("FILES_IN_ALL", &mut limits.in_all),
    ] {
        if let Some(text) = variable(name).filter(|text| !text.is_empty()) {
            match ByteLimit::read(&text) {
                Ok(read) => *limit = read,
                Err(error) => wrong.push(format!("{name}: {error}")),
            }
        }
    }
    limits
}

fn call_limits(variable: &impl Fn(&str) -> Option<String>, wrong: &mut Vec<String>) -> CallLimits {
    let text = variable("MAX_PROTOCOL_CALLS").filter(|text| !text.is_empty());
    let all = text.map_or(Ok(0), |text| text.parse()).unwrap_or_else(|_| {
        wrong.push("MAX_PROTOCOL_CALLS: expected a number".into());
        0
    });
    CallLimits::of_deployment(all)
}

/// The identity provider, which needs all three variables.
fn provider(
    variable: &impl Fn(&str) -> Option<String>,
    wrong: &mut Vec<String>,
) -> Option<Provider> {
    let values =
        ["JWKS_URL", "JWT_ISSUER", "JWT_AUDIENCE"].map(|name| variable(name).unwrap_or_default());
    if values.iter().all(|value| !value.is_empty()) {
        let [keys, issuer, audience] = values;
        return Some(Provider { keys, issuer, audience });
    }
    if values.iter().any(|value| !value.is_empty()) {
        wrong.push("JWKS_URL, JWT_ISSUER, JWT_AUDIENCE: expected all of them, or none".into());
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_errors_of_the_environment_are_reported_at_once() {
        let set = |name: &str| {
            (name == "TABLE_NAME")
                .then(|| "t".to_owned())
                .or_else(|| (name == "RUN_RETENTION_DAYS").then(|| "soon".to_owned()))
        };
        let BadConfig(wrong) = Config::read(set).unwrap_err();
        assert_eq!(wrong.len(), 12, "{wrong:?}");
        let empty = [
            "BUDGET_COST_PER_DAY",
            "INVITES",
            "JWT_ISSUER",
            "MODEL_PRICES",
            "PROVIDERS",
            "ROUTER_MODEL",
            "ALLOWED_ORIGINS",
            "SOURCE_ADDRESSES",
        ];
        let half = Config::read(|name| {
            let is_empty = empty.contains(&name) || name.starts_with("OTEL_");
            Some(if is_empty { String::new() } else { "1".into() })
        })
        .unwrap_err();
        assert_eq!(half.0, ["JWKS_URL, JWT_ISSUER, JWT_AUDIENCE: expected all of them, or none"]);
        assert!(
            wrong.contains(&"KEYS_SECRET_ARN is missing".to_owned())
                && wrong.iter().any(|text| text.starts_with("RUN_RETENTION_DAYS"))
        );
    }

    #[test]
    fn the_environment_is_read() {
        let complete = |name: &str| match name {
            "RUN_RETENTION_DAYS" => Some("0".into()),
            "BUDGET_COST_PER_DAY" => Some("12.5".into()),
            "ROUTER_MODEL" => Some("own/qwen3:8b".into()),
            "FILES_PER_SPACE" => Some("1 GiB".into()),
            "FILES_PER_ENTITY" => Some(String::new()),
            "FILES_IN_ALL" => Some("none".into()),
            "INVITES" => Some("guests".into()),
            "MODEL_PRICES" | "TOKEN_SECRET_ARN" => None,
            "SOURCE_ADDRESSES" => Some("none".into()),
            "MAX_PROTOCOL_CALLS" => Some("30".into()),
            "ALLOWED_ORIGINS" => Some("https://app.example.com/, , http://localhost:5173".into()),
            "PROVIDERS" => Some(
                r#"{"providers": {"own": {"api": "openai", "baseUrl": "http://127.0.0.1:1/v1"}}}"#
                    .into(),
            ),
            "OTEL_EXPORTER_OTLP_ENDPOINT" => Some("http://127.0.0.1:4318".into()),
            name if name.starts_with("OTEL_") => None,
            name => Some(format!("a {name}, b")),
        };
        let config = Config::read(complete).unwrap();
        assert_eq!(
            (config.keep_runs, config.cors_origins),
            (None, vec!["https://app.example.com".to_owned(), "http://localhost:5173".to_owned()])
        );
        assert_eq!(config.otlp.unwrap().url.as_str(), "http://127.0.0.1:4318/v1/traces");
        assert_eq!(config.budget.nanodollars, Some(12_500_000_000));
        let parts: Vec<_> = config.secrets.iter().map(|(part, _)| *part).collect();
        assert_eq!(parts, [Part::Admin, Part::Keys]);
        assert_eq!(config.router_model.unwrap().full_name(), "own/qwen3:8b");
        assert_eq!(config.call_limits, CallLimits { open: 10, waits: 7 });
        let per_space = ByteLimit(Some(1024 * 1024 * 1024));
        assert_eq!(config.file_limits, FileLimits { per_space, ..FileLimits::DEFAULT });
        assert_eq!(config.providers.names(), "anthropic, bedrock, openai, own, scripted");
    }

    #[test]
    fn a_wrong_part_of_a_list_is_named() {
        let wrong =
            Config::read(|name| (name == "ALLOWED_ORIGINS").then(|| "https://a.test, *".into()))
                .unwrap_err();
        assert!(
            wrong
                .0
                .iter()
                .any(|text| text.starts_with("ALLOWED_ORIGINS: \" *\": expected an origin")),
            "{:?}",
            wrong.0
        );
        let unknown =
            Config::read(|name| (name == "ROUTER_MODEL").then(|| "nobody/m".into())).unwrap_err();
        let named = unknown.0.iter().find(|text| text.starts_with("ROUTER_MODEL")).unwrap();
        assert!(named.contains("expected a provider of this deployment"), "{named}");
        let wrong = Config::read(|name| (name == "PROVIDERS").then(|| "[]".into())).unwrap_err();
        let named = wrong.0.iter().find(|text| text.starts_with("PROVIDERS")).unwrap();
        assert!(named.contains("not an object"), "{named}");
    }
}
