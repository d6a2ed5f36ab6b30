//! Reads the secrets of tools and webhooks from the environment: `SMARTSPACE_SECRET_NAME` has the
//! secret, and `SMARTSPACE_SECRET_NAME_HOSTS` the hosts that may receive it.

use std::collections::BTreeMap;

use smartspace_domain::names::SecretName;
use smartspace_ports::secrets::{KnownSecrets, Secret};

/// The prefix of these variables.
pub(crate) const PREFIX: &str = "SMARTSPACE_SECRET_";

/// The suffix of the variables that name the hosts of a secret.
const HOSTS: &str = "_HOSTS";

/// The secrets in these variables, whose names come without [`PREFIX`]. An empty variable counts as
/// not set. Hosts without their secret are an error, so that a typing mistake does not leave a
/// secret unrestricted. Errors do not show a secret.
pub(crate) fn read(variables: &BTreeMap<String, String>) -> Result<KnownSecrets, String> {
    let value_of = |name: &str| variables.get(name).filter(|value| !value.is_empty());
    let mut secrets = BTreeMap::new();
    for (name, value) in variables {
        if let Some(secret) = name.strip_suffix(HOSTS) {
            if value_of(secret).is_none() && !value.is_empty() {
                return Err(format!(
                    "{PREFIX}{name} names the hosts of a secret, but {PREFIX}{secret} is not set"
                ));
            }
            continue;
        }
        if value.is_empty() {
            continue;
        }
        SecretName::check(name).map_err(|error| format!("{PREFIX}{name}: {error}"))?;
        let hosts = variables
            .get(&format!("{name}{HOSTS}"))
            .map(|hosts| hosts.split(',').map(str::to_owned).collect());
        let secret = Secret::new(value.clone(), hosts)
            .map_err(|error| format!("{PREFIX}{name}: {error}"))?;
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
        let known = read(&variables(&[
            ("A", "12345678"),
            ("A_HOSTS", "a.test, b.test"),
            ("B", ""),
            ("B_HOSTS", ""),
        ]))
        .unwrap();
        let a = known.get("A").unwrap();
        assert_eq!(
            ["a.test", "b.test", "c.test"].map(|host| a.may_go_to(host)),
            [true, true, false]
        );
        assert_eq!(known.all().count(), 1);
    }

    #[test]
    fn an_invalid_secret_is_refused_without_being_shown() {
        let refused = |pairs: &[(&str, &str)]| read(&variables(pairs)).unwrap_err();
        assert_eq!(refused(&[("A", "short")]), "SMARTSPACE_SECRET_A: expected at least 8 bytes");
        assert!(
            refused(&[("lower", "12345678")])
                .starts_with("SMARTSPACE_SECRET_lower: expected the name of a secret")
        );
        assert!(!refused(&[("A", "1234567\n")]).contains("1234567"));
        let typo = refused(&[("WEATHER", "12345678"), ("WETHER_HOSTS", "a.test")]);
        assert_eq!(
            typo,
            "SMARTSPACE_SECRET_WETHER_HOSTS names the hosts of a secret, but \
             SMARTSPACE_SECRET_WETHER is not set"
        );
        for wrong in ["", "a.test,", "*.a.test", "http://a.test", "a.test:80"] {
            let error = refused(&[("A", "12345678"), ("A_HOSTS", wrong)]);
            assert!(
                error.starts_with("SMARTSPACE_SECRET_A: expected hosts like api.example.com"),
                "{error}"
            );
        }
    }
}
