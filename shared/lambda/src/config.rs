//! A function's environment, as the template sets it. Nothing else reads it.

use std::{sync::Arc, time::Duration};

use smartspace_domain::{origins::origin, prices::Prices};
use smartspace_edges::alarms::Schedules;

/// The environment of a function. Every function is given all of it.
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
    /// `TRIGGERS_QUEUE_ARN`, `SCHEDULE_GROUP`, `SCHEDULE_ROLE_ARN`: what alarms are made of that lie further ahead.
    pub schedules: Schedules,
    /// `SOCKET_URL`: where browsers connect.
    pub socket_url: String,
    /// `SOCKET_ENDPOINT`: where frames are posted to.
    pub socket_endpoint: String,
    /// `SECRET_ARN`: one JSON secret with `adminKey` and the models' keys.
    pub secret: String,
    /// `ALLOWED_ORIGINS`, comma-separated; may be empty.
    pub cors_origins: Vec<String>,
    /// `RUN_RETENTION_DAYS`; 0 keeps for ever.
    pub keep_runs: Option<Duration>,
    /// `MODEL_BASE_URLS`: `openai=https://…,anthropic=https://…`; either may be missing.
    pub openai_base_url: Option<String>,
    /// As above.
    pub anthropic_base_url: Option<String>,
    /// `JWKS_URL`, with `JWT_ISSUER` and `JWT_AUDIENCE`: whose tokens are believed. Without it the secret's `jwtSecret` signs them.
    pub provider: Option<Provider>,
    /// `JWT_CREATE`: "true" makes a person of a token's `sub` that nobody has.
    pub jwt_create: bool,
    /// `TOOL_HOSTS`: hosts on private addresses that tools may reach, comma-separated; may be empty.
    pub tool_hosts: String,
    /// `MODEL_PRICES`: a table of prices as JSON; where it is empty, the one that comes with the product.
    pub prices: Arc<Prices>,
    /// `AWS_REGION`, which Lambda sets.
    pub region: String,
    /// `AWS_ENDPOINT_URL`: where an emulator answers for all of AWS; empty otherwise.
    pub endpoint: Option<String>,
    /// `SMARTSPACE_LOG`: what is logged; `info` where it is empty.
    pub log: String,
    /// `STACK_NAME`: which deployment this is, in its metrics; there are none where it is empty.
    pub stack: Option<String>,
}

/// An identity provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provider {
    /// Where it publishes its keys.
    pub keys: String,
    /// Its tokens' `iss`.
    pub issuer: String,
    /// Their `aud`.
    pub audience: String,
}

/// What is wrong with the environment, all of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the environment is incomplete: {}", .0.join("; "))]
pub struct BadConfig(pub Vec<String>);

impl Config {
    /// Reads the environment of this process.
    pub fn from_env() -> Result<Self, BadConfig> {
        Self::read(|name| std::env::var(name).ok())
    }

    fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Self, BadConfig> {
        let mut wrong = Vec::new();
        let mut required = |name: &str| {
            let value = variable(name).unwrap_or_default();
            if value.is_empty() {
                wrong.push(format!("{name} is missing"));
            }
            value
        };
        let mut config = Self {
            table: required("TABLE_NAME"),
            runs_queue: required("RUNS_QUEUE_URL"),
            broadcasts_queue: required("BROADCASTS_QUEUE_URL"),
            triggers_queue: required("TRIGGERS_QUEUE_URL"),
            schedules: Schedules {
                group: required("SCHEDULE_GROUP"),
                role: required("SCHEDULE_ROLE_ARN"),
                target: required("TRIGGERS_QUEUE_ARN"),
            },
            socket_url: required("SOCKET_URL"),
            socket_endpoint: required("SOCKET_ENDPOINT"),
            secret: required("SECRET_ARN"),
            cors_origins: Vec::new(),
            keep_runs: None,
            openai_base_url: None,
            anthropic_base_url: None,
            provider: None,
            tool_hosts: variable("TOOL_HOSTS").unwrap_or_default(),
            jwt_create: variable("JWT_CREATE").is_some_and(|create| create == "true"),
            prices: Arc::new(Prices::built_in()),
            region: required("AWS_REGION"),
            endpoint: variable("AWS_ENDPOINT_URL").filter(|url| !url.is_empty()),
            log: variable("SMARTSPACE_LOG").filter(|filter| !filter.is_empty()).unwrap_or_else(|| "info".into()),
            stack: variable("STACK_NAME").filter(|name| !name.is_empty()),
        };
        let urls = variable("MODEL_BASE_URLS").unwrap_or_default();
        for url in urls.split(',').map(str::trim).filter(|url| !url.is_empty()) {
            match url.split_once('=') {
                Some(("openai", url)) => config.openai_base_url = Some(url.to_owned()),
                Some(("anthropic", url)) => config.anthropic_base_url = Some(url.to_owned()),
                _ => wrong.push(format!("MODEL_BASE_URLS: expected openai=https://… or anthropic=https://…, got {url:?}")),
            }
        }
        if let Some(text) = variable("MODEL_PRICES").filter(|text| !text.is_empty()) {
            match Prices::read(&text) {
                Ok(prices) => config.prices = Arc::new(prices),
                Err(error) => wrong.push(format!("MODEL_PRICES: {error}")),
            }
        }
        let provider = ["JWKS_URL", "JWT_ISSUER", "JWT_AUDIENCE"].map(|name| variable(name).unwrap_or_default());
        if provider.iter().all(|value| !value.is_empty()) {
            let [keys, issuer, audience] = provider;
            config.provider = Some(Provider { keys, issuer, audience });
        } else if provider.iter().any(|value| !value.is_empty()) {
            wrong.push("JWKS_URL, JWT_ISSUER, JWT_AUDIENCE: expected all of them, or none".into());
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
        if wrong.is_empty() { Ok(config) } else { Err(BadConfig(wrong)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_is_missing_is_said_at_once() {
        let set = |name: &str| {
            (name == "TABLE_NAME").then(|| "t".to_owned()).or_else(|| (name == "RUN_RETENTION_DAYS").then(|| "soon".to_owned()))
        };
        let BadConfig(wrong) = Config::read(set).unwrap_err();
        assert_eq!(wrong.len(), 11, "{wrong:?}");
        let empty = ["JWT_ISSUER", "MODEL_PRICES", "MODEL_BASE_URLS", "ALLOWED_ORIGINS"];
        let half = Config::read(|name| Some(if empty.contains(&name) { String::new() } else { "1".into() })).unwrap_err();
        assert_eq!(half.0, ["JWKS_URL, JWT_ISSUER, JWT_AUDIENCE: expected all of them, or none"]);
        assert!(wrong.contains(&"SECRET_ARN is missing".to_owned()) && wrong.iter().any(|text| text.starts_with("RUN_RETENTION_DAYS")));

        let told = |name: &str| match name {
            "RUN_RETENTION_DAYS" => Some("0".into()),
            "MODEL_PRICES" => None,
            "ALLOWED_ORIGINS" => Some("https://app.example.com/, , http://localhost:5173".into()),
            "MODEL_BASE_URLS" => Some("openai=http://127.0.0.1:1/v1?a=b, anthropic=http://127.0.0.1:2".into()),
            name => Some(format!("a {name}, b")),
        };
        let config = Config::read(told).unwrap();
        assert_eq!(
            (config.keep_runs, config.cors_origins),
            (None, vec!["https://app.example.com".to_owned(), "http://localhost:5173".to_owned()])
        );
        let urls = (config.openai_base_url.as_deref(), config.anthropic_base_url.as_deref());
        assert_eq!(urls, (Some("http://127.0.0.1:1/v1?a=b"), Some("http://127.0.0.1:2")));

        let wrong = Config::read(|name| (name == "ALLOWED_ORIGINS").then(|| "https://a.test, *".into())).unwrap_err();
        assert!(wrong.0.iter().any(|text| text.starts_with("ALLOWED_ORIGINS: \" *\": expected an origin")), "{:?}", wrong.0);
        let wrong = Config::read(|name| (name == "MODEL_BASE_URLS").then(|| "bedrock=x,openai".into())).unwrap_err();
        let said: Vec<_> = wrong.0.iter().filter(|text| text.starts_with("MODEL_BASE_URLS")).collect();
        assert_eq!(said.len(), 2, "{said:?}");
    }
}
