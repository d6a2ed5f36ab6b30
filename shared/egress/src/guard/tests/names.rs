//! Names, and the addresses that they resolve to.

use reqwest::dns::{Name, Resolve};
use smartspace_ports::resolver::SystemResolver;

use crate::guard::tests::*;

#[tokio::test]
async fn a_name_with_any_address_that_is_not_public_is_refused() {
    let (listener, port) = listener();
    let answers: [&[&str]; 4] = [
        &["127.0.0.1"],
        &["8.8.8.8", "127.0.0.1"],
        &["::ffff:127.0.0.1"],
        &["2606:4700:4700::1111", "fe80::1"],
    ];
    let egress = egress(Changing::resolver(&answers), "");
    let url = format!("http://api.test:{port}/");
    let mut refusals = Vec::new();
    for _ in answers {
        refusals.push(egress.send(get(&url)).await);
    }
    let of_this_machine =
        not_allowed(&format!("api.test:{port} resolves to an address of this machine"));
    let link_local = not_allowed(&format!("api.test:{port} resolves to a link-local address"));
    assert_eq!(
        refusals,
        [of_this_machine.clone(), of_this_machine.clone(), of_this_machine, link_local]
    );
    assert!(had_no_connection(&listener));
}

#[tokio::test]
async fn the_client_connects_to_the_addresses_that_were_checked() {
    let changing = Changing::resolver(&[&["8.8.8.8", "::ffff:8.8.4.4"], &["127.0.0.1"]]);
    let resolver = PublicOnly(changing);
    let name = || "api.test".parse::<Name>().unwrap();
    // The client connects to the addresses that it gets here, and resolves once per connection.
    let connected_to: Vec<_> =
        resolver.resolve(name()).await.ok().unwrap().map(|address| address.to_string()).collect();
    assert_eq!(connected_to, ["8.8.8.8:0", "8.8.4.4:0"]);
    let refused = resolver.resolve(name()).await.err().unwrap();
    assert_eq!(
        refused.downcast_ref(),
        Some(&Refused::Special("api.test".into(), "an address of this machine"))
    );
}

#[tokio::test]
async fn every_connection_resolves_the_name_again() {
    let (listener, port) = listener();
    let egress = egress(Changing::resolver(&[&["127.0.0.1"], &[]]), "");
    let url = format!("https://api.test:{port}/");
    let refusals =
        [egress.send(get(&url)).await, egress.send(get(&url)).await, egress.send(get(&url)).await];
    let unknown = || not_sent("api.test could not be reached: no address was found for it");
    assert_eq!(
        refusals,
        [
            not_allowed(&format!("api.test:{port} resolves to an address of this machine")),
            unknown(),
            unknown()
        ]
    );
    assert!(had_no_connection(&listener));
}

#[tokio::test]
async fn a_host_is_allowed_only_on_its_port() {
    let (listener, port) = listener();
    let egress = egress(Arc::new(SystemResolver), "localhost:1");
    let refused = egress.send(get(&format!("http://localhost:{port}/"))).await;
    assert_eq!(
        refused,
        not_allowed(&format!("localhost:{port} resolves to an address of this machine"))
    );
    assert!(had_no_connection(&listener));
}
