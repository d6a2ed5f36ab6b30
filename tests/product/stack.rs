//! What a test starts with: the product, reached at its doors, and the model that its agents ask.

use std::{
    env,
    hash::{BuildHasher, RandomState},
    ops::Deref,
    process::ExitStatus,
    thread,
    time::Duration,
};

use super::{
    client::Client,
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
        match deployed() {
            Some((url, key)) => {
                let model = Model::start(&random()).await;
                Self { client: Client::new(url, key), model, process: None }
            }
            None => Self::spawn(false, false, Vec::new()).await,
        }
    }

    /// A product that keeps nothing, with more flags. None against a deployed stack: the test is skipped.
    pub(crate) async fn with(flags: &[&str]) -> Option<Self> {
        if deployed().is_some() {
            eprintln!("skipped: it needs a process of its own");
            return None;
        }
        Some(Self::spawn(false, false, flags.iter().map(|flag| (*flag).to_owned()).collect()).await)
    }

    /// A product on a folder, as a process that the test may kill. None against a deployed stack: the test is skipped.
    pub(crate) async fn local() -> Option<Self> {
        Self::own(false).await
    }

    /// The same with the demo space.
    pub(crate) async fn local_with_demo() -> Option<Self> {
        Self::own(true).await
    }

    async fn own(demo: bool) -> Option<Self> {
        if deployed().is_some() {
            eprintln!("skipped: it needs a process of its own");
            return None;
        }
        Some(Self::spawn(true, demo, Vec::new()).await)
    }

    async fn spawn(on_disk: bool, demo: bool, flags: Vec<String>) -> Self {
        let model = Model::start(&random()).await;
        let admin_key = format!("admin-{}{}", random(), random());
        let setup = Setup { on_disk, demo, admin_key: admin_key.clone(), model_url: model.base_url.clone(), flags };
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
        self.process.as_ref().map(Process::log).unwrap_or_default()
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
            let log = self.process.as_ref().map(Process::log).unwrap_or_default();
            eprintln!("faults of requests to the model: {faults:#?}\nthe product's log:\n{log}");
        } else {
            assert!(faults.is_empty(), "a provider would have refused, or wondered: {faults:#?}");
        }
    }
}

fn deployed() -> Option<(String, String)> {
    let url = env::var("SMARTSPACE_TEST_URL").ok()?;
    let key = env::var("SMARTSPACE_TEST_ADMIN_KEY").expect("SMARTSPACE_TEST_ADMIN_KEY goes with SMARTSPACE_TEST_URL");
    Some((url.trim_end_matches('/').to_owned(), key))
}

/// 16 hexadecimal digits that no other test has.
fn random() -> String {
    format!("{:016x}", RandomState::new().hash_one(std::process::id()))
}
