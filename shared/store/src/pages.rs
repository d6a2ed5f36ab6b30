//! Pages of lists: an opaque cursor, and what it stands for.

use aws_sdk_dynamodb::types::AttributeValue;
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::Serialize;
use smartspace_domain::limits::PAGE_ITEMS;

use crate::{Error, Result, write::Item};

/// A page of a list, as the API answers it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Page<T> {
    /// What is on it.
    pub items: Vec<T>,
    /// Asks for the next one; null on the last.
    pub next_cursor: Option<String>,
}

/// Which page is asked for.
#[derive(Clone, Debug, Default)]
pub struct Ask {
    /// What the page before said.
    pub cursor: Option<String>,
    /// 1 to 200.
    pub limit: Option<usize>,
}

impl Ask {
    /// How many items, checked.
    pub fn limit(&self) -> Result<usize> {
        let (usual, most) = PAGE_ITEMS;
        match self.limit {
            None => Ok(usual),
            Some(limit) if (1..=most).contains(&limit) => Ok(limit),
            Some(limit) => Err(Error::Malformed(format!("limit: expected 1 to {most}, got {limit}"))),
        }
    }

    /// The key to go on from, in an index partition with these names.
    pub(crate) fn after(&self, names: (&str, &str), partition: &str) -> Result<Option<Item>> {
        let Some(cursor) = &self.cursor else { return Ok(None) };
        let refused = || Error::Malformed("cursor: expected what nextCursor said".into());
        let bytes = URL_SAFE_NO_PAD.decode(cursor).map_err(|_| refused())?;
        let [pk, sk, place]: [String; 3] = serde_json::from_slice(&bytes).map_err(|_| refused())?;
        let attributes = [("PK", pk), ("SK", sk), (names.0, partition.to_owned()), (names.1, place)];
        Ok(Some(attributes.map(|(name, value)| (name.to_owned(), AttributeValue::S(value))).into()))
    }
}

/// What asks for the page behind `key`.
pub(crate) fn cursor(key: Option<Item>, place: &str) -> Option<String> {
    let key = key?;
    let text = |name: &str| key.get(name).and_then(|value| value.as_s().ok()).cloned().unwrap_or_default();
    let parts = serde_json::json!([text("PK"), text("SK"), text(place)]);
    Some(URL_SAFE_NO_PAD.encode(parts.to_string()))
}
