//! `/files`: where clients of the local host upload and download files. On AWS this is S3.
//!
//! The address itself allows it, so these routes ask for no credential.

use std::{
    collections::HashMap,
    fs::File,
    io,
    sync::{Arc, Mutex, PoisonError},
};

use async_trait::async_trait;
use axum::{
    Router,
    body::Body,
    extract::{Path, RawQuery, State},
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use futures::{Stream, StreamExt, stream};
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use smartspace_domain::{
    Error,
    attachments::{FILE_BYTES, Sha256Hex},
    jobs::TriggerJob,
};
use smartspace_ports::{
    clock::Clock,
    files::{FileKey, Files, disposition},
    queues::Queue,
};
use smartspace_store::Store;
use smartspace_web::Refusal;
use tokio::{sync::oneshot, time::timeout};

use super::{
    FileFolder, NotStored, PartialFile, read_at,
    signing::{SignedDownload, SignedUpload},
};
use crate::time_limits::TimeLimits;

/// How many bytes of a download are read at once.
const PIECE_BYTES: u64 = 128 * 1024;

/// Knows which files are announced.
#[async_trait]
pub(crate) trait Announced: Send + Sync {
    /// Whether a file is announced and was not deleted since.
    async fn is_announced(&self, key: FileKey) -> Result<bool, Error>;
}

#[async_trait]
impl Announced for Store {
    async fn is_announced(&self, key: FileKey) -> Result<bool, Error> {
        Ok(self.attachments().find(key.space, key.file).await?.is_some())
    }
}

pub(crate) struct FileServer {
    pub(crate) folder: FileFolder,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) announced: Arc<dyn Announced>,
    /// The queue of the job that checks an uploaded file.
    pub(crate) triggers: Arc<dyn Queue<TriggerJob>>,
    pub(crate) limits: TimeLimits,
    pub(crate) uploads: Uploads,
}

/// The uploads that are arriving, by their files. A newer one ends an older one of the same file:
/// its client has usually lost the older connection.
#[derive(Debug, Default)]
pub(crate) struct Uploads(Mutex<HashMap<FileKey, oneshot::Sender<()>>>);

/// The one upload of a file.
struct OnlyUpload<'a> {
    uploads: &'a Uploads,
    key: FileKey,
    /// Ends when a newer upload begins.
    replaced: oneshot::Receiver<()>,
}

impl Uploads {
    fn begin(&self, key: FileKey) -> OnlyUpload<'_> {
        let (newest, replaced) = oneshot::channel();
        // Dropping the sender of an older upload ends that one.
        self.lock().insert(key, newest);
        OnlyUpload { uploads: self, key, replaced }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<FileKey, oneshot::Sender<()>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for OnlyUpload<'_> {
    fn drop(&mut self) {
        self.replaced.close();
        let mut uploads = self.uploads.lock();
        if uploads.get(&self.key).is_some_and(oneshot::Sender::is_closed) {
            uploads.remove(&self.key);
        }
    }
}

impl FileServer {
    /// Reads what a client still sends, for a while: many read no answer before they have sent all.
    async fn drain(&self, body: Body) {
        let mut bytes = 0;
        let mut chunks = body.into_data_stream();
        let read = async {
            while let Some(Ok(chunk)) = chunks.next().await {
                bytes += chunk.len() as u64;
                if bytes > FILE_BYTES {
                    break;
                }
            }
        };
        // The answer follows either way.
        let _ = timeout(self.limits.next_bytes(), read).await;
    }

    /// What the address of a request to this file allows now.
    fn allowed<T: DeserializeOwned>(
        &self,
        key: FileKey,
        query: Option<String>,
        until: impl FnOnce(&T) -> i64,
    ) -> Option<T> {
        let query = query.unwrap_or_default();
        self.folder.key.allowed(&path(key), &query, until, self.clock.now())
    }
}

/// The path of a file.
pub(super) fn path(key: FileKey) -> String {
    format!("/files/{key}")
}

pub(crate) fn router(server: FileServer) -> Router {
    Router::new()
        .route("/files/{space}/{file}", get(download).put(upload))
        .with_state(Arc::new(server))
}

type Answer = Result<Response, Refusal>;

fn forbidden() -> Refusal {
    Refusal(Error::Forbidden(
        "this address has expired or was changed; ask the API for another one".into(),
    ))
}

fn key_of(space: &str, file: &str) -> Result<FileKey, Refusal> {
    format!("{space}/{file}").parse().map_err(|_| forbidden())
}

/// Receives a file: the whole, or nothing.
async fn upload(
    State(server): State<Arc<FileServer>>,
    Path((space, file)): Path<(String, String)>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    body: Body,
) -> Answer {
    let key = key_of(&space, &file)?;
    let Some(signed) = server.allowed(key, query, |it: &SignedUpload| it.until) else {
        server.drain(body).await;
        return Err(forbidden());
    };
    let sent = headers.get(header::CONTENT_TYPE).and_then(|it| it.to_str().ok());
    if sent != Some(&signed.upload) {
        server.drain(body).await;
        return Err(malformed(format!("Content-Type: expected {}", signed.upload)));
    }
    // As S3, where the header is signed.
    if headers.get(header::IF_NONE_MATCH).is_none_or(|it| it != "*") {
        server.drain(body).await;
        return Err(malformed("If-None-Match: expected *".into()));
    }
    // Unlike S3, this storage can see that the file was deleted.
    if !server.announced.is_announced(key).await.map_err(Refusal)? {
        server.drain(body).await;
        return Err(deleted());
    }
    match receive(&server, key, &signed, body).await? {
        Received::Stored => {
            // A deletion marks the file before it deletes the bytes. So a deletion that does not
            // find these bytes is seen here.
            if !server.announced.is_announced(key).await.map_err(Refusal)? {
                server.folder.delete(&[key]).await.map_err(Refusal)?;
                return Err(deleted());
            }
            let job = TriggerJob::SettleFile { space_id: key.space, attachment_id: key.file };
            if let Err(error) = server.triggers.send(vec![job]).await {
                tracing::warn!(%error, "a file is checked when it is first used");
            }
            Ok(StatusCode::OK.into_response())
        }
        Received::AlreadyStored => Ok(StatusCode::PRECONDITION_FAILED.into_response()),
    }
}

