//! Which servers are the deployment's own: those at `localhost` or at a private address.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::{Host, Url};

/// Whether the host of a URL is `localhost` or a private address. Names are not resolved.
pub(super) fn is_local(address: &Url) -> bool {
    match address.host() {
        Some(Host::Domain(name)) => {
            let name = name.trim_end_matches('.');
            name == "localhost" || name.ends_with(".localhost")
        }
        Some(Host::Ipv4(ip)) => is_private(ip),
        Some(Host::Ipv6(ip)) => match IpAddr::V6(ip).to_canonical() {
            IpAddr::V4(ip) => is_private(ip),
            IpAddr::V6(ip) => is_private_v6(ip),
        },
        None => false,
    }
}

fn is_private(ip: Ipv4Addr) -> bool {
    ip.is_loopback() || ip.is_private() || ip.is_link_local() || ip.is_unspecified()
}

fn is_private_v6(ip: Ipv6Addr) -> bool {
    ip.is_loopback() || ip.is_unique_local() || ip.is_unicast_link_local() || ip.is_unspecified()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn localhost_and_private_addresses_are_own() {
        let local = |host: &str| is_local(&Url::parse(&format!("http://{host}/v1")).unwrap());
        for host in [
            "localhost",
            "LOCALHOST:11434",
            "localhost.",
            "ollama.localhost",
            "127.0.0.1:8080",
            "10.1.2.3",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.5:1234",
            "169.254.1.1",
            "0.0.0.0:8000",
            "[::1]:8080",
            "[fd00::1]",
            "[fe80::1]",
            "[::ffff:10.0.0.1]",
        ] {
            assert!(local(host), "{host}");
        }
        for host in [
            "api.openai.com",
            "localhost.example.com",
            "notlocalhost",
            "8.8.8.8",
            "172.32.0.1",
            "11.0.0.1",
            "[2001:db8::1]",
            "[::ffff:8.8.8.8]",
            "10.example.com",
        ] {
            assert!(!local(host), "{host}");
        }
    }
}
