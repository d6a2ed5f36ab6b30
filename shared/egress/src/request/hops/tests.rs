use std::sync::Arc;

use smartspace_ports::{resolver::SystemResolver, secrets::FixedSecrets};

use crate::ToolHosts;
use crate::request::hops::*;

#[tokio::test]
async fn a_redirect_from_https_to_http_is_not_followed() {
    let egress = Egress::new(
        Arc::new(SystemResolver),
        ToolHosts::default(),
        Arc::new(FixedSecrets::default()),
    );
    let hop = Hop {
        method: Method::GET,
        url: "https://api.test/".parse().unwrap(),
        headers: HeaderMap::new(),
        body: None,
        repeatable: true,
    };
    let next = async |to: &str| {
        hop.redirected(StatusCode::FOUND, to.parse().unwrap(), &egress)
            .await
            .map(|hop| hop.url.to_string())
    };
    let refused = || {
        Err(unknown("the server redirected from https:// to http://, which is not followed".into()))
    };
    let followed = [
        next("http://api.test/").await,
        next("http://other.test/").await,
        next("https://other.test/").await,
    ];
    assert_eq!(followed, [refused(), refused(), Ok("https://other.test/".into())]);
}

#[tokio::test]
async fn a_redirect_from_a_public_server_to_an_allowed_host_is_not_followed() {
    let hosts: ToolHosts = "crm.internal, 10.0.0.7:81".parse().unwrap();
    let egress = Egress::new(Arc::new(SystemResolver), hosts, Arc::new(FixedSecrets::default()));
    let is_followed = async |from: &str, to: &str| {
        let headers = HeaderMap::new();
        let hop = Hop {
            method: Method::GET,
            url: from.parse().unwrap(),
            headers,
            body: None,
            repeatable: true,
        };
        hop.redirected(StatusCode::FOUND, to.parse().unwrap(), &egress).await.is_ok()
    };
    assert!(
        !is_followed("http://a.test/", "http://crm.internal/").await
            && !is_followed("http://a.test/", "http://10.0.0.7:81/").await
    );
    assert!(
        is_followed("http://crm.internal/", "http://10.0.0.7:81/").await
            && is_followed("http://crm.internal/", "http://a.test/").await
    );
}
