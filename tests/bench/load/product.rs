//! The product as a child process, and clients of its API.

mod caller;

use std::{
    fs::File,
    net::TcpListener,
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use futures::{SinkExt, StreamExt};
use reqwest::Client;
use serde_json::{Value, json};
use smartspace_client::{Page, Session, messages_path};
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio_tungstenite::{
    MaybeTlsStream, WebSocketStream, connect_async_with_config, tungstenite::Message,
};

pub(crate) use self::caller::Caller;

/// The unit of processor times in Linux.
const TICKS_A_SECOND: u64 = 100;
const KEY: &str = "the-load-programs-own-key";
/// The value of the secret `HOOK`, which the service signs with.
pub(crate) const HOOK_SECRET: &str = "the-secret-of-the-services";
/// The secret that signs tokens.
pub(crate) const JWT_SECRET: &str = "the-secret-of-the-backend-of-32-bytes";

/// A socket that is subscribed to spaces.
pub(crate) type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

pub(crate) struct Product {
    child: Child,
    http: Client,
    url: String,
    operator: Session,
    folder: TempDir,
    /// Whether a run ends with the answer that posts its message. Otherwise its model is asked once
    /// more.
    pub(crate) ends_after_send: bool,
    /// From the start of the process to its first answer.
    pub(crate) ready: Duration,
}

/// A person, an agent, and their space.
#[derive(Clone, Debug)]
pub(crate) struct Room {
    pub(crate) space: String,
    pub(crate) person: String,
}

impl Product {
    /// Starts a product on its own folder, or in memory, with further flags, and waits until it
    /// answers.
    pub(crate) async fn start(
        binary: &Path,
        memory: bool,
        flags: &[&str],
        model: &str,
        log: Option<&str>,
    ) -> Result<Self, String> {
        Self::start_in(TempDir::new().map_err(text)?, binary, memory, flags, model, log).await
    }

    /// Kills the product and starts it again on its folder.
    pub(crate) async fn restarted(
        mut self,
        binary: &Path,
        flags: &[&str],
        model: &str,
    ) -> Result<Self, String> {
        self.kill();
        let folder = std::mem::replace(&mut self.folder, TempDir::new().map_err(text)?);
        Self::start_in(folder, binary, false, flags, model, None).await
    }

    async fn start_in(
        folder: TempDir,
        binary: &Path,
        memory: bool,
        flags: &[&str],
        model: &str,
        log: Option<&str>,
    ) -> Result<Self, String> {
        let port = TcpListener::bind("127.0.0.1:0")
            .and_then(|listener| listener.local_addr())
            .map_err(text)?
            .port();
        let errors = File::create(folder.path().join("log")).map_err(text)?;
        let data = if memory { ":memory:".into() } else { folder.path().join("data") };
        let started = Instant::now();
        let child = Command::new(binary)
            .args([
                "--no-demo",
                "--listen",
                &format!("127.0.0.1:{port}"),
                "--admin-key",
                KEY,
                "--data",
            ])
            .arg(data)
            .args(flags)
            .env_clear()
            .envs([("OPENAI_BASE_URL", model), ("SMARTSPACE_LOG", log.unwrap_or("warn"))])
            .envs([("SMARTSPACE_SECRET_HOOK", HOOK_SECRET), ("SMARTSPACE_JWT_SECRET", JWT_SECRET)])
            .stdout(Stdio::null())
            .stderr(errors)
            .spawn()
            .map_err(|error| format!("{} can't be started: {error}", binary.display()))?;
        let http = Client::builder().no_proxy().build().map_err(text)?;
        let url = format!("http://127.0.0.1:{port}");
        let operator = smartspace_client::Client::new(url.clone()).session(KEY).map_err(text)?;
        let mut product = Self {
            child,
            http,
            url,
            operator,
            folder,
            ends_after_send: true,
            ready: Duration::ZERO,
        };
        while product.http.get(format!("{}/healthz", product.url)).send().await.is_err() {
            if started.elapsed() > Duration::from_secs(10) {
                return Err("the product did not answer within ten seconds".into());
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        product.ready = started.elapsed();
        Ok(product)
    }

    fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// The bytes of the files in the data folder whose names end with `end`.
    pub(crate) fn stored(&self, end: &str) -> Result<u64, String> {
        let mut bytes = 0;
        for file in std::fs::read_dir(self.folder.path().join("data")).map_err(text)? {
            let file = file.map_err(text)?;
            if file.file_name().to_string_lossy().ends_with(end) {
                bytes += file.metadata().map_err(text)?.len();
            }
        }
        Ok(bytes)
    }

    pub(crate) fn log(&self) -> Result<String, String> {
        std::fs::read_to_string(self.folder.path().join("log")).map_err(text)
    }

    /// The current and the peak resident memory in MB.
    pub(crate) fn memory(&self) -> Result<(f64, f64), String> {
        let status =
            std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).map_err(text)?;
        let field = |name: &str| {
            let line = status.lines().find(|line| line.starts_with(name));
            line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok())
                .map_or(0.0, |kilobytes| kilobytes / 1024.0)
        };
        Ok((field("VmRSS:"), field("VmHWM:")))
    }

    /// The processor time so far, of the user and of the system.
    pub(crate) fn processor_time(&self) -> Result<Duration, String> {
        let stat =
            std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).map_err(text)?;
        // The name of the program, in brackets, may contain spaces.
        let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
        let ticks: u64 = fields.skip(11).take(2).filter_map(|it| it.parse::<u64>().ok()).sum();
        Ok(Duration::from_millis(ticks * 1_000 / TICKS_A_SECOND))
    }

    /// Creates a person, an agent that asks the model, and their space.
    pub(crate) async fn room(&self, paused: bool) -> Result<Room, String> {
        let budget = json!({"runsPerMinute": 100_000});
        let person = self.make("/v1/entities", json!({"type": "human", "name": "Husam"})).await?;
        let agent = json!({
            "model": {"provider": "openai", "name": "zero"},
            "budget": budget,
            "loop": {"endAfterSend": self.ends_after_send},
            // Each message has a run that works at once.
            "concurrency": {"mode": "parallel"},
        });
        let agent = self
            .make("/v1/entities", json!({"type": "agent", "name": "Ada", "agent": agent}))
            .await?;
        let body =
            json!({"name": "Load", "members": [person, agent], "paused": paused, "budget": budget});
        Ok(Room { space: self.make("/v1/spaces", body).await?, person })
    }

    /// Unpauses a room's space.
    pub(crate) async fn unpause(&self, room: &Room) -> Result<(), String> {
        let request =
            self.http.patch(format!("{}/v1/spaces/{}", self.url, room.space)).bearer_auth(KEY);
        request
            .json(&json!({"paused": false}))
            .send()
            .await
            .and_then(reqwest::Response::error_for_status)
            .map(|_| ())
            .map_err(text)
    }

    /// Posts a message. Returns the run that it triggers, if any.
    pub(crate) async fn post(&self, room: &Room, text: &str) -> Result<Option<String>, String> {
        let message = self
            .create(
                &format!("/v1/spaces/{}/messages", room.space),
                json!({"text": text, "senderId": room.person}),
            )
            .await?;
        Ok(message["dispatch"][0]["runId"].as_str().map(str::to_owned))
    }

    /// Opens a socket that is subscribed to these rooms.
    pub(crate) async fn follow(&self, rooms: &[Room]) -> Result<Socket, String> {
        let mut socket = self.connect(&format!("Bearer {KEY}")).await?;
        for room in rooms {
            self.subscribe(&mut socket, &room.space).await?;
        }
        Ok(socket)
    }

    /// Opens a socket of the caller with this `Authorization`.
    pub(crate) async fn connect(&self, authorization: &str) -> Result<Socket, String> {
        let headers = [("authorization", authorization)];
        let (_, ticket) = self.caller().post("/v1/socketTickets", &headers, "{}".into()).await?;
        let url = ticket["url"].as_str().ok_or_else(|| format!("no ticket, but {ticket}"))?;
        let (socket, _) = connect_async_with_config(url, None, true).await.map_err(text)?;
        Ok(socket)
    }

    /// Subscribes a socket to a space.
    pub(crate) async fn subscribe(&self, socket: &mut Socket, space: &str) -> Result<(), String> {
        let request = json!({"action": "subscribe", "spaceId": space});
        socket.send(Message::text(request.to_string())).await.map_err(text)?;
        while frame(socket).await?["type"] != "subscribed" {}
        Ok(())
    }

    /// The ids of all messages of a space.
    pub(crate) async fn message_ids(&self, space: &str) -> Result<Vec<String>, String> {
        let path = messages_path(space.parse().map_err(text)?);
        let mut ids = Vec::new();
        let mut after = 0;
        loop {
            let query = [("after", after.to_string()), ("limit", "100".to_owned())];
            let page: Page<Value> = self.operator.get(&path, &query).await.map_err(text)?;
            let items = &page.items;
            ids.extend(items.iter().filter_map(|item| item["id"].as_str().map(str::to_owned)));
            match items.last().and_then(|item| item["seq"].as_u64()) {
                Some(last) => after = last,
                None => return Ok(ids),
            }
        }
    }

    /// A client for callers other than the operator.
    pub(crate) fn caller(&self) -> Caller {
        Caller { http: self.http.clone(), url: self.url.clone() }
    }

    /// Creates an object. Returns its id.
    pub(crate) async fn make(&self, path: &str, body: Value) -> Result<String, String> {
        Ok(self.create(path, body).await?["id"].as_str().unwrap_or_default().to_owned())
    }

    /// Adds a member to a space.
    pub(crate) async fn add(&self, space: &str, entity: &str) -> Result<(), String> {
        let url = format!("{}/v1/spaces/{space}/members/{entity}", self.url);
        let sent = self.http.put(url).bearer_auth(KEY).json(&json!({})).send().await;
        sent.and_then(reqwest::Response::error_for_status).map(|_| ()).map_err(text)
    }

    async fn create(&self, path: &str, body: Value) -> Result<Value, String> {
        let created = self.operator.post(path, &body, None).await;
        created.map_err(|refusal| format!("{path} answered {refusal}"))
    }
}

/// The next frame of a socket.
pub(crate) async fn frame(socket: &mut Socket) -> Result<Value, String> {
    loop {
        match socket.next().await {
            Some(Ok(Message::Text(frame))) => return serde_json::from_str(&frame).map_err(text),
            Some(Ok(_)) => {}
            Some(Err(error)) => return Err(error.to_string()),
            None => return Err("the socket was closed".into()),
        }
    }
}

impl Drop for Product {
    fn drop(&mut self) {
        self.kill();
    }
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
