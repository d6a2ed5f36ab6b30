//! A function's own binary, as a child process with the environment that the template gives it, between [`Services`] and a [`Runtime`].

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Stdio,
    time::{Duration, Instant},
};

use tempfile::TempDir;
use tokio::{
    process::{Child, Command},
    time::timeout,
};

use crate::{
    Result,
    runtime::{Outcome, Runtime},
    services::Services,
    text,
};

/// All functions.
pub const FUNCTIONS: [&str; 6] = ["api", "broadcast", "run", "socket", "sweep", "trigger"];

/// How long a function may take to begin, or to answer: many tests start at once on few cores.
pub const LIMIT: Duration = Duration::from_mins(1);

/// The template's environment, with what is at `services`.
pub fn environment(services: &str) -> Vec<(&'static str, String)> {
    let queue = |name: &str| format!("{services}/123456789012/{name}");
    let variables = [
        ("AWS_REGION", "eu-central-1".to_owned()),
        ("AWS_ACCESS_KEY_ID", "nobody".into()),
        ("AWS_SECRET_ACCESS_KEY", "nothing".into()),
        ("AWS_ENDPOINT_URL", services.to_owned()),
        ("TABLE_NAME", "smartspace".into()),
        ("RUNS_QUEUE_URL", queue("runs")),
        ("BROADCASTS_QUEUE_URL", queue("broadcasts")),
        ("TRIGGERS_QUEUE_URL", queue("triggers")),
        ("TRIGGERS_QUEUE_ARN", "arn:aws:sqs:eu-central-1:123456789012:triggers".into()),
        ("SCHEDULE_GROUP", "smartspace".into()),
        ("SCHEDULE_ROLE_ARN", "arn:aws:iam::123456789012:role/smartspace-schedules".into()),
        ("SOCKET_URL", "wss://a1b2c3d4.execute-api.eu-central-1.amazonaws.com/live".into()),
        ("SOCKET_ENDPOINT", format!("{services}/live")),
        ("SECRET_ARN", "arn:aws:secretsmanager:eu-central-1:123456789012:secret:smartspace".into()),
        ("ALLOWED_ORIGINS", "https://app.example.com".into()),
        ("JWKS_URL", String::new()),
        ("JWT_ISSUER", String::new()),
        ("JWT_AUDIENCE", String::new()),
        ("JWT_CREATE", "false".into()),
        ("TOOL_HOSTS", String::new()),
        ("RUN_RETENTION_DAYS", "30".into()),
        ("MODEL_BASE_URLS", format!("openai={services}/v1")),
        ("STACK_NAME", "smartspace".into()),
        ("SMARTSPACE_LOG", "info".into()),
    ];
    variables.into()
}

/// A function that runs. It ends when it is dropped.
#[derive(Debug)]
pub struct Function {
    runtime: Runtime,
    child: Child,
    folder: TempDir,
    started: Instant,
}

impl Function {
    /// Starts `binary` and waits until it asks for work.
    pub async fn start(name: &str, binary: &Path, services: &Services) -> Result<Self> {
        let runtime = Runtime::start().await?;
        let folder = TempDir::new().map_err(text)?;
        let log = fs::File::create(folder.path().join("log")).map_err(text)?;
        let mut command = Command::new(binary);
        command
            .env_clear()
            .envs(environment(&services.url()))
            .envs([("AWS_LAMBDA_RUNTIME_API", runtime.address()), ("AWS_LAMBDA_FUNCTION_NAME", name)])
            .envs([("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "256"), ("AWS_LAMBDA_FUNCTION_VERSION", "$LATEST")])
            .envs([("AWS_LAMBDA_LOG_GROUP_NAME", "log"), ("AWS_LAMBDA_LOG_STREAM_NAME", "log")])
            .stdin(Stdio::null())
            .stdout(log.try_clone().map_err(text)?)
            .stderr(log)
            .kill_on_drop(true);
        let started = Instant::now();
        let child = command.spawn().map_err(|error| format!("{} can't be started: {error}", binary.display()))?;
        let mut function = Self { runtime, child, folder, started };
        function.begun().await?;
        Ok(function)
    }

    /// From the start of the process to its first request for work.
    pub async fn begun(&mut self) -> Result<Duration> {
        let begun = tokio::select! {
            begun = timeout(LIMIT, self.runtime.begun()) => begun.unwrap_or_else(|_| Err(format!("it asks for no work within {LIMIT:?}"))),
            status = self.child.wait() => Err(format!("it ended: {status:?}")),
        };
        begun.map(|at| at - self.started).map_err(|error| format!("{error}\n{}", self.log()))
    }

    /// Gives it an event.
    pub async fn invoke(&mut self, event: &str) -> Result<Outcome> {
        let answered = tokio::select! {
            answered = self.runtime.invoke(event, LIMIT) => answered,
            status = self.child.wait() => Err(format!("it ended: {status:?}")),
        };
        answered.map_err(|error| format!("{error}\n{}", self.log()))
    }

    /// What it wrote so far.
    pub fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    /// Its resident memory now, and the most that it ever had at once, in bytes. None where the system does not tell.
    pub fn memory(&self) -> Option<(u64, u64)> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()?)).ok()?;
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? * 1024)
        };
        Some((field("VmRSS:")?, field("VmHWM:")?))
    }
}

/// The binary of a function as this build's profile has it. It belongs to another package, so that nothing has it built for a test of this one: an error
/// that names the command where it is not there, or is older than its sources.
pub fn built(name: &str) -> Result<PathBuf> {
    let program = env::current_exe().map_err(text)?;
    let mut folder = program.parent().unwrap_or(Path::new("/"));
    if folder.ends_with("deps") {
        folder = folder.parent().unwrap_or(folder);
    }
    let (binary, listed) = (folder.join(name), folder.join(format!("{name}.d")));
    let profile = if folder.ends_with("release") { " --release" } else { "" };
    let packages = FUNCTIONS.map(|name| format!(" -p smartspace-{name}")).concat();
    let unless_built = |why: String| format!("{} {why}: `cargo build{profile}{packages}` builds it", binary.display());
    let changed = |path: &Path| fs::metadata(path).and_then(|file| file.modified());
    let at = changed(&binary).map_err(|_| unless_built("is not built".into()))?;
    let sources = fs::read_to_string(&listed).map_err(|error| unless_built(format!("can't be compared with its sources ({error})")))?;
    for source in sources_in(&sources) {
        // A source that is gone changed, too.
        if !changed(Path::new(&source)).is_ok_and(|changed| changed <= at) {
            return Err(unless_built(format!("is older than {source}")));
        }
    }
    Ok(binary)
}

/// The files that a list of cargo's (`target: source source …`, a space in a name behind a backslash) names.
fn sources_in(list: &str) -> impl Iterator<Item = String> {
    let names = list.lines().next().and_then(|line| line.split_once(": ")).map_or("", |(_, names)| names);
    let names = names.replace("\\ ", "\0");
    let names: Vec<String> = names.split_whitespace().map(|name| name.replace('\0', " ")).collect();
    names.into_iter()
}
