//! Secrets of tools and webhooks, as the environment has them: `SMARTSPACE_SECRET_NAME`, and in `SMARTSPACE_SECRET_NAME_HOSTS` where it may go.

use std::collections::BTreeMap;

use smartspace_domain::agents::{SECRET_NAME, is_secret_name};
use smartspace_edges::secrets::{KnownSecrets, Secret};

/// What the names of such variables begin with.
pub(crate) const PREFIX: &str = "SMARTSPACE_SECRET_";

/// What the name of a variable ends with that says where another one's secret may go.
const HOSTS: &str = "_HOSTS";

/// The secrets in these variables, named without [`PREFIX`]. An empty one is like none; but one that says where a secret may go is never without effect.
/// No error shows a secret.
pub(crate) fn read(variables: &BTreeMap<String, String>) -> Result<KnownSecrets, String> {
    let value_of = |name: &str| variables.get(name).filter(|value| !value.is_empty());
    let mut secrets = BTreeMap::new();
    for (name, value) in variables {
        if let Some(of) = name.strip_suffix(HOSTS) {
            if value_of(of).is_none() && !value.is_empty() {
                return Err(format!("{PREFIX}{name} says where a secret may go, and there is no {PREFIX}{of}"));
            }
            continue;
        }
        if value.is_empty() {
            continue;
        }
        if !is_secret_name(name) {
            return Err(format!("{PREFIX}{name}: {SECRET_NAME}"));
        }
        let hosts = variables.get(&format!("{name}{HOSTS}")).map(|hosts| hosts.split(',').map(str::to_owned).collect());
        let secret = Secret::new(value.clone(), hosts).map_err(|error| format!("{PREFIX}{name}: {error}"))?;
        secrets.insert(name.clone(), secret);
    }
    Ok(KnownSecrets::new(secrets))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(variables: &[(&str, &str)]) -> BTreeMap<String, String> {
        variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn a_secret_goes_where_its_hosts_say() {
        let known = read(&variables(&[("A", "12345678"), ("A_HOSTS", "a.test, b.test"), ("B", ""), ("B_HOSTS", "")])).unwrap();
        let a = known.get("A").unwrap();
        assert_eq!(["a.test", "b.test", "c.test"].map(|host| a.may_go_to(host)), [true, true, false]);
        assert_eq!(known.all().count(), 1);
    }

    #[test]
    fn what_is_no_secret_is_told_without_being_shown() {
        let told = |pairs: &[(&str, &str)]| read(&variables(pairs)).unwrap_err();
        assert_eq!(told(&[("A", "short")]), "SMARTSPACE_SECRET_A: expected at least 8 bytes");
        assert!(told(&[("lower", "12345678")]).starts_with("SMARTSPACE_SECRET_lower: expected the name of a secret"));
        assert!(!told(&[("A", "1234567\n")]).contains("1234567"));
        // What is to bind a secret binds it, or is refused.
        let typo = told(&[("WEATHER", "12345678"), ("WETHER_HOSTS", "a.test")]);
        assert_eq!(typo, "SMARTSPACE_SECRET_WETHER_HOSTS says where a secret may go, and there is no SMARTSPACE_SECRET_WETHER");
        for wrong in ["", "a.test,", "*.a.test", "http://a.test", "a.test:80"] {
            let error = told(&[("A", "12345678"), ("A_HOSTS", wrong)]);
            assert!(error.starts_with("SMARTSPACE_SECRET_A: expected hosts like api.example.com"), "{error}");
        }
    }
}
