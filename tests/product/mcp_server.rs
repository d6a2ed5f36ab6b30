//! The Model Context Protocol's own reference server, as a process that a test may kill. `tests/run` installs it; by hand: `npm ci` in `tests/mcp`.

use std::{
    net::TcpListener,
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use tokio::time::sleep;

use super::waiting::patient;

/// Its program.
const PROGRAM: &str = "node_modules/@modelcontextprotocol/server-everything/dist/index.js";
/// How long a start may take. Many tests start at once on few cores.
const READY_WITHIN: Duration = Duration::from_mins(1);

/// The server, on a port of its own.
pub(crate) struct McpServer {
    port: u16,
    child: Child,
}

impl McpServer {
    /// Starts it and waits until it answers. Tries other ports while one turns out to be taken between its choice and its use.
    pub(crate) async fn start() -> Self {
        for _ in 0..5 {
            let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            let mut server = Self { port, child: launch(port) };
            if server.is_ready().await {
                return server;
            }
        }
        panic!("the MCP server does not start");
    }

    /// Where it is.
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.port)
    }

    /// As tools must be allowed to reach it.
    pub(crate) fn allowed(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Ends it as a crash does.
    pub(crate) fn kill(&mut self) {
        // Fails only when it has ended already, which is as good.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Starts it again at the same address.
    pub(crate) async fn restart(&mut self) {
        self.kill();
        self.child = launch(self.port);
        assert!(self.is_ready().await, "the MCP server does not start again");
    }

    /// Waits until it listens. False where it ended instead: its port is taken.
    async fn is_ready(&mut self) -> bool {
        let http = reqwest::Client::builder().no_proxy().timeout(Duration::from_secs(5)).build().unwrap();
        let (started, limit) = (Instant::now(), patient(READY_WITHIN));
        while self.child.try_wait().unwrap().is_none() {
            // It refuses what is no request of the protocol, with another status than who may have taken its port: then it listens.
            if http.get(self.url()).send().await.is_ok_and(|answer| answer.status() == 400) {
                return true;
            }
            assert!(started.elapsed() < limit, "not within {limit:?}: the MCP server listens");
            sleep(Duration::from_millis(20)).await;
        }
        false
    }
}

impl Drop for McpServer {
    fn drop(&mut self) {
        self.kill();
    }
}

fn launch(port: u16) -> Child {
    let program = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("mcp").join(PROGRAM);
    assert!(program.exists(), "the MCP server is not installed; run `npm ci` in tests/mcp");
    let mut command = Command::new("node");
    command.arg(program).arg("streamableHttp").env("PORT", port.to_string());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("node")
}
