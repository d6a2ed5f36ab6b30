//! The command line and the environment of the product.

use std::{
    env,
    ffi::OsString,
    fs,
    path::Path,
    process::{Command, Stdio},
};

use serde_json::{Value, json};

use crate::support::{model::KEY, process::Setup};

/// The binary that was built with the tests, unless the variable names another one.
pub(crate) fn binary() -> OsString {
    env::var_os("SMARTSPACE_BIN")
        .unwrap_or_else(|| env!("CARGO_BIN_EXE_smartspace-under-test").into())
}

pub(crate) fn command(setup: &Setup, folder: &Path, port: u16) -> Command {
    let mut command = Command::new(binary());
    let data = if setup.on_disk { folder.join("data").into_os_string() } else { ":memory:".into() };
    command.args(["--listen", &format!("127.0.0.1:{port}"), "--admin-key", &setup.admin_key]);
    if !setup.flags.iter().any(|flag| flag == "--data") {
        command.arg("--data").arg(data);
    }
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
    command.env("OPENAI_BASE_URL", &setup.model_url).env("OPENAI_API_KEY", KEY);
    command
        .env("ANTHROPIC_BASE_URL", anthropic_url(&setup.model_url))
        .env("ANTHROPIC_API_KEY", KEY);
    let providers = folder.join("providers.json");
    fs::write(&providers, makers(&setup.model_url).to_string()).unwrap();
    command.env("SMARTSPACE_PROVIDERS", providers);
    command
        .env("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", anthropic_url(&setup.model_url))
        .env("AWS_REGION", "eu-central-1");
    command
        .env("AWS_ACCESS_KEY_ID", KEY)
        .env("AWS_SECRET_ACCESS_KEY", "no-secret")
        .env("AWS_EC2_METADATA_DISABLED", "true");
    for file in ["AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"] {
        command.env(file, folder.join("no-such-file"));
    }
    command.envs(setup.env.iter().map(|(name, value)| (name, value)));
    command.current_dir(folder).stdin(Stdio::null());
    command
}

/// The fake model as the providers that it imitates. On a server of the deployment's own only two
/// answers would be under way at once, and tries would go on for two minutes.
fn makers(model_url: &str) -> Value {
    let entry = |api: &str, base_url: &str| {
        json!({
            "api": api,
            "baseUrl": base_url,
            "key": KEY,
            "own": false,
        })
    };
    let anthropic = entry("anthropic", anthropic_url(model_url));
    json!({"providers": {"openai": entry("openai", model_url), "anthropic": anthropic}})
}

fn anthropic_url(model_url: &str) -> &str {
    model_url.trim_end_matches("/v1")
}
