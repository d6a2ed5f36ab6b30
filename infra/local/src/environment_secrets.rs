//! Secrets of tools and webhooks, as the environment has them: `SMARTSPACE_SECRET_NAME`, and in `SMARTSPACE_SECRET_NAME_HOSTS` where it may go.

use std::collections::BTreeMap;

use smartspace_domain::agents::{SECRET_NAME, is_secret_name};
use smartspace_edges::secrets::{KnownSecrets, Secret};

/// What the names of such variables begin with.
pub(crate) const PREFIX: &str = "SMARTSPACE_SECRET_";

/// What the name of a variable ends with that says where another one's secret may go.
const HOSTS: &str = "_HOSTS";

/// The secrets in these variables, named without [`PREFIX`]. No error shows one.
pub(crate) fn read(variables: &BTreeMap<String, String>) -> Result<KnownSecrets, String> {
    let mut secrets = BTreeMap::new();
    for (name, value) in variables.iter().filter(|(name, _)| !says_where(name, variables)) {
        if !is_secret_name(name) {
            return Err(format!("{PREFIX}{name}: {SECRET_NAME}"));
        }
        let hosts = variables.get(&format!("{name}{HOSTS}")).map(|hosts| hosts.split(',').map(str::to_owned).collect());
        let secret = Secret::new(value.clone(), hosts).map_err(|error| format!("{PREFIX}{name}: {error}"))?;
        secrets.insert(name.clone(), secret);
    }
    Ok(KnownSecrets::new(secrets))
}

/// Whether a variable says where another one's secret may go.
fn says_where(name: &str, variables: &BTreeMap<String, String>) -> bool {
    name.strip_suffix(HOSTS).is_some_and(|of| variables.contains_key(of))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(variables: &[(&str, &str)]) -> BTreeMap<String, String> {
        variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn a_secret_goes_where_its_hosts_say() {
        let known = read(&variables(&[("A", "12345678"), ("A_HOSTS", "a.test, b.test"), ("B_HOSTS", "no list of hosts")])).unwrap();
        let a = known.get("A").unwrap();
        assert_eq!(["a.test", "b.test", "c.test"].map(|host| a.may_go_to(host)), [true, true, false]);
        assert!(known.get("A_HOSTS").is_none() && known.get("B").is_none());
        assert_eq!(known.get("B_HOSTS").map(Secret::reveal), Some("no list of hosts"), "nobody has the secret B");
    }

    #[test]
    fn what_is_no_secret_is_told_without_being_shown() {
        let told = |name: &str, value: &str| read(&variables(&[(name, value)])).unwrap_err();
        assert_eq!(told("A", "short"), "SMARTSPACE_SECRET_A: expected at least 8 bytes");
        assert!(told("lower", "12345678").starts_with("SMARTSPACE_SECRET_lower: expected the name of a secret"));
        assert!(!told("A", "1234567\n").contains("1234567"));
    }
}
