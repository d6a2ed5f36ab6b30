//! The folder of golden items.

use std::{collections::BTreeMap, fs, path::PathBuf};

use serde_json::Value;

/// A release, by the name of its folder. Its items are never changed once it is published.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Release(pub(super) &'static str);

/// The releases, oldest first. This version writes like the last one.
pub(crate) const RELEASES: &[Release] = &[Release("0.1")];

impl Release {
    fn folder(self) -> PathBuf {
        PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden")).join(self.0)
    }

    /// The items by their kinds, as DynamoDB writes them.
    pub(crate) fn items(self) -> BTreeMap<String, Vec<Value>> {
        let mut items = BTreeMap::new();
        for file in fs::read_dir(self.folder()).unwrap() {
            let path = file.unwrap().path();
            let kind = path.file_stem().unwrap().to_str().unwrap().to_owned();
            let text = fs::read_to_string(&path).unwrap();
            items.insert(kind, serde_json::from_str(&text).unwrap());
        }
        items
    }

    pub(super) fn write(self, kind: &str, items: &[Value]) {
        fs::create_dir_all(self.folder()).unwrap();
        let text = serde_json::to_string_pretty(items).unwrap() + "\n";
        fs::write(self.folder().join(format!("{kind}.json")), text).unwrap();
    }
}
