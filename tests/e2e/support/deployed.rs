//! The deployed stack that the tests run against, if the environment names one.
//!
//! - `SMARTSPACE_TEST_URL`, `SMARTSPACE_TEST_ADMIN_KEY`: its base URL and its admin key.
//! - `SMARTSPACE_TEST_MODEL_LISTEN`: the address of this machine at which the stack looks for its
//!   models. Only one test process at a time can listen there.
//! - `SMARTSPACE_TEST_SETTINGS`: a JSON object with the settings that the stack was deployed with,
//!   as far as tests ask for them.
//! - `SMARTSPACE_TEST_LOG`: a file with the output of its functions.
//! - `SMARTSPACE_TEST_PATIENCE`: a factor for all time limits.
//! - `SMARTSPACE_TEST_REPORT`: a file for the report. It gets one line for each start of a test:
//!   the test's name, a tab, and `asked`, or the reason why the test is skipped. The test runner
//!   counts a skipped test as passed.

use std::{
    collections::BTreeMap,
    env, fs,
    fs::File,
    io::Write,
    sync::{Mutex, OnceLock},
    thread,
};

use crate::support::process::Setup;

pub(crate) struct Deployed {
    /// The base URL, without a slash at the end.
    pub(crate) url: String,
    pub(crate) key: String,
    settings: BTreeMap<String, String>,
    report: Mutex<Option<File>>,
}

/// The deployed stack. Returns `None` if each test starts its own product.
pub(crate) fn deployed() -> Option<&'static Deployed> {
    static DEPLOYED: OnceLock<Option<Deployed>> = OnceLock::new();
    DEPLOYED.get_or_init(Deployed::from_env).as_ref()
}

impl Deployed {
    fn from_env() -> Option<Self> {
        let url = env::var("SMARTSPACE_TEST_URL").ok()?;
        let settings = env::var("SMARTSPACE_TEST_SETTINGS").ok().map(|text| {
            serde_json::from_str(&text).expect("SMARTSPACE_TEST_SETTINGS must be a JSON object")
        });
        let report = env::var_os("SMARTSPACE_TEST_REPORT")
            .map(|path| File::options().create(true).append(true).open(path).unwrap());
        Some(Self {
            url: url.trim_end_matches('/').to_owned(),
            key: env::var("SMARTSPACE_TEST_ADMIN_KEY")
                .expect("set SMARTSPACE_TEST_ADMIN_KEY together with SMARTSPACE_TEST_URL"),
            settings: settings.unwrap_or_default(),
            report: Mutex::new(report),
        })
    }

    /// Why the stack does not fit `setup`. Returns `None` if it fits.
    pub(crate) fn lacks(&self, setup: &Setup) -> Option<String> {
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

    /// Reports that the current test is skipped, and why.
    pub(crate) fn skip(&self, why: &str) {
        eprintln!("skipped: {why}");
        self.report(why);
    }

    /// Reports that the current test uses the stack.
    pub(crate) fn ask(&self) {
        self.report("asked");
    }

    fn report(&self, what: &str) {
        if let Some(file) = self.report.lock().unwrap().as_mut() {
            // The test runner gives a test's thread the name of the test.
            writeln!(file, "{}\t{what}", thread::current().name().unwrap_or("?")).unwrap();
        }
    }

    /// The output of its functions so far. Empty if `SMARTSPACE_TEST_LOG` is not set.
    pub(crate) fn log() -> String {
        let text = env::var_os("SMARTSPACE_TEST_LOG")
            .map(|path| fs::read(path).unwrap_or_default())
            .unwrap_or_default();
        String::from_utf8_lossy(&text).into_owned()
    }

    /// Whether the stack has the setting `wanted`. In `SMARTSPACE_TOOL_HOSTS`, a host without a
    /// port stands for all of its ports.
    fn has(&self, name: &str, wanted: &str) -> bool {
        let Some(given) = self.settings.get(name) else { return false };
        if name != "SMARTSPACE_TOOL_HOSTS" {
            return given == wanted;
        }
        let given: Vec<&str> = given.split(',').collect();
        wanted.split(',').map(str::trim).all(|host| {
            given.contains(&host)
                || host.rsplit_once(':').is_some_and(|(name, _)| given.contains(&name))
        })
    }
}
