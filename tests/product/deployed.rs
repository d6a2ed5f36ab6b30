//! The deployed stack that tests are run against, if the environment names one.
//!
//! | variable | |
//! |---|---|
//! | `SMARTSPACE_TEST_URL`, `SMARTSPACE_TEST_ADMIN_KEY` | where it is, and its operator's key |
//! | `SMARTSPACE_TEST_MODEL_LISTEN` | where it looks for its models: an address of this machine, which one process of tests can have |
//! | `SMARTSPACE_TEST_SETTINGS` | a JSON object: of the settings that tests ask for, those that it was deployed with |
//! | `SMARTSPACE_TEST_LOG` | a file that its functions' output is written to |
//! | `SMARTSPACE_TEST_PATIENCE` | how many times as long as on a product of their own tests wait for things |
//! | `SMARTSPACE_TEST_REPORT` | a file: a line for each start of a test, its name, a tab, and `asked`, or why this stack is not for it: then, to the test runner, it succeeds |

use std::{
    collections::BTreeMap,
    env, fs,
    fs::File,
    io::Write,
    sync::{Mutex, OnceLock},
    thread,
};

use super::process::Setup;

/// A deployed stack.
pub(crate) struct Deployed {
    /// Where it is, without a slash at the end.
    pub(crate) url: String,
    /// The operator's key.
    pub(crate) key: String,
    settings: BTreeMap<String, String>,
    report: Mutex<Option<File>>,
}

/// The deployed stack; none where each test starts a product of its own.
pub(crate) fn deployed() -> Option<&'static Deployed> {
    static DEPLOYED: OnceLock<Option<Deployed>> = OnceLock::new();
    DEPLOYED.get_or_init(Deployed::from_env).as_ref()
}

impl Deployed {
    fn from_env() -> Option<Self> {
        let url = env::var("SMARTSPACE_TEST_URL").ok()?;
        let settings = env::var("SMARTSPACE_TEST_SETTINGS").ok().map(|text| serde_json::from_str(&text).expect("SMARTSPACE_TEST_SETTINGS"));
        let report = env::var_os("SMARTSPACE_TEST_REPORT").map(|path| File::options().create(true).append(true).open(path).unwrap());
        Some(Self {
            url: url.trim_end_matches('/').to_owned(),
            key: env::var("SMARTSPACE_TEST_ADMIN_KEY").expect("SMARTSPACE_TEST_ADMIN_KEY goes with SMARTSPACE_TEST_URL"),
            settings: settings.unwrap_or_default(),
            report: Mutex::new(report),
        })
    }

    /// Why it is not what a test asks for, if it is not.
    pub(super) fn lacks(&self, setup: &Setup) -> Option<String> {
        if !setup.alone.is_empty() {
            return Some(setup.alone.into());
        }
        if setup.on_disk || setup.demo || !setup.admin_key.is_empty() {
            return Some("it needs a process of its own".into());
        }
        if let Some(flag) = setup.flags.iter().find(|flag| flag.starts_with("--")) {
            return Some(format!("it needs a product with {flag}"));
        }
        let (name, value) = setup.env.iter().find(|(name, value)| !self.has(name, value))?;
        Some(format!("it needs a product with {name}={value}"))
    }

    /// Says why the test that asks is skipped, and who it is.
    pub(super) fn skip(&self, why: &str) {
        eprintln!("skipped: {why}");
        self.report(why);
    }

    /// Says that a test goes on with it.
    pub(super) fn ask(&self) {
        self.report("asked");
    }

    fn report(&self, what: &str) {
        if let Some(file) = self.report.lock().unwrap().as_mut() {
            // The test runner names a test's thread like the test.
            writeln!(file, "{}\t{what}", thread::current().name().unwrap_or("?")).unwrap();
        }
    }

    /// What its functions wrote so far; nothing where that is not known.
    pub(super) fn log() -> String {
        let text = env::var_os("SMARTSPACE_TEST_LOG").map(|path| fs::read(path).unwrap_or_default()).unwrap_or_default();
        String::from_utf8_lossy(&text).into_owned()
    }

    /// Of hosts that tools may reach, a name without a port is all of its ports.
    fn has(&self, name: &str, wanted: &str) -> bool {
        let Some(given) = self.settings.get(name) else { return false };
        if name != "SMARTSPACE_TOOL_HOSTS" {
            return given == wanted;
        }
        let given: Vec<&str> = given.split(',').collect();
        wanted
            .split(',')
            .map(str::trim)
            .all(|host| given.contains(&host) || host.rsplit_once(':').is_some_and(|(name, _)| given.contains(&name)))
    }
}
