//! The Model Context Protocol's own reference server, as a process that a test may kill. `tests/run` installs it; by hand: `npm ci` in `tests/mcp`.

use std::{
    net::TcpListener,
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::Duration,
};

use super::waiting::wait_for;

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
    /// Starts it and waits until it answers.
    pub(crate) async fn start() -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let server = Self { port, child: launch(port) };
        server.is_ready().await;
        server
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
        self.is_ready().await;
    }

    async fn is_ready(&self) {
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        // It refuses what is no request of the protocol: then it listens.
        wait_for("the MCP server listens", READY_WITHIN, async || http.get(self.url()).send().await.ok().map(|_| ())).await;
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
