use axum::{
    Router,
    body::{Body, to_bytes},
    http::{Request, StatusCode, header},
};
use smartspace_domain::{
    attachments::Sha256Hex,
    ids::{AttachmentId, SpaceId},
    jobs::TriggerJob,
};
use smartspace_ports::{
    clock::Clock,
    queues::{Queue, QueueError},
};
use tower::ServiceExt;

use super::*;
use crate::time_limits::TimeLimits;

struct At(Time);

impl Clock for At {
    fn now(&self) -> Time {
        self.0
    }
}

#[derive(Default)]
struct Sent(std::sync::Mutex<Vec<TriggerJob>>);

#[async_trait]
impl Queue<TriggerJob> for Sent {
    async fn send(&self, jobs: Vec<TriggerJob>) -> Result<(), QueueError> {
        self.0.lock().unwrap().extend(jobs);
        Ok(())
    }
}

struct Scene {
    /// Has names of files, unlike the folder of a process that stores nothing.
    _disk: tempfile::TempDir,
    folder: FileFolder,
    routes: Router,
    jobs: Arc<Sent>,
}

/// All files are announced, except one that was deleted, and one that is deleted while it arrives.
#[derive(Default)]
struct AllBut(std::sync::Mutex<bool>);

#[async_trait]
impl server::Announced for AllBut {
    async fn is_announced(&self, asked: FileKey) -> Result<bool> {
        if asked == key(DELETED_MEANWHILE) {
            return Ok(!std::mem::replace(&mut *self.0.lock().unwrap(), true));
        }
        Ok(asked != key(DELETED))
    }
}

/// The number of the deleted file.
const DELETED: u128 = 404;
/// The number of the file that is deleted while it arrives.
const DELETED_MEANWHILE: u128 = 410;

const NOW: Time = Time::from_millis(1_760_000_000_000);

fn scene() -> Scene {
    let disk = tempfile::tempdir().unwrap();
    let folder = FileFolder::new(Some(disk.path().into()), FolderKey::of_admin_key("secret"));
    let jobs = Arc::new(Sent::default());
    let server = server::FileServer {
        folder: folder.clone(),
        clock: Arc::new(At(NOW)),
        announced: Arc::new(AllBut::default()),
        triggers: jobs.clone(),
        limits: TimeLimits(1.0),
        uploads: server::Uploads::default(),
    };
    Scene { _disk: disk, folder, routes: server::router(server), jobs }
}

fn key(number: u128) -> FileKey {
    FileKey { space: SpaceId::new(NOW, 1), file: AttachmentId::new(NOW, number) }
}

fn spec(bytes: &[u8]) -> FileSpec {
    serde_json::from_value::<smartspace_domain::attachments::NewAttachment>(serde_json::json!({
        "name": "Plän.txt",
        "contentType": "text/plain",
        "bytes": bytes.len(),
        "sha256": Sha256Hex::of(bytes).as_str(),
    }))
    .unwrap()
    .checked()
    .unwrap()
}

impl Scene {
    async fn put(&self, url: &str, content_type: &str, bytes: &[u8]) -> StatusCode {
        let request = Request::put(url)
            .header(header::CONTENT_TYPE, content_type)
            .header(header::IF_NONE_MATCH, "*")
            .body(Body::from(bytes.to_vec()))
            .unwrap();
        self.routes.clone().oneshot(request).await.unwrap().status()
    }

    async fn get(&self, url: &str) -> axum::response::Response {
        let request = Request::get(url).body(Body::empty()).unwrap();
        self.routes.clone().oneshot(request).await.unwrap()
    }

    fn stored(&self) -> usize {
        fs::read_dir(self.folder.of_space(key(1))).map_or(0, Iterator::count)
    }
}

#[tokio::test]
async fn the_address_of_a_deleted_file_takes_nothing() {
    let scene = scene();
    let until = NOW + std::time::Duration::from_mins(1);
    let upload = scene.folder.upload(key(DELETED), &spec(b"hello"), until).await.unwrap();
    assert_eq!(scene.put(&upload.url, "text/plain", b"hello").await, StatusCode::NOT_FOUND);
    assert_eq!(scene.stored(), 0);
    assert_eq!(*scene.jobs.0.lock().unwrap(), []);
}

#[tokio::test]
async fn a_file_that_is_deleted_while_it_arrives_is_not_stored() {
    let scene = scene();
    let until = NOW + std::time::Duration::from_mins(1);
    let upload = scene.folder.upload(key(DELETED_MEANWHILE), &spec(b"hello"), until).await.unwrap();
    assert_eq!(scene.put(&upload.url, "text/plain", b"hello").await, StatusCode::NOT_FOUND);
    assert_eq!(scene.stored(), 0);
    assert_eq!(*scene.jobs.0.lock().unwrap(), []);
}

