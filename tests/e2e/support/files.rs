//! Files of spaces: uploads and downloads, as clients make them.

use std::collections::BTreeMap;

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use smartspace_domain::attachments::Sha256Hex;

use crate::support::client::Client;

/// A PNG with one red pixel.
pub(crate) const PIXEL: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0\
    \x90\x77\x53\xde\0\0\0\x0cIDATx\x9cc\xf8\xcf\xc0\0\0\x03\x01\x01\0\xc9\xfe\x92\xef\
    \0\0\0\0IEND\xaeB\x60\x82";

/// An upload that was started.
pub(crate) struct StartedUpload {
    pub(crate) id: String,
    pub(crate) url: String,
    pub(crate) headers: BTreeMap<String, String>,
}

/// The request for an upload of these bytes.
pub(crate) fn announced(name: &str, content_type: &str, bytes: &[u8]) -> Value {
    json!({
        "name": name,
        "contentType": content_type,
        "bytes": bytes.len(),
        "sha256": Sha256Hex::of(bytes).as_str(),
    })
}

impl Client {
    /// Starts an upload.
    pub(crate) async fn start_upload(&self, space: &str, announced: Value) -> StartedUpload {
        let path = format!("/v1/spaces/{space}/attachments");
        let started = self.create(&path, announced).await.must_be(201);
        StartedUpload {
            id: started["attachmentId"].as_str().unwrap().to_owned(),
            url: started["uploadUrl"].as_str().unwrap().to_owned(),
            headers: serde_json::from_value(started["headers"].clone()).unwrap(),
        }
    }

    /// Uploads a file and returns its id.
    pub(crate) async fn upload(
        &self,
        space: &str,
        name: &str,
        content_type: &str,
        bytes: &[u8],
    ) -> String {
        let started = self.start_upload(space, announced(name, content_type, bytes)).await;
        assert_eq!(put(&started, bytes).await, StatusCode::OK);
        let file = self.attachment(space, &started.id).await;
        assert_eq!(file["status"], "ready", "{file}");
        started.id
    }

    /// A file of a space.
    pub(crate) async fn attachment(&self, space: &str, id: &str) -> Value {
        self.get(&format!("/v1/spaces/{space}/attachments/{id}")).await.must_be(200)
    }

    /// The bytes of a file, downloaded.
    pub(crate) async fn bytes_of(&self, space: &str, id: &str) -> Vec<u8> {
        let file = self.attachment(space, id).await;
        download(&file["url"]).await.bytes
    }

    /// Posts a message with files.
    pub(crate) async fn post_files(
        &self,
        space: &str,
        sender: &str,
        text: &str,
        files: &[&String],
    ) -> Value {
        let body = json!({ "senderId": sender, "text": text, "attachments": files });
        self.post_body(space, &body).await
    }
}

/// Sends the bytes of an upload.
pub(crate) async fn put(upload: &StartedUpload, bytes: &[u8]) -> StatusCode {
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let mut request = client.request(Method::PUT, &upload.url).body(bytes.to_vec());
    for (name, value) in &upload.headers {
        request = request.header(name, value);
    }
    request.send().await.unwrap().status()
}

/// A download: its status, headers and bytes.
pub(crate) struct Downloaded {
    pub(crate) status: StatusCode,
    pub(crate) headers: reqwest::header::HeaderMap,
    pub(crate) bytes: Vec<u8>,
}

/// Downloads a file by its address, without a credential.
pub(crate) async fn download(url: &Value) -> Downloaded {
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let response = client.get(url.as_str().unwrap()).send().await.unwrap();
    Downloaded {
        status: response.status(),
        headers: response.headers().clone(),
        bytes: response.bytes().await.unwrap().to_vec(),
    }
}
