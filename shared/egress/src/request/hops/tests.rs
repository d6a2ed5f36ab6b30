use std::sync::Arc;

use smartspace_edges::{names::SystemNames, secrets::FixedSecrets};

use super::*;
use crate::ToolHosts;

#[tokio::test]
async fn from_https_to_http_is_not_followed() {
    let egress = Egress::new(Arc::new(SystemNames), ToolHosts::default(), Arc::new(FixedSecrets::default())).unwrap();
    let hop = Hop { method: Method::GET, url: "https://api.test/".parse().unwrap(), headers: HeaderMap::new(), body: None };
    let next = async |to: &str| hop.redirected(StatusCode::FOUND, to.parse().unwrap(), &egress).await.map(|hop| hop.url.to_string());
    let refused = || Err(unknown("the server redirected from https:// to http://, which is not followed".into()));
    let followed = [next("http://api.test/").await, next("http://other.test/").await, next("https://other.test/").await];
    assert_eq!(followed, [refused(), refused(), Ok("https://other.test/".into())]);
}
