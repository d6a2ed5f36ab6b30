//! What a test starts with: the product, reached at its doors, and the model that its agents ask.

use std::{
    hash::{BuildHasher, RandomState},
    ops::Deref,
    process::ExitStatus,
    thread,
    time::Duration,
};

use super::{
    client::Client,
    deployed::{Deployed, deployed},
    model::Model,
    process::{Process, Setup},
};

/// A product of the test's own, or the deployed one that the environment names. Its routes are called on it directly.
pub(crate) struct Stack {
    client: Client,
    /// The model.
    pub(crate) model: Model,
    process: Option<Process>,
}

impl Stack {
    /// A product that keeps nothing, or the deployed one.
    pub(crate) async fn start() -> Self {
        Self::of(Setup::default()).await.expect("what asks for nothing is skipped nowhere")
    }

    /// A product that no other test asks. None against a deployed stack: the test is skipped, for `why`.
    pub(crate) async fn alone(why: &'static str) -> Option<Self> {
        Self::of(Setup { alone: why, ..Setup::default() }).await
    }

    /// A product that keeps nothing, with more flags. None against a deployed stack: the test is skipped.
    pub(crate) async fn with(flags: &[&str]) -> Option<Self> {
        Self::of(Setup { flags: flags.iter().map(|flag| (*flag).to_owned()).collect(), ..Setup::default() }).await
    }

    /// A product that keeps nothing, with environment variables. None against a deployed stack that was not given them: the test is skipped.
    pub(crate) async fn with_env(env: &[(&str, &str)]) -> Option<Self> {
        Self::of(Setup { env: owned(env), ..Setup::default() }).await
    }

    /// A product on a folder, as a process that the test may kill. None against a deployed stack: the test is skipped.
    pub(crate) async fn local() -> Option<Self> {
        Self::local_with_env(&[]).await
    }

    /// The same with environment variables, which it is given after each start.
    pub(crate) async fn local_with_env(env: &[(&str, &str)]) -> Option<Self> {
        Self::of(Setup { on_disk: true, env: owned(env), ..Setup::default() }).await
    }

    /// A product on a folder, with the demo space. None against a deployed stack: the test is skipped.
    pub(crate) async fn local_with_demo() -> Option<Self> {
        Self::of(Setup { on_disk: true, demo: true, ..Setup::default() }).await
    }

    /// A product that keeps nothing, with this key of its operator's and environment variables. None against a deployed stack: the test is skipped.
    pub(crate) async fn keyed(admin_key: &str, env: &[(&str, &str)]) -> Option<Self> {
        Self::of(Setup { admin_key: admin_key.to_owned(), env: owned(env), ..Setup::default() }).await
    }

    /// The one place that decides whether a test is skipped.
    pub(crate) async fn of(setup: Setup) -> Option<Self> {
        let Some(deployed) = deployed() else { return Some(Self::spawn(setup).await) };
        if let Some(why) = deployed.lacks(&setup) {
            deployed.skip(&why);
            return None;
        }
        deployed.ask();
        let model = Model::start(&random());
        Some(Self { client: Client::new(deployed.url.clone(), deployed.key.clone()), model, process: None })
    }

    async fn spawn(setup: Setup) -> Self {
        let model = Model::start(&random());
        let admin_key = if setup.admin_key.is_empty() { format!("admin-{}{}", random(), random()) } else { setup.admin_key };
        let setup = Setup { admin_key: admin_key.clone(), model_url: model.base_url.clone(), ..setup };
        let process = Process::start(setup).await;
        Self { client: Client::new(process.url.clone(), admin_key), model, process: Some(process) }
    }

    /// A person, an agent that asks the model `ada`, and their space.
    pub(crate) async fn pair(&self) -> (String, String, String) {
        let (person, agent) = (self.person("Husam").await, self.agent("Ada", &self.model.name("ada")).await);
        let space = self.space("Team", &[&person, &agent]).await;
        (person, agent, space)
    }

    /// Whether it runs on this machine, for this test alone.
    pub(crate) fn is_local(&self) -> bool {
        self.process.is_some()
    }

    /// Ends the product as a crash does.
    pub(crate) fn kill9(&mut self) {
        self.own_process().kill();
    }

    /// Starts the product again on what it left.
    pub(crate) async fn restart(&mut self) {
        let process = self.own_process();
        process.start_again().await;
        let url = process.url.clone();
        self.client = Client::new(url, self.client.key.clone());
    }

    /// Asks the product to end; its status, and how long it took.
    pub(crate) async fn terminate(&mut self) -> (ExitStatus, Duration) {
        self.own_process().terminate().await
    }

    /// How a second process on the same folder ends, and what it says.
    pub(crate) async fn rival(&mut self) -> (ExitStatus, String) {
        self.own_process().rival().await
    }

    /// What the product wrote so far.
    pub(crate) fn log(&self) -> String {
        self.process.as_ref().map(Process::log).or_else(|| deployed().map(|_| Deployed::log())).unwrap_or_default()
    }

    /// Everything that the product wrote anywhere: its log and its data, each with its name.
    pub(crate) fn files(&self) -> Vec<(String, Vec<u8>)> {
        self.process.as_ref().map(Process::files).unwrap_or_default()
    }

    /// The most memory that the product ever had at once, in bytes. None where that is not known.
    pub(crate) fn peak_memory(&self) -> Option<u64> {
        self.process.as_ref().and_then(Process::peak_memory)
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
            // A deployed stack's is that of all tests.
            let log = self.process.as_ref().map(Process::log).unwrap_or_default();
            eprintln!("faults of requests to the model: {faults:#?}\nthe product's log:\n{log}");
        } else {
            assert!(faults.is_empty(), "a provider would have refused, or wondered: {faults:#?}");
        }
    }
}

fn owned(env: &[(&str, &str)]) -> Vec<(String, String)> {
    env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// 16 hexadecimal digits that no other test has.
pub(super) fn random() -> String {
    format!("{:016x}", RandomState::new().hash_one(std::process::id()))
}