#[tokio::test]
async fn a_file_is_stored_once_and_downloaded_by_its_address() {
    let scene = scene();
    let until = NOW + std::time::Duration::from_mins(1);
    let upload = scene.folder.upload(key(1), &spec(b"hello"), until).await.unwrap();
    assert_eq!(upload.headers["content-type"], "text/plain");
    assert_eq!(scene.put(&upload.url, "text/plain", b"hello").await, StatusCode::OK);
    assert_eq!(
        scene.put(&upload.url, "text/plain", b"hello").await,
        StatusCode::PRECONDITION_FAILED
    );
    assert_eq!(scene.stored(), 1);
    let job = TriggerJob::SettleFile { space_id: key(1).space, attachment_id: key(1).file };
    assert_eq!(*scene.jobs.0.lock().unwrap(), [job]);
    let look = scene.folder.look(key(1)).await.unwrap().unwrap();
    assert_eq!((look.bytes, look.first.as_slice()), (5, b"hello".as_slice()));
    let part = FilePart {
        attachment_id: key(1).file,
        name: "Plän.txt".into(),
        content_type: "text/plain".into(),
        bytes: 5,
        width: None,
        height: None,
        deleted: false,
    };
    let url = scene.folder.download(key(1), &part, until).await.unwrap();
    let found = scene.get(&url).await;
    assert_eq!(found.status(), StatusCode::OK);
    let header = |name: &str| found.headers()[name].to_str().unwrap().to_owned();
    assert_eq!(header("content-type"), "text/plain");
    assert!(header("content-disposition").starts_with("attachment; "));
    assert_eq!(header("x-content-type-options"), "nosniff");
    assert_eq!(to_bytes(found.into_body(), 100).await.unwrap(), "hello");
    assert_eq!(scene.folder.read(key(1), 1..3).await.unwrap().unwrap(), "el");
    scene.folder.delete(&[key(1), key(2)]).await.unwrap();
    assert_eq!(scene.stored(), 0);
    assert_eq!(scene.get(&url).await.status(), StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn another_file_than_the_announced_one_is_not_stored() {
    let scene = scene();
    let until = NOW + std::time::Duration::from_mins(1);
    let upload = scene.folder.upload(key(1), &spec(b"hello"), until).await.unwrap();
    for (content_type, bytes) in [
        ("text/html", b"hello".as_slice()),
        ("text/plain", b"hell"),
        ("text/plain", b"hello!"),
        ("text/plain", b"hallo"),
    ] {
        let status = scene.put(&upload.url, content_type, bytes).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{content_type} {bytes:?}");
        assert_eq!(scene.stored(), 0);
    }
    let request = Request::put(&upload.url).header(header::CONTENT_TYPE, "text/plain");
    let without = request.body(Body::from("hello")).unwrap();
    let status = scene.routes.clone().oneshot(without).await.unwrap().status();
    assert_eq!((status, scene.stored()), (StatusCode::BAD_REQUEST, 0), "no If-None-Match");
    assert_eq!(scene.put(&upload.url, "text/plain", b"hello").await, StatusCode::OK);
}

#[tokio::test]
async fn an_address_is_for_one_file_one_purpose_and_a_while() {
    let scene = scene();
    let later = NOW + std::time::Duration::from_mins(1);
    let url = scene.folder.upload(key(1), &spec(b"hello"), later).await.unwrap().url;
    let (path, query) = url.split_once('?').unwrap();
    let other = format!("{}?{query}", server::path(key(2)));
    let expired = scene.folder.upload(key(1), &spec(b"hello"), NOW).await.unwrap().url;
    let other_key = FileFolder::new(None, FolderKey::of_admin_key("other"));
    let of_other = other_key.upload(key(1), &spec(b"hello"), later).await.unwrap().url;
    for wrong in [
        &other,
        &expired,
        &of_other,
        &url.replace("bytes=5", "bytes=6"),
        &format!("{url}0"),
        &format!("{url}00"),
        &url[..url.len() - 2].to_owned(),
        &path.to_owned(),
        &format!("{path}?signature="),
    ] {
        assert_eq!(
            scene.put(wrong, "text/plain", b"hello").await,
            StatusCode::FORBIDDEN,
            "{wrong}"
        );
    }
    assert_eq!(scene.get(&url).await.status(), StatusCode::FORBIDDEN);
    assert_eq!(scene.get("/files/..%2f..%2fetc/passwd").await.status(), StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn a_new_process_deletes_unfinished_uploads_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("attachments");
    let open = || FileFolder::new(Some(path.clone()), FolderKey::of_admin_key("secret"));
    open().write(key(1), &spec(b"hello"), Bytes::from("hello")).await.unwrap();
    let partial = path.join(key(1).space.to_string()).join(".0123");
    fs::write(&partial, "hel").unwrap();
    let reopened = open();
    assert!(!partial.exists());
    assert_eq!(reopened.read(key(1), 0..9).await.unwrap().unwrap(), "hello");
    assert_eq!(reopened.read(key(1), u64::MAX - 1..u64::MAX).await.unwrap().unwrap(), "");
}

#[tokio::test]
async fn in_memory_only_files_beyond_a_number_have_names() {
    let files = FileFolder::new(None, FolderKey::of_admin_key("secret"));
    let folder = files.path.to_path_buf();
    let most = UNNAMED as u128;
    for number in 0..=most {
        assert!(!folder.exists(), "{number}");
        files.write(key(number), &spec(b"hello"), Bytes::from("hello")).await.unwrap();
    }
    assert!(folder.exists());
    for number in [0, most] {
        // It is stored once, under the one form or the other.
        files.write(key(number), &spec(b"other"), Bytes::from("other")).await.unwrap();
        assert_eq!(files.read(key(number), 1..4).await.unwrap().unwrap(), "ell");
        files.delete(&[key(number)]).await.unwrap();
        assert_eq!(files.read(key(number), 0..9).await.unwrap(), None);
    }
    drop(files);
    assert!(!folder.exists());
}
