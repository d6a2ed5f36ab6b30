//! Starting the process on a free port, and waiting until it is ready.

use std::{
    env,
    fs::{self, File},
    net::TcpListener,
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use tokio::time::sleep;

use crate::support::process::{Setup, log_file};

/// The time limit of a start. It is long because many tests start at once on few cores.
pub(crate) const READY_WITHIN: Duration = Duration::from_secs(30);

/// Starts the product. Tries another port if another process took the chosen one in the meantime.
pub(crate) async fn launch(setup: &Setup, folder: &Path) -> (Child, String) {
    for attempt in 1.. {
        let port = free_port();
        let log = File::options().create(true).append(true).open(log_file(folder)).unwrap();
        let mut child = command(setup, folder, port)
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        let url = format!("http://127.0.0.1:{port}");
        match ready(&mut child, &url, &setup.admin_key).await {
            Ok(()) => return (child, url),
            Err(fault) => {
                let _ = child.kill();
                let _ = child.wait();
                let log = fs::read_to_string(log_file(folder)).unwrap_or_default();
                // The program that took the port may answer before ours reports the conflict.
                let taken =
                    [&fault, &log].iter().any(|text| text.to_lowercase().contains("in use"));
                assert!(taken && attempt < 5, "the product did not start: {fault}\n{log}");
            }
        }
    }
    unreachable!("the loop ends by returning or by failing")
}

pub(crate) fn command(setup: &Setup, folder: &Path, port: u16) -> Command {
    let binary = env::var_os("SMARTSPACE_BIN")
        .unwrap_or_else(|| env!("CARGO_BIN_EXE_smartspace-under-test").into());
    let mut command = Command::new(binary);
    let data = if setup.on_disk { folder.join("data").into_os_string() } else { ":memory:".into() };
    command
        .args(["--listen", &format!("127.0.0.1:{port}"), "--admin-key", &setup.admin_key])
        .arg("--data")
        .arg(data);
    command.args(&setup.flags);
    if !setup.demo {
        command.arg("--no-demo");
    }
    // Inherit no proxies, keys or settings from the test process.
    command.env_clear();
    for name in [
        "PATH",
        "HOME",
        "TMPDIR",
        "LD_LIBRARY_PATH",
        "LLVM_PROFILE_FILE",
        "RUST_BACKTRACE",
        "SMARTSPACE_LOG",
    ] {
        if let Some(value) = env::var_os(name) {
            command.env(name, value);
        }
    }
    command
        .env("OPENAI_BASE_URL", &setup.model_url)
        .env("OPENAI_API_KEY", crate::support::model::KEY);
    command
        .env("ANTHROPIC_BASE_URL", setup.model_url.trim_end_matches("/v1"))
        .env("ANTHROPIC_API_KEY", crate::support::model::KEY);
    command
        .env("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", setup.model_url.trim_end_matches("/v1"))
        .env("AWS_REGION", "eu-central-1");
    command
        .env("AWS_ACCESS_KEY_ID", crate::support::model::KEY)
        .env("AWS_SECRET_ACCESS_KEY", "no-secret")
        .env("AWS_EC2_METADATA_DISABLED", "true");
    for file in ["AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"] {
        command.env(file, folder.join("no-such-file"));
    }
    command.envs(setup.env.iter().map(|(name, value)| (name, value)));
    command.current_dir(folder).stdin(Stdio::null());
    command
}

/// Waits until the product is ready: it answers 200, still runs, and accepts our key. The key
/// matters because another test's product may have taken the port.
async fn ready(child: &mut Child, url: &str, key: &str) -> Result<(), String> {
    let http =
        reqwest::Client::builder().no_proxy().timeout(Duration::from_secs(5)).build().unwrap();
    let started = Instant::now();
    let mut last = String::from("no answer");
    while started.elapsed() < READY_WITHIN {
        if let Some(status) = child.try_wait().unwrap() {
            return Err(format!("it ended: {status}"));
        }
        match http.get(format!("{url}/healthz")).send().await {
            Ok(answer) if answer.status() == 200 => {
                let ours = http.get(format!("{url}/v1/spaces")).bearer_auth(key).send().await;
                match ours {
                    Ok(answer) if answer.status() == 200 => return Ok(()),
                    other => {
                        let why = "another process may have the port in use";
                        return Err(format!("only /healthz answers ({why}): {other:?}"));
                    }
                }
            }
            Ok(answer) => last = format!("healthz answers {}", answer.status()),
            Err(error) => last = format!("{error:?}"),
        }
        sleep(Duration::from_millis(15)).await;
    }
    Err(format!("not ready within {READY_WITHIN:?}: {last}"))
}

pub(crate) fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}
