//! The hosts that the deployment allows although their addresses are not public.

use std::{net::Ipv6Addr, num::NonZeroU16, str::FromStr};

use reqwest::Url;
use smartspace_ports::resolver::host_of;

/// Hosts with private addresses that tools may reach, from `SMARTSPACE_TOOL_HOSTS`. Example:
/// `localhost, 10.0.0.7:8931, [::1]:9000, crm.internal`. A host without a port is allowed on all
/// ports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolHosts(Vec<ToolHost>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct ToolHost {
    /// In the normalized form of a [`Url`], without a trailing dot.
    host: String,
    port: Option<u16>,
}

impl ToolHosts {
    /// Whether the list contains the host and the port of `url`.
    pub(super) fn allow(&self, url: &Url) -> bool {
        let host = url.host_str().map(without_trailing_dot);
        self.0.iter().any(|allowed| {
            host == Some(&allowed.host)
                && allowed.port.is_none_or(|port| url.port_or_known_default() == Some(port))
        })
    }
}

impl FromStr for ToolHosts {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.split(',')
            .map(str::trim)
            .filter(|entry| !entry.is_empty())
            .map(str::parse)
            .collect::<Result<_, _>>()
            .map(Self)
    }
}

impl FromStr for ToolHost {
    type Err = String;

    fn from_str(entry: &str) -> Result<Self, String> {
        parse(entry).ok_or_else(|| {
            format!(
                "expected hosts like localhost, 10.0.0.7:8931, [::1]:9000 or crm.internal, \
                 got {entry:?}"
            )
        })
    }
}

fn parse(entry: &str) -> Option<ToolHost> {
    let (host, port) = match entry.rsplit_once(':') {
        _ if entry.parse::<Ipv6Addr>().is_ok() => (format!("[{entry}]"), None),
        // An IPv6 address in brackets contains colons too.
        Some((host, port)) if !port.ends_with(']') => {
            (host.to_owned(), Some(port.parse::<NonZeroU16>().ok()?.get()))
        }
        _ => (entry.to_owned(), None),
    };
    Some(ToolHost { host: host_of(&host)?, port })
}

fn without_trailing_dot(host: &str) -> &str {
    host.strip_suffix('.').unwrap_or(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed<const N: usize>(hosts: &str, urls: [&str; N]) -> [bool; N] {
        let hosts: ToolHosts = hosts.parse().unwrap();
        urls.map(|url| hosts.allow(&url.parse().unwrap()))
    }

    #[test]
    fn a_host_is_allowed_in_every_spelling_on_its_port_or_on_all_ports() {
        let hosts = " localhost, 10.0.0.7:8931,,[::1]:9000, fd00::7,CRM.internal. ,müller.test:443";
        let open = [
            "http://localhost/",
            "https://LOCALHOST.:8443/x",
            "http://10.0.0.7:8931/",
            "http://0xa.7:8931/",
            "http://[0:0::1]:9000/",
            "http://[fd00::7]/",
            "https://crm.internal/",
            "https://xn--mller-kva.test/",
        ];
        assert_eq!(allowed(hosts, open), [true; 8]);
        let closed = [
            "http://127.0.0.1/",
            "http://10.0.0.7/",
            "http://[::1]/",
            "http://[::ffff:10.0.0.7]:8931/",
            "https://x.crm.internal/",
            "https://crm.internal.evil.test/",
            "http://müller.test/",
            "data:,localhost",
        ];
        assert_eq!(allowed(hosts, closed), [false; 8]);
        assert_eq!(
            ["", " , "].map(|hosts| hosts.parse::<ToolHosts>().unwrap()),
            [ToolHosts::default(), ToolHosts::default()]
        );
    }

    #[test]
    fn an_invalid_host_is_an_error() {
        let wrong = [
            "http://localhost",
            "localhost/path",
            "*.internal",
            "*",
            "10.0.0.0/8",
            "localhost:0",
            "localhost:70000",
            "localhost:",
            ":80",
            "user@localhost",
            "[::1",
            "a b",
            "host?",
            "host#",
            "a\\b",
            "300.0.0.1",
        ];
        for entry in wrong {
            let refusal = format!("localhost,{entry}").parse::<ToolHosts>();
            let expected = format!(
                "expected hosts like localhost, 10.0.0.7:8931, [::1]:9000 or crm.internal, \
                 got {entry:?}"
            );
            assert_eq!(refusal, Err(expected));
        }
    }
}
