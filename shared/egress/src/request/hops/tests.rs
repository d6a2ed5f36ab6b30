use std::sync::Arc;

use smartspace_edges::{names::SystemNames, secrets::FixedSecrets};

use super::*;
use crate::ToolHosts;

#[tokio::test]
async fn from_https_to_http_is_not_followed() {
    let egress = Egress::new(Arc::new(SystemNames), ToolHosts::default(), Arc::new(FixedSecrets::default()));
    let hop =
        Hop { method: Method::GET, url: "https://api.test/".parse().unwrap(), headers: HeaderMap::new(), body: None, repeatable: true };
    let next = async |to: &str| hop.redirected(StatusCode::FOUND, to.parse().unwrap(), &egress).await.map(|hop| hop.url.to_string());
    let refused = || Err(unknown("the server redirected from https:// to http://, which is not followed".into()));
    let followed = [next("http://api.test/").await, next("http://other.test/").await, next("https://other.test/").await];
    assert_eq!(followed, [refused(), refused(), Ok("https://other.test/".into())]);
}

#[tokio::test]
async fn from_outside_no_redirect_leads_to_what_is_allowed_by_name() {
    let hosts: ToolHosts = "crm.internal, 10.0.0.7:81".parse().unwrap();
    let egress = Egress::new(Arc::new(SystemNames), hosts, Arc::new(FixedSecrets::default()));
    let leads = async |from: &str, to: &str| {
        let headers = HeaderMap::new();
        let hop = Hop { method: Method::GET, url: from.parse().unwrap(), headers, body: None, repeatable: true };
        hop.redirected(StatusCode::FOUND, to.parse().unwrap(), &egress).await.is_ok()
    };
    assert!(!leads("http://a.test/", "http://crm.internal/").await && !leads("http://a.test/", "http://10.0.0.7:81/").await);
    assert!(leads("http://crm.internal/", "http://10.0.0.7:81/").await && leads("http://crm.internal/", "http://a.test/").await);
}
