//! Reads the origin and the target of a request from its headers.

use std::sync::Arc;

use axum::http::{HeaderMap, HeaderName, header};

/// The part of the public path that a proxy in front of us has removed, such as `/stage`.
pub const PREFIX: HeaderName = HeaderName::from_static("x-forwarded-prefix");

/// The address at which callers reach a deployment. Every absolute address in an answer begins with
/// it.
#[derive(Clone, Debug)]
pub enum PublicAddress {
    /// The configured address, without a slash at the end. No header of a request changes it.
    Configured(Arc<str>),
    /// The `Host` of the request, over HTTP. The local host checks it if it listens on a loopback
    /// address.
    OfHost,
    /// The address that API Gateway names in the headers. API Gateway answers only for the hosts of
    /// the deployment.
    BehindGateway,
}

impl PublicAddress {
    /// The address for HTTP, without a slash at the end.
    pub fn http(&self, headers: &HeaderMap) -> String {
        let text = |name: &HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
        let host = || text(&header::HOST).unwrap_or("localhost");
        match self {
            Self::Configured(address) => address.to_string(),
            Self::OfHost => format!("http://{}", host()),
            Self::BehindGateway => {
                let scheme = text(&HeaderName::from_static("x-forwarded-proto"));
                let secure = if scheme == Some("https") { "s" } else { "" };
                let prefix = text(&PREFIX).filter(|prefix| is_prefix(prefix)).unwrap_or_default();
                format!("http{secure}://{}{}", host(), prefix.trim_end_matches('/'))
            }
        }
    }

    /// The address for WebSockets, without a slash at the end.
    pub fn socket(&self, headers: &HeaderMap) -> String {
        self.http(headers).replacen("http", "ws", 1)
    }
}

/// Whether this is a plain path. Anyone can send the header, and the address is shown.
fn is_prefix(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~$/".contains(&byte);
    text.starts_with('/') && !text.starts_with("//") && text.bytes().all(is_plain)
}

/// Whether the page that sent a request may do so: pages of the request's own host, and of the
/// `allowed` origins. Programs that are not browsers send no `Origin`.
pub fn may_come_from(headers: &HeaderMap, allowed: &[String]) -> bool {
    let Some(origin) = headers.get(header::ORIGIN) else { return true };
    let Ok(origin) = origin.to_str() else { return false };
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let is_ours = origin
        .strip_prefix("https://")
        .or_else(|| origin.strip_prefix("http://"))
        .is_some_and(|authority| Some(authority) == host);
    is_ours || allowed.iter().any(|allowed| allowed == origin)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn headers(headers: &[(&'static str, &'static str)]) -> HeaderMap {
        let headers = headers
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        headers.collect()
    }

    fn admits(sent: &[(&'static str, &'static str)]) -> bool {
        may_come_from(&headers(sent), &["https://chat.example.com".to_owned()])
    }

    #[test]
    fn only_programs_own_pages_and_allowed_pages_come_in() {
        let host = ("host", "localhost:3000");
        assert!(admits(&[host]));
        assert!(admits(&[host, ("origin", "http://localhost:3000")]));
        assert!(admits(&[host, ("origin", "https://chat.example.com")]));
        assert!(!admits(&[host, ("origin", "https://evil.example.com")]));
        assert!(!admits(&[host, ("origin", "http://localhost:3001")]));
        assert!(!admits(&[host, ("origin", "null")]));
    }

    #[test]
    fn an_address_names_what_the_caller_may_choose_and_no_more() {
        let host = ("host", "team.example");
        let secure = ("x-forwarded-proto", "https");
        let gateway = |sent: &[(&'static str, &'static str)]| {
            PublicAddress::BehindGateway.http(&headers(sent))
        };
        assert_eq!(gateway(&[]), "http://localhost");
        assert_eq!(gateway(&[host, secure]), "https://team.example");
        let under = |prefix| gateway(&[host, secure, ("x-forwarded-prefix", prefix)]);
        assert_eq!(under("/live"), "https://team.example/live");
        assert_eq!(under("/"), "https://team.example");
        assert_eq!(under("/a/$default/"), "https://team.example/a/$default");
        for wrong in ["live", "//evil.example", "/a?b", "/a b", "/\"onclick"] {
            assert_eq!(under(wrong), "https://team.example", "{wrong}");
        }
        let sent = headers(&[host, secure, ("x-forwarded-prefix", "/live")]);
        assert_eq!(PublicAddress::BehindGateway.socket(&sent), "wss://team.example/live");
        assert_eq!(PublicAddress::OfHost.http(&sent), "http://team.example");
        assert_eq!(PublicAddress::OfHost.socket(&sent), "ws://team.example");
        let configured = PublicAddress::Configured("https://http.example".into());
        assert_eq!(configured.http(&sent), "https://http.example");
        assert_eq!(configured.socket(&sent), "wss://http.example");
    }
}
