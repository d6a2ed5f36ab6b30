//! A function's environment, as the template sets it. Nothing else reads it.

use std::{sync::Arc, time::Duration};

use smartspace_domain::prices::Prices;

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
    /// `OPENAI_BASE_URL`; may be empty.
    pub openai_base_url: Option<String>,
    /// `ANTHROPIC_BASE_URL`; may be empty.
    pub anthropic_base_url: Option<String>,
    /// `JWKS_URL`, with `JWT_ISSUER` and `JWT_AUDIENCE`: whose tokens are believed. Without it the secret's `jwtSecret` signs them.
    pub provider: Option<Provider>,
    /// `JWT_CREATE`: "true" makes a person of a token's `sub` that nobody has.
    pub jwt_create: bool,
    /// `TOOL_HOSTS`: hosts on private addresses that tools may reach, comma-separated; may be empty.
    pub tool_hosts: String,
    /// `MODEL_PRICES`: a table of prices as JSON; where it is empty, the one that comes with the product.
    pub prices: Arc<Prices>,
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
            socket_url: required("SOCKET_URL"),
            socket_endpoint: required("SOCKET_ENDPOINT"),
            secret: required("SECRET_ARN"),
            cors_origins: Vec::new(),
            keep_runs: None,
            openai_base_url: variable("OPENAI_BASE_URL").filter(|url| !url.is_empty()),
            anthropic_base_url: variable("ANTHROPIC_BASE_URL").filter(|url| !url.is_empty()),
            provider: None,
            tool_hosts: variable("TOOL_HOSTS").unwrap_or_default(),
            jwt_create: variable("JWT_CREATE").is_some_and(|create| create == "true"),
            prices: Arc::new(Prices::built_in()),
        };
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
        config.cors_origins = origins.split(',').map(str::trim).filter(|origin| !origin.is_empty()).map(str::to_owned).collect();
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
        assert_eq!(wrong.len(), 7, "{wrong:?}");
        let empty = ["JWT_ISSUER", "MODEL_PRICES"];
        let half = Config::read(|name| Some(if empty.contains(&name) { String::new() } else { "1".into() })).unwrap_err();
        assert_eq!(half.0, ["JWKS_URL, JWT_ISSUER, JWT_AUDIENCE: expected all of them, or none"]);
        assert!(wrong.contains(&"SECRET_ARN is missing".to_owned()) && wrong.iter().any(|text| text.starts_with("RUN_RETENTION_DAYS")));

        let told = |name: &str| match name {
            "RUN_RETENTION_DAYS" => Some("0".into()),
            "MODEL_PRICES" => None,
            name => Some(format!("a {name}, b")),
        };
        let config = Config::read(told).unwrap();
        assert_eq!((config.keep_runs, config.cors_origins), (None, vec!["a ALLOWED_ORIGINS".to_owned(), "b".to_owned()]));
    }
}
