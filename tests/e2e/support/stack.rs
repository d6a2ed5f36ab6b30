//! The stack of a test: a client for the product, and the fake model that its agents ask.

use std::{
    hash::{BuildHasher, RandomState},
    ops::Deref,
    process::ExitStatus,
    thread,
    time::Duration,
};

use crate::support::{
    client::Client,
    deployed::{Deployed, deployed},
    items::StoredItem,
    model::Model,
    process::{Process, Setup},
};

/// The product under test: a process of the test's own, or the deployed stack that the environment
/// names. It derefs to [`Client`], so tests call its routes directly.
pub(crate) struct Stack {
    client: Client,
    pub(crate) model: Model,
    process: Option<Process>,
}

/// The ids of a person, an agent that asks the model `ada`, and their space.
pub(crate) struct Team {
    pub(crate) person: String,
    pub(crate) agent: String,
    pub(crate) space: String,
}

impl Stack {
    /// A product that stores nothing, or the deployed stack.
    pub(crate) async fn start() -> Self {
        Self::of(Setup::default()).await.expect("a test without requirements is never skipped")
    }

    /// A product that no other test uses. Returns `None` on a deployed stack: the test is skipped
    /// because of `why`.
    pub(crate) async fn alone(why: &'static str) -> Option<Self> {
        Self::of(Setup { alone: why, ..Setup::default() }).await
    }

    /// A product that stores nothing, with further flags. Returns `None` on a deployed stack: the
    /// test is skipped.
    pub(crate) async fn with(flags: &[&str]) -> Option<Self> {
        Self::of(Setup {
            flags: flags.iter().map(|flag| (*flag).to_owned()).collect(),
            ..Setup::default()
        })
        .await
    }

    /// A product that stores nothing, with environment variables. Returns `None` on a deployed
    /// stack with other settings: the test is skipped.
    pub(crate) async fn with_env(env: &[(&str, &str)]) -> Option<Self> {
        Self::of(Setup { env: owned(env), ..Setup::default() }).await
    }

    /// A product on a folder, as a process that the test may kill. Returns `None` on a deployed
    /// stack: the test is skipped.
    pub(crate) async fn local() -> Option<Self> {
        Self::local_with_env(&[]).await
    }

    /// Like [`Self::local`], with environment variables at each start.
    pub(crate) async fn local_with_env(env: &[(&str, &str)]) -> Option<Self> {
        Self::of(Setup { on_disk: true, env: owned(env), ..Setup::default() }).await
    }

    /// Like [`Self::local`], with the demo space.
    pub(crate) async fn local_with_demo() -> Option<Self> {
        Self::of(Setup { on_disk: true, demo: true, ..Setup::default() }).await
    }

    /// A product that stores nothing, with this admin key and environment variables. Returns `None`
    /// on a deployed stack: the test is skipped.
    pub(crate) async fn keyed(admin_key: &str, env: &[(&str, &str)]) -> Option<Self> {
        Self::of(Setup { admin_key: admin_key.to_owned(), env: owned(env), ..Setup::default() })
            .await
    }

    /// The product that `setup` describes. Returns `None` if the deployed stack does not fit it.
    /// Only this function decides whether a test is skipped.
    pub(crate) async fn of(setup: Setup) -> Option<Self> {
        let Some(deployed) = deployed() else { return Some(Self::spawn(setup).await) };
        if let Some(why) = deployed.lacks(&setup) {
            deployed.skip(&why);
            return None;
        }
        deployed.ask();
        let model = Model::start(&random());
        Some(Self {
            client: Client::new(deployed.url.clone(), deployed.key.clone()),
            model,
            process: None,
        })
    }

    async fn spawn(setup: Setup) -> Self {
        let model = Model::start(&random());
        let admin_key = if setup.admin_key.is_empty() {
            format!("admin-{}{}", random(), random())
        } else {
            setup.admin_key
        };
        let setup =
            Setup { admin_key: admin_key.clone(), model_url: model.base_url.clone(), ..setup };
        let process = Process::start(setup).await;
        Self { client: Client::new(process.url.clone(), admin_key), model, process: Some(process) }
    }

