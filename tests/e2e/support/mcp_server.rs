//! The reference server of the Model Context Protocol, as a process that a test may kill.
//! `tests/run` installs it. To install it by hand, run `npm ci --ignore-scripts` in `tests/js`.

use std::{
    net::TcpListener,
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use tokio::time::sleep;

use crate::support::waiting::patient;

const PROGRAM: &str = "js/node_modules/@modelcontextprotocol/server-everything/dist/index.js";
/// The time limit of a start. It is long because many tests start at once on few cores.
const READY_WITHIN: Duration = Duration::from_mins(1);

/// The server, on a port of its own.
pub(crate) struct McpServer {
    port: u16,
    child: Child,
}

impl McpServer {
    /// Starts the server and waits until it answers. Tries another port if another process took the
    /// chosen one in the meantime.
    pub(crate) async fn start() -> Self {
        for _ in 0..5 {
            let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            let mut server = Self { port, child: launch(port) };
            if server.is_ready().await {
                return server;
            }
        }
        panic!("the MCP server did not start on any of 5 ports");
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.port)
    }

    /// The server's entry for `SMARTSPACE_TOOL_HOSTS`.
    pub(crate) fn allowed(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Ends the server as a crash would.
    pub(crate) fn kill(&mut self) {
        // Fails only if the process has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Restarts the server at the same address.
    pub(crate) async fn restart(&mut self) {
        self.kill();
        self.child = launch(self.port);
        assert!(self.is_ready().await, "the MCP server did not restart: its port is taken");
    }

    /// Waits until the server listens. Returns false if it ended, which means that its port is
    /// taken.
    async fn is_ready(&mut self) -> bool {
        let http =
            reqwest::Client::builder().no_proxy().timeout(Duration::from_secs(5)).build().unwrap();
        let started = Instant::now();
        let limit = patient(READY_WITHIN);
        while self.child.try_wait().unwrap().is_none() {
            // The server answers a plain GET with 400. Another program on the same port answers
            // with another status.
            if http.get(self.url()).send().await.is_ok_and(|answer| answer.status() == 400) {
                return true;
            }
            assert!(started.elapsed() < limit, "the MCP server did not listen within {limit:?}");
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
    let program = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(PROGRAM);
    assert!(
        program.exists(),
        "the MCP server is not installed; run `npm ci --ignore-scripts` in tests/js"
    );
    let mut command = Command::new("node");
    command.arg(program).arg("streamableHttp").env("PORT", port.to_string());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().expect("start the MCP server with `node`")
}
