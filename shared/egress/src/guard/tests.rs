use std::{
    collections::VecDeque,
    io,
    net::TcpListener,
    sync::{Mutex, PoisonError},
};

use async_trait::async_trait;
use http::{HeaderMap, Method};
use smartspace_ports::secrets::{FixedSecrets, SecretsError};

use crate::Outgoing;
use crate::guard::*;

mod names;

/// Answers with each list once, and then with an error.
struct Changing(Mutex<VecDeque<Vec<IpAddr>>>);

impl Changing {
    fn resolver(answers: &[&[&str]]) -> Arc<dyn Resolver> {
        let answer =
            |answer: &&[&str]| answer.iter().map(|address| address.parse().unwrap()).collect();
        Arc::new(Self(Mutex::new(answers.iter().map(answer).collect())))
    }
}

#[async_trait]
impl Resolver for Changing {
    async fn addresses(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        assert_eq!(host, "api.test");
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop_front()
            .ok_or_else(|| io::Error::other("no such name"))
    }
}

/// Resolves every name to this machine.
struct Here;

#[async_trait]
impl Resolver for Here {
    async fn addresses(&self, _: &str) -> io::Result<Vec<IpAddr>> {
        Ok(vec![IpAddr::from([127, 0, 0, 1])])
    }
}

struct Broken;

#[async_trait]
impl Secrets for Broken {
    async fn known(&self) -> Result<Arc<KnownSecrets>, SecretsError> {
        Err(SecretsError("access denied".into()))
    }
}

fn egress(resolver: Arc<dyn Resolver>, hosts: &str) -> Egress {
    Egress::new(resolver, hosts.parse().unwrap(), Arc::new(FixedSecrets::default()))
}

fn get(url: &str) -> Outgoing {
    let limit = Duration::from_secs(10);
    let url = url.parse().unwrap();
    Outgoing {
        method: Method::GET,
        url,
        headers: HeaderMap::new(),
        body: None,
        limit,
        repeatable: false,
        only_status: false,
        secrets: Vec::new(),
    }
}

fn not_sent<T>(text: &str) -> Result<T, SendError> {
    Err(SendError::NotSent(text.to_owned()))
}

const NOT_ALLOWED: &str = ", which tools may reach only if SMARTSPACE_TOOL_HOSTS lists this host, \
                           either alone or with this port";

fn not_allowed<T>(reason: &str) -> Result<T, SendError> {
    Err(SendError::Refused(format!("{reason}{NOT_ALLOWED}")))
}

/// A listener and its port.
fn listener() -> (TcpListener, u16) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    (listener, port)
}

fn had_no_connection(listener: &TcpListener) -> bool {
    listener.accept().is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
}

#[tokio::test]
async fn every_spelling_of_an_address_of_this_machine_is_refused() {
    let (listener, port) = listener();
    let egress = egress(Arc::new(Here), "");
    let this_machine = [
        "127.0.0.1",
        "0177.0.0.1",
        "0x7f.1",
        "0x7f000001",
        "2130706433",
        "017700000001",
        "127.1",
        "127.0.1",
        "127.0.0.1.",
        "0",
        "0.0.0.0",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[0:0:0:0:0:ffff:7f00:1]",
        "[::127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[64:ff9b:1::7f00:1]",
        "[2002:7f00:1::]",
        "１２７.0.0.1",
        "127。0。0。1",
        "①②⑦.0.0.1",
        "%31%32%37.0.0.1",
        "127%2e0%2e0%2e1",
        "localhost",
        "localhost.",
        "LOCALHOST",
        "%6cocalhost",
        "ｌｏｃａｌｈｏｓｔ",
    ];
    for host in this_machine {
        let refusal = egress.send(get(&format!("http://{host}:{port}/"))).await.unwrap_err();
        assert!(
            matches!(&refusal, SendError::Refused(text) if text.ends_with(NOT_ALLOWED)),
            "{host}: {refusal}"
        );
    }
    assert!(had_no_connection(&listener));
}

#[test]
fn a_url_is_checked_before_name_resolution() {
    let egress = egress(Changing::resolver(&[]), "localhost");
    let refusal = |url: &str| {
        egress.client_for(&url.parse().unwrap(), false).err().map(|refusal| refusal.to_string())
    };
    let refusals = [
        "http://169.254.169.254/latest/meta-data",
        "http://[fd00:ec2::254]/",
        "http://user:password@8.8.8.8/",
        "http://user@localhost/",
        "ftp://8.8.8.8/",
        "file:///etc/passwd",
        "data:,x",
        "https://[::ffff:8.8.8.8]/",
        "https://8.8.8.8/",
        "https://[2606:4700:4700::1111]/",
        "https://api.test/",
        "http://localhost/",
    ]
    .map(refusal);
    let expected = [
        Some(
            "169.254.169.254:80 is a link-local address, \
             which tools may reach only if SMARTSPACE_TOOL_HOSTS lists this host, \
             either alone or with this port",
        ),
        Some(
            "[fd00:ec2::254]:80 is an address of a private network, \
             which tools may reach only if SMARTSPACE_TOOL_HOSTS lists this host, \
             either alone or with this port",
        ),
        Some("expected an address without a user or a password in it"),
        Some("expected an address without a user or a password in it"),
        Some("expected an address that begins with https:// or http://"),
        Some("expected an address that begins with https:// or http://"),
        Some("expected an address that begins with https:// or http://"),
        Some(
            "[::ffff:808:808]:443 is an address with an IPv4 address in it, \
             which tools may reach only if SMARTSPACE_TOOL_HOSTS lists this host, \
             either alone or with this port",
        ),
        None,
        None,
        None,
        None,
    ];
    assert_eq!(refusals.each_ref().map(Option::as_deref), expected);
}

#[tokio::test]
async fn unreadable_secrets_are_an_error_without_the_reason() {
    let egress = Egress::new(Changing::resolver(&[]), ToolHosts::default(), Arc::new(Broken));
    assert_eq!(
        egress.secrets().await.err(),
        Some(SendError::NotSent("the secrets of this deployment could not be read".into()))
    );
}
