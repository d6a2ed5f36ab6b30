//! The items of the product's table as text, also what is compressed in them.

use std::{io::Read, path::Path};

use base64::{Engine, prelude::BASE64_STANDARD};
use flate2::read::ZlibDecoder;
use serde_json::{Value, json};
use smartspace::sqlite_table::SqliteTable;

/// An item of the table.
pub(crate) struct StoredItem {
    /// Its partition and sort key.
    pub(crate) name: String,
    /// The item as JSON, and behind that what is compressed in it.
    pub(crate) text: String,
}

/// All items of the table in a file. No process may use the file.
pub(crate) async fn all_in(path: &Path) -> Vec<StoredItem> {
    let items = SqliteTable::open(path).unwrap().scan().await.unwrap();
    let read = items.into_iter().map(|item| {
        let item = json!(item);
        let [pk, sk] = ["PK", "SK"].map(|key| item[key]["S"].as_str().unwrap_or_default());
        let mut text = item.to_string();
        unpack(&item, &mut text);
        StoredItem { name: format!("{pk} {sk}"), text }
    });
    read.collect()
}

/// Adds what is compressed in a value, at any depth.
fn unpack(value: &Value, text: &mut String) {
    match value {
        Value::Object(fields) => fields.values().for_each(|value| unpack(value, text)),
        Value::Array(values) => values.iter().for_each(|value| unpack(value, text)),
        // The first byte of compressed bytes is 0x78.
        Value::String(bytes) if bytes.starts_with('e') => {
            let Ok(bytes) = BASE64_STANDARD.decode(bytes) else { return };
            let mut more = String::new();
            if ZlibDecoder::new(&bytes[..]).read_to_string(&mut more).is_ok() {
                text.push_str(&more);
            }
        }
        _ => {}
    }
}
