//! Which deployment a command talks to, and with which key. The key goes to that origin only.

mod logins;

use std::{
    env, fs,
    net::IpAddr,
    path::{Path, PathBuf},
};

use reqwest::Url;
use serde::de::DeserializeOwned;
use smartspace_client::{Client, Page, Refusal, Session};

pub(crate) use self::logins::{keep_login, kept_login};
use crate::{folder::Environment, output::Stop};

/// Where the product listens that `cargo run` starts.
const LOCAL: &str = "http://127.0.0.1:7700";
/// The environment variable that has the key of any deployment.
const KEY: &str = "SMARTSPACE_KEY";

/// The address of a deployment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address(Url);

impl Address {
    /// The address that a person or a file has written.
    pub(crate) fn parse(text: &str) -> Result<Self, Stop> {
        let expected = "expected an address such as https://smartspace.example.com";
        let said = |detail: &str| Stop::said(format!("{text}: {detail}"));
        let url = Url::parse(text).map_err(|_| said(expected))?;
        if !["http", "https"].contains(&url.scheme()) || url.host_str().is_none() {
            return Err(said(expected));
        }
        // What such an address has besides may be a secret, so that it is not repeated.
        if !url.username().is_empty() || url.password().is_some() {
            return Err(Stop::said(format!("{expected}, without a name or a password")));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(Stop::said(format!("{expected}, without `?` and `#`")));
        }
        let address = Self(url);
        if address.0.scheme() == "http" && !address.is_loopback() {
            let detail = "expected https://, since anybody on the way could read the key; http:// \
                          is for this machine only";
            return Err(said(detail));
        }
        Ok(address)
    }

    fn is_loopback(&self) -> bool {
        let host = self.0.host_str().unwrap_or_default();
        let host = host.trim_start_matches('[').trim_end_matches(']');
        host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
    }

    /// Scheme, host and port: what a key is stored for.
    pub(crate) fn origin(&self) -> String {
        self.0.origin().ascii_serialization()
    }

    /// A client of the API there, with a key.
    pub(crate) fn session(&self, key: &str) -> Result<Session, Stop> {
        let client = Client::new(self.0.as_str().trim_end_matches('/'));
        client.session(key).map_err(|refusal| Stop::said(refusal.detail))
    }
}

/// How many items a page has.
const PAGE: u32 = 100;

/// A refusal that has no more than its text.
impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Self {
        let more = match refusal.status {
            401 => "; expected a key of this deployment",
            403 => "; expected the operator's key",
            503 => "; what was written stays, and the next try does the rest",
            _ => "",
        };
        Self::said(format!("{}{more}", refusal.detail))
    }
}

/// All items of a list.
pub(crate) async fn all<T: DeserializeOwned>(
    session: &Session,
    path: &str,
) -> Result<Vec<T>, Refusal> {
    let mut items = Vec::new();
    let mut query = vec![("limit", PAGE.to_string())];
    loop {
        let page: Page<T> = session.get(path, &query).await?;
        items.extend(page.items);
        let Some(cursor) = page.next_cursor else { return Ok(items) };
        query = vec![("limit", PAGE.to_string()), ("cursor", cursor)];
    }
}

/// A session with the deployment that `--url` or the environment names, or else the local one.
pub(crate) fn connect(
    url: Option<&str>,
    environment: Option<&Environment>,
) -> Result<Session, Stop> {
    let own = environment.and_then(|it| it.url.as_deref());
    let address = Address::parse(url.or(own).unwrap_or(LOCAL))?;
    // The key of an environment is for its own address.
    let is_own = match (url, own) {
        (Some(_), Some(own)) => Address::parse(own)? == address,
        _ => true,
    };
    let variable = environment.filter(|_| is_own).and_then(|it| it.key_variable.as_deref());
    let Some(key) = key(&address, variable)? else { return Err(no_key(&address, variable)) };
    address.session(&key)
}

fn key(address: &Address, variable: Option<&str>) -> Result<Option<String>, Stop> {
    let given = |name: &str| env::var(name).ok().filter(|key| !key.is_empty());
    if let Some(key) = given(KEY).or_else(|| variable.and_then(given)) {
        return Ok(Some(key));
    }
    if let Some(key) = kept_login(&address.origin())? {
        return Ok(Some(key));
    }
    Ok(if address.is_loopback() { local_key() } else { None })
}

/// The key of the product on this machine, in the data folder of the current folder.
fn local_key() -> Option<String> {
    let folder = env::var_os("SMARTSPACE_DATA").map_or_else(|| ".smartspace".into(), PathBuf::from);
    let key = fs::read_to_string(Path::new(&folder).join("admin-key")).ok()?;
    Some(key.trim_end().to_owned()).filter(|key| !key.is_empty())
}

fn no_key(address: &Address, variable: Option<&str>) -> Stop {
    let origin = address.origin();
    let variables = match variable {
        Some(variable) => format!("{KEY} or {variable}"),
        None => KEY.to_owned(),
    };
    let more = if address.is_loopback() {
        ", or run this in the folder in which Smartspace was started"
    } else {
        ""
    };
    Stop::said(format!(
        "there is no key for {origin}: set {variables}, or run `smartspace login {origin}`{more}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_go_over_https_or_stay_on_this_machine() {
        for good in [
            "https://smartspace.example.com",
            "https://x.execute-api.eu-central-1.amazonaws.com/prod",
            "http://localhost:7700/",
            "http://127.0.0.1:7700",
            "http://[::1]:7700",
        ] {
            assert!(Address::parse(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "smartspace.example.com",
            "ftp://localhost",
            "http://smartspace.example.com",
            "http://localhost.example.com",
            "http://127.0.0.1.example.com",
            "http://10.0.0.7",
            "https://sara:hunter2@example.com",
            "https://example.com/?key=hunter2",
            "https://example.com/#key=hunter2",
        ] {
            let Err(Stop::Said(text)) = Address::parse(bad) else { panic!("{bad}") };
            assert!(text.contains("expected") && !text.contains("hunter2"), "{text}");
        }
        let one = Address::parse("https://Example.com:443/prod").unwrap();
        assert_eq!(one.origin(), "https://example.com");
    }
}
