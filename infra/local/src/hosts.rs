//! Which hosts this server answers for.
//!
//! A page of any origin can let the name of its own host point to 127.0.0.1 (DNS rebinding). To the
//! browser our answers then belong to that page. Only the `Host` of the request tells.

use std::net::{IpAddr, SocketAddr};

use axum::{
    body::Body,
    extract::{Request, State},
    http::{HeaderMap, Uri, header, uri::Authority},
    middleware::Next,
    response::Response,
};
use smartspace_domain::problems::Problem;
use smartspace_web::{respond, with_privacy};

/// The hosts of requests that are answered.
#[derive(Clone, Debug)]
pub(crate) enum Hosts {
    /// The names and addresses of this machine for itself, and the host of the public address.
    Loopback { public: Option<String> },
    /// All, since a server that listens on the network has names that it does not know.
    Any,
}

impl Hosts {
    /// The hosts of a server that listens at `address`.
    pub(crate) fn of(address: SocketAddr, public_url: Option<&str>) -> Self {
        if !address.ip().is_loopback() {
            return Self::Any;
        }
        let public = public_url.and_then(|url| url.parse::<Uri>().ok());
        Self::Loopback { public: public.and_then(|url| url.host().map(str::to_ascii_lowercase)) }
    }

    fn admits(&self, host: &str) -> bool {
        let Self::Loopback { public } = self else { return true };
        let name = host.trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
        let is_loopback = name == "localhost"
            || name.parse::<IpAddr>().is_ok_and(|ip| ip.to_canonical().is_loopback());
        is_loopback || public.as_ref().is_some_and(|public| *public == host.to_ascii_lowercase())
    }

    /// The problem of a request that has not exactly one `Host`, or names a host that is not ours.
    fn problem(&self, headers: &HeaderMap, uri: &Uri) -> Option<Problem> {
        let mut sent = headers.get_all(header::HOST).iter();
        let host = sent.next().and_then(|host| host.to_str().ok()?.parse::<Authority>().ok());
        let host = host.filter(|host| is_host(host) && sent.next().is_none());
        let Some(host) = host else {
            let text = "expected one Host header with a name or an address, such as localhost:7700";
            return Some(Problem::new(400, "Bad Request", text));
        };
        // The target of a request to a proxy has a host, too, and overrides the header.
        let mut hosts = [Some(host.host()), uri.host()].into_iter().flatten();
        let host = hosts.find(|host| !self.admits(host))?;
        let text = format!(
            "this server does not answer for the host {host}; expected localhost, a loopback \
             address, or the host of --public-url"
        );
        Some(Problem::new(421, "Misdirected Request", text))
    }
}

/// Whether there is nothing but a host and a port. The parser allows more.
fn is_host(authority: &Authority) -> bool {
    let host = authority.host();
    let rest = authority.as_str().strip_prefix(host);
    rest == Some("") || authority.port_u16().is_some_and(|port| rest == Some(&format!(":{port}")))
}

pub(crate) async fn check(State(hosts): State<Hosts>, request: Request, next: Next) -> Response {
    match hosts.problem(request.headers(), request.uri()) {
        Some(problem) => refuse(&problem),
        None => next.run(request).await,
    }
}

/// A refusal before the request has an id.
pub(crate) fn refuse(problem: &Problem) -> Response<Body> {
    with_privacy(respond(problem))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(hosts: &Hosts, sent: &[&str], uri: &str) -> u16 {
        let headers = sent.iter().map(|host| (header::HOST, host.parse().unwrap()));
        let problem = hosts.problem(&headers.collect(), &uri.parse().unwrap());
        problem.map_or(200, |problem| problem.status)
    }

    fn loopback(public_url: Option<&str>) -> Hosts {
        Hosts::of("127.0.0.1:7700".parse().unwrap(), public_url)
    }

    #[test]
    fn a_server_for_this_machine_answers_for_its_own_hosts_only() {
        let hosts = loopback(Some("https://Team.example"));
        for ours in [
            "localhost",
            "LOCALHOST:1",
            "127.0.0.1:7700",
            "127.9.9.9",
            "[::1]:80",
            "team.example",
            "TEAM.EXAMPLE:443",
        ] {
            assert_eq!(status(&hosts, &[ours], "/"), 200, "{ours}");
        }
        for other in [
            "evil.example",
            "evil.example:7700",
            "localhost.evil.example",
            "10.0.0.1",
            "0.0.0.0",
            "[::2]",
            "localhost.",
            "2130706433",
            "xlocalhost",
            "team.example.evil.example",
        ] {
            assert_eq!(status(&hosts, &[other], "/"), 421, "{other}");
        }
        assert_eq!(status(&loopback(None), &["team.example"], "/"), 421);
        assert_eq!(status(&hosts, &["localhost"], "http://evil.example/"), 421);
        assert_eq!(status(&hosts, &["evil.example"], "http://localhost/"), 421);
        assert_eq!(status(&hosts, &["localhost:1"], "http://localhost:1/"), 200);
    }

    #[test]
    fn every_server_expects_one_host() {
        let any = Hosts::of("0.0.0.0:7700".parse().unwrap(), None);
        assert_eq!(status(&any, &["anything.example:1"], "/"), 200);
        for hosts in [any, loopback(None)] {
            for wrong in [&[][..], &[""], &["localhost", "localhost"], &["a b"], &["x@localhost"]] {
                assert_eq!(status(&hosts, wrong, "/"), 400, "{wrong:?}");
            }
            for wrong in ["[::1]evil", "[::1]:x", "localhost:evil", "127.0.0.1:70000"] {
                assert_eq!(status(&hosts, &[wrong], "/"), 400, "{wrong}");
            }
        }
    }
}
