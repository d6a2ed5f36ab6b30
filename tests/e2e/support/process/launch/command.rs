//! The command line and the environment of the product.

use std::{
    env,
    path::Path,
    process::{Command, Stdio},
};

use crate::support::process::Setup;

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
