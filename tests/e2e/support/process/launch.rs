//! Starting the process on a free port, and waiting until it is ready.

mod command;

use std::{
    fs::{self, File},
    net::TcpListener,
    path::Path,
    process::Child,
    time::{Duration, Instant},
};

use tokio::time::sleep;

pub(crate) use self::command::{binary, command};
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
