//! The product as a child process. Dropping its handle kills it.

mod launch;

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    time::{Duration, Instant},
};

use tempfile::TempDir;
use tokio::time::sleep;

pub(crate) use self::launch::binary;
use crate::support::{
    items::{self, StoredItem},
    process::launch::{READY_WITHIN, command, free_port, launch},
};

/// The settings that the product starts with.
#[derive(Clone, Debug, Default)]
pub(crate) struct Setup {
    /// Stores its data in a folder. Otherwise it stores nothing.
    pub(crate) on_disk: bool,
    /// Makes the demo space of a first start.
    pub(crate) demo: bool,
    /// Why the test cannot use a deployed stack. Empty if it can.
    pub(crate) alone: &'static str,
    pub(crate) admin_key: String,
    /// The base URL of its models.
    pub(crate) model_url: String,
    /// Further flags.
    pub(crate) flags: Vec<String>,
    /// Environment variables. It inherits only a few others from the test process.
    pub(crate) env: Vec<(String, String)>,
}

/// A product that runs, or one that ended and can be restarted on the same data.
pub(crate) struct Process {
    setup: Setup,
    folder: TempDir,
    child: Child,
    /// The base URL. Each start uses another port, because the old one may be taken.
    pub(crate) url: String,
}

impl Process {
    /// Starts the product and waits until it is ready.
    pub(crate) async fn start(setup: Setup) -> Self {
        let folder = tempfile::Builder::new().prefix("smartspace-test-").tempdir().unwrap();
        let (child, url) = launch(&setup, folder.path()).await;
        Self { setup, folder, child, url }
    }

    /// Restarts the product on the same data. Kills it first if it still runs.
    pub(crate) async fn start_again(&mut self) {
        self.kill();
        (self.child, self.url) = launch(&self.setup, self.folder.path()).await;
    }

    /// Begins to restart the product, and kills it after this time.
    pub(crate) async fn die_while_starting(&mut self, after: Duration) {
        self.kill();
        let log =
            File::options().create(true).append(true).open(log_file(self.folder.path())).unwrap();
        let mut command = command(&self.setup, self.folder.path(), free_port());
        self.child = command.stdout(log.try_clone().unwrap()).stderr(log).spawn().unwrap();
        sleep(after).await;
        self.kill();
    }

    /// Ends the product as a crash would (SIGKILL).
    pub(crate) fn kill(&mut self) {
        // Fails only if the process has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Asks the product to end (SIGTERM). Returns its exit status and the time that it took.
    pub(crate) async fn terminate(&mut self) -> (ExitStatus, Duration) {
        let asked = Instant::now();
        let sent =
            Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success(), "kill -TERM: {sent}");
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return (status, asked.elapsed());
            }
            let in_time = asked.elapsed() < Duration::from_secs(20);
            assert!(in_time, "the product did not end within 20 s of SIGTERM");
            sleep(Duration::from_millis(5)).await;
        }
    }

    /// Starts a second process on the same data. Returns its exit status and its stderr.
    pub(crate) async fn rival(&self) -> (ExitStatus, String) {
        let mut rival = command(&self.setup, self.folder.path(), free_port())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let started = Instant::now();
        while rival.try_wait().unwrap().is_none() {
            if started.elapsed() > READY_WITHIN {
                let _ = rival.kill();
                let _ = rival.wait();
                panic!("a second process on the same folder keeps running");
            }
            sleep(Duration::from_millis(10)).await;
        }
        let output = rival.wait_with_output().unwrap();
        (output.status, String::from_utf8_lossy(&output.stderr).into_owned())
    }

    /// The peak memory in bytes. Returns `None` if the system does not report it.
    pub(crate) fn peak_memory(&self) -> Option<u64> {
        self.memory_as("VmHWM:")
    }

    /// The memory in bytes. Returns `None` if the system does not report it.
    pub(crate) fn memory(&self) -> Option<u64> {
        self.memory_as("VmRSS:")
    }

    fn memory_as(&self, name: &str) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let kib =
            status.lines().find_map(|line| line.strip_prefix(name))?.trim().strip_suffix(" kB")?;
        Some(kib.parse::<u64>().ok()? * 1024)
    }

    /// All files that the product wrote: its log and its data, each with its name.
    pub(crate) fn files(&self) -> Vec<(String, Vec<u8>)> {
        let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
        self.paths().iter().map(|path| (name(path), fs::read(path).unwrap())).collect()
    }

    /// The items of the table, after the product has ended.
    pub(crate) async fn items(&self) -> Vec<StoredItem> {
        items::all_in(&self.folder.path().join("data").join("table.sqlite")).await
    }

    /// The lengths of the files that are arriving.
    pub(crate) fn partial_files(&self) -> Vec<u64> {
        let is_partial = |path: &&PathBuf| {
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'))
        };
        // One that ends meanwhile is gone.
        let lengths = self.paths().iter().filter(is_partial).map(fs::metadata).collect::<Vec<_>>();
        lengths.into_iter().flatten().map(|file| file.len()).collect()
    }

    /// Removes the file with this name.
    pub(crate) fn remove_file(&self, name: &str) {
        let found = self.paths().into_iter().find(|path| path.ends_with(name));
        fs::remove_file(found.unwrap()).unwrap();
    }

    fn paths(&self) -> Vec<PathBuf> {
        let mut folders = vec![self.folder.path().to_owned()];
        let mut paths = Vec::new();
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
                let is_folder = entry.file_type().unwrap().is_dir();
                if is_folder { &mut folders } else { &mut paths }.push(entry.path());
            }
        }
        paths
    }

    /// The last 300 lines of the log.
    pub(crate) fn log(&self) -> String {
        let log = fs::read(log_file(self.folder.path())).unwrap_or_default();
        let log = String::from_utf8_lossy(&log);
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(300)..].join("\n")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

fn log_file(folder: &Path) -> PathBuf {
    folder.join("log")
}
