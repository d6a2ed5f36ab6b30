//! Requests as bytes, as no well-behaved client sends them.

use std::time::Duration;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

use crate::support::{
    files::StartedUpload,
    stack::Stack,
    waiting::{SOON, patient},
};

/// A connection on which these bytes were sent.
pub(crate) async fn sent(stack: &Stack, head: &str, body: &[u8]) -> TcpStream {
    let address = stack.url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    // The product may have refused it already.
    let _ = stream.write_all(body).await;
    stream
}

/// The head of a request with a body of this length.
pub(crate) fn head(method: &str, target: &str, length: usize, headers: &[(&str, &str)]) -> String {
    let lines: Vec<_> =
        headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let headers = lines.concat();
    format!(
        "{method} {target} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n{headers}\r\n"
    )
}

/// Begins an upload, of which these bytes are sent.
pub(crate) async fn begun(
    stack: &Stack,
    upload: &StartedUpload,
    length: usize,
    bytes: &[u8],
) -> TcpStream {
    let target = upload.url.strip_prefix(&stack.url).unwrap();
    let headers: Vec<_> =
        upload.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    sent(stack, &head("PUT", target, length, &headers), bytes).await
}

/// The status of the answer, or 0 if the connection ends without one.
pub(crate) async fn status(stream: &mut TcpStream) -> u16 {
    answer(stream, SOON).await.get(9..12).and_then(|status| status.parse().ok()).unwrap_or_default()
}

/// What arrives until the connection ends, or a limit.
pub(crate) async fn answer(stream: &mut TcpStream, limit: Duration) -> String {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    let read = async {
        // A reset ends it, too.
        while let Ok(count) = stream.read(&mut piece).await {
            bytes.extend_from_slice(&piece[..count]);
            if count == 0 {
                break;
            }
        }
    };
    let _ = timeout(patient(limit), read).await;
    String::from_utf8_lossy(&bytes).into_owned()
}