    /// Creates a person, an agent that asks the model `ada`, and their space. Returns the three
    /// ids.
    pub(crate) async fn pair(&self) -> (String, String, String) {
        let person = self.person("Husam").await;
        let agent = self.agent("Ada", &self.model.name("ada")).await;
        let space = self.space("Team", &[&person, &agent]).await;
        (person, agent, space)
    }

    /// As [`Self::pair`], with names.
    pub(crate) async fn team(&self) -> Team {
        let (person, agent, space) = self.pair().await;
        Team { person, agent, space }
    }

    /// Whether the product is a process of this test.
    pub(crate) fn is_local(&self) -> bool {
        self.process.is_some()
    }

    /// Kills the product as a crash would.
    pub(crate) fn kill9(&mut self) {
        self.own_process().kill();
    }

    /// Restarts the product on the same data.
    pub(crate) async fn restart(&mut self) {
        let process = self.own_process();
        process.start_again().await;
        let url = process.url.clone();
        self.client = Client::new(url, self.client.key.clone());
    }

    /// Asks the product to end. Returns its exit status and the time that it took.
    pub(crate) async fn terminate(&mut self) -> (ExitStatus, Duration) {
        self.own_process().terminate().await
    }

    /// Starts a second process on the same folder. Returns its exit status and its stderr.
    pub(crate) async fn rival(&mut self) -> (ExitStatus, String) {
        self.own_process().rival().await
    }

    /// The log of the product so far.
    pub(crate) fn log(&self) -> String {
        self.process
            .as_ref()
            .map(Process::log)
            .or_else(|| deployed().map(|_| Deployed::log()))
            .unwrap_or_default()
    }

    /// All files that the product wrote: its log and its data, each with its name.
    pub(crate) fn files(&self) -> Vec<(String, Vec<u8>)> {
        self.process.as_ref().map(Process::files).unwrap_or_default()
    }

    /// The items of the table, after the product has ended.
    pub(crate) async fn items(&self) -> Vec<StoredItem> {
        self.process.as_ref().expect("only a local stack has a process").items().await
    }

    /// The lengths of the files that are arriving.
    pub(crate) fn partial_files(&self) -> Vec<u64> {
        self.process.as_ref().map(Process::partial_files).unwrap_or_default()
    }

    /// Removes a file that the product wrote, wherever it is.
    pub(crate) fn remove_file(&self, name: &str) {
        self.process.as_ref().unwrap().remove_file(name);
    }

    /// The peak memory of the product in bytes. Returns `None` if it is unknown.
    pub(crate) fn peak_memory(&self) -> Option<u64> {
        self.process.as_ref().and_then(Process::peak_memory)
    }

    /// The memory of the product in bytes. Returns `None` if it is unknown.
    pub(crate) fn memory(&self) -> Option<u64> {
        self.process.as_ref().and_then(Process::memory)
    }

    fn own_process(&mut self) -> &mut Process {
        self.process.as_mut().expect("only a local stack has a process")
    }
}

impl Deref for Stack {
    type Target = Client;
    fn deref(&self) -> &Client {
        &self.client
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        let faults = self.model.faults();
        if thread::panicking() {
            // Do not print the log of a deployed stack: it is that of all tests.
            let log = self.process.as_ref().map(Process::log).unwrap_or_default();
            eprintln!("faults in requests to the model: {faults:#?}\nthe product's log:\n{log}");
        } else {
            assert!(faults.is_empty(), "faults in requests to the model: {faults:#?}");
        }
    }
}

fn owned(env: &[(&str, &str)]) -> Vec<(String, String)> {
    env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// 16 random hexadecimal digits.
pub(crate) fn random() -> String {
    format!("{:016x}", RandomState::new().hash_one(std::process::id()))
}
