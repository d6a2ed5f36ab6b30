//! The addresses at which this process is reached.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use smartspace_api::PublicAddress;

use crate::flags::Flags;

pub(super) struct Addresses {
    /// At which processes on this machine reach this one.
    pub(super) own: String,
    /// That answers name.
    pub(super) public: PublicAddress,
    /// At which servers elsewhere reach the API, as far as that is known.
    pub(super) api: String,
    /// The origins whose pages may connect and transfer files.
    pub(super) origins: Vec<String>,
}

impl Addresses {
    pub(super) fn of(flags: &Flags, listening: SocketAddr) -> Self {
        let port = listening.port();
        let ip = match listening.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
            ip => ip,
        };
        let own = format!("http://{}", SocketAddr::new(ip, port));
        let mut origins = flags.cors_origins.clone();
        let (public, api) = match &flags.public_url {
            None => (PublicAddress::OfHost, own.clone()),
            Some(url) => {
                // A page of ours may come from each of these addresses, and uses the public one.
                origins.extend([url.clone(), own.clone(), format!("http://localhost:{port}")]);
                (PublicAddress::Configured(url.as_str().into()), url.clone())
            }
        };
        Self { own, public, api, origins }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    fn addresses(listening: &str, more: &[&str]) -> Addresses {
        let arguments = ["smartspace", "--cors-origin", "https://app.example"];
        let flags = Flags::try_parse_from(arguments.iter().chain(more)).unwrap();
        Addresses::of(&flags, listening.parse().unwrap())
    }

    #[test]
    fn without_a_public_address_answers_name_the_host_that_was_asked() {
        let addresses = addresses("0.0.0.0:7700", &[]);
        assert!(matches!(addresses.public, PublicAddress::OfHost));
        assert_eq!([addresses.own, addresses.api], ["http://127.0.0.1:7700"; 2]);
        assert_eq!(addresses.origins, ["https://app.example"]);
    }

    #[test]
    fn with_one_they_name_it_and_pages_of_both_addresses_may_connect() {
        let addresses = addresses("[::]:7700", &["--public-url", "https://team.example"]);
        let PublicAddress::Configured(public) = addresses.public else { panic!() };
        assert_eq!((&*public, &*addresses.api), ("https://team.example", "https://team.example"));
        assert_eq!(addresses.own, "http://[::1]:7700");
        let expected = [
            "https://app.example",
            "https://team.example",
            "http://[::1]:7700",
            "http://localhost:7700",
        ];
        assert_eq!(addresses.origins, expected);
    }
}