fn deleted() -> Refusal {
    Refusal(Error::NotFound("the file was deleted; announce it again".into()))
}

fn malformed(text: String) -> Refusal {
    Refusal(Error::Malformed(text))
}

enum Received {
    Stored,
    AlreadyStored,
}

async fn receive(
    server: &FileServer,
    key: FileKey,
    signed: &SignedUpload,
    body: Body,
) -> Result<Received, Refusal> {
    let mut upload = server.uploads.begin(key);
    let mut file = match server.folder.begin(key) {
        Ok(file) => file,
        Err(NotStored::Taken) => {
            server.drain(body).await;
            return Ok(Received::AlreadyStored);
        }
        Err(NotStored::Failed(error)) => return Err(failed(&error)),
    };
    tokio::select! {
        biased;
        _ = &mut upload.replaced => {
            let text = "another upload of this file has begun, and takes the place of this one";
            return Err(Refusal(Error::Conflict(text.into())));
        }
        written = write(&mut file, signed, body) => written?,
    }
    let finished = tokio::task::spawn_blocking(|| file.finish()).await;
    match finished.map_err(io::Error::other) {
        Ok(Ok(())) => Ok(Received::Stored),
        Ok(Err(NotStored::Taken)) => Ok(Received::AlreadyStored),
        Ok(Err(NotStored::Failed(error))) | Err(error) => Err(failed(&error)),
    }
}

/// Writes what arrives, and checks that it is what the address allows.
async fn write(file: &mut PartialFile, signed: &SignedUpload, body: Body) -> Result<(), Refusal> {
    let mut digest = Sha256::new();
    let mut bytes = 0;
    let mut chunks = body.into_data_stream();
    while let Some(chunk) = chunks.next().await {
        let chunk =
            chunk.map_err(|error| malformed(format!("the file did not arrive: {error}")))?;
        bytes += chunk.len() as u64;
        if bytes > signed.bytes {
            break;
        }
        digest.update(&chunk);
        file.write(&chunk).map_err(|error| failed(&error))?;
    }
    if bytes != signed.bytes {
        let more = if bytes > signed.bytes { " or more" } else { "" };
        return Err(malformed(format!(
            "expected a file of {} bytes, got {bytes}{more}",
            signed.bytes
        )));
    }
    if Sha256Hex::of_digest(&digest.finalize().into()).as_str() != signed.sha256 {
        return Err(malformed("the file's SHA-256 is not the one that was announced".into()));
    }
    Ok(())
}

fn failed(error: &io::Error) -> Refusal {
    Refusal(Error::Unavailable(format!("the file could not be stored: {error}")))
}

/// Sends a file, which a browser saves: it runs nothing of it on this origin.
async fn download(
    State(server): State<Arc<FileServer>>,
    Path((space, file)): Path<(String, String)>,
    RawQuery(query): RawQuery,
) -> Answer {
    let key = key_of(&space, &file)?;
    let signed = server.allowed(key, query, |it: &SignedDownload| it.until);
    let SignedDownload { download, name, .. } = signed.ok_or_else(forbidden)?;
    let found = server.folder.open(key).await.map_err(Refusal)?;
    let (file, bytes) =
        found.ok_or_else(|| Refusal(Error::NotFound("this file is no longer available".into())))?;
    let text = |text: &str| HeaderValue::from_str(text).map_err(|_| forbidden());
    let headers: [(HeaderName, HeaderValue); 7] = [
        (header::CONTENT_LENGTH, bytes.into()),
        (header::CONTENT_TYPE, text(&download)?),
        (header::CONTENT_DISPOSITION, text(&disposition(&name, &download))?),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'; sandbox")),
        (header::CACHE_CONTROL, HeaderValue::from_static("private, max-age=900, immutable")),
        // Pages of other origins may show it: the address is the permission.
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            HeaderValue::from_static("cross-origin"),
        ),
    ];
    Ok((headers, Body::from_stream(pieces(file))).into_response())
}

/// The bytes of a file, in pieces that are read when the client takes them.
fn pieces(file: Arc<File>) -> impl Stream<Item = io::Result<Vec<u8>>> {
    stream::try_unfold((file, 0), async |(file, begin)| {
        let read = move || {
            let piece = read_at(&file, begin..begin + PIECE_BYTES)?;
            let end = begin + piece.len() as u64;
            Ok((!piece.is_empty()).then_some((piece, (file, end))))
        };
        tokio::task::spawn_blocking(read).await.map_err(io::Error::other).flatten()
    })
}
