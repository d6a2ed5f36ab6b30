//! Pages of lists: an opaque cursor, and what it stands for.

use aws_sdk_dynamodb::types::AttributeValue;
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::Serialize;
use smartspace_domain::limits::{PAGE_BYTES, PAGE_ITEMS};
use utoipa::ToSchema;

use crate::{Error, Result, write::Item};

/// A page of a list, as the API answers it.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Page<T> {
    /// What is on it.
    pub items: Vec<T>,
    /// Asks for the next one; null on the last.
    #[schema(required)]
    pub next_cursor: Option<String>,
}

impl<T: Serialize> Page<T> {
    /// What was found with its entries in an index, up to 1 MiB, and what asks for the rest: `next` unless it was cut before.
    pub(crate) fn cut(found: impl IntoIterator<Item = (Item, T)>, next: Option<Item>, place: &str) -> Self {
        let (mut items, mut bytes, mut last) = (Vec::new(), 0, None);
        for (entry, item) in found {
            bytes += json_bytes(&item);
            if bytes > PAGE_BYTES && !items.is_empty() {
                return Self { items, next_cursor: cursor(last, place) };
            }
            items.push(item);
            last = Some(entry);
        }
        Self { items, next_cursor: cursor(next, place) }
    }
}

/// How many bytes something is in an answer.
pub fn json_bytes(value: &impl Serialize) -> usize {
    serde_json::to_vec(value).map_or(0, |text| text.len() + 1)
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
        // The table takes no empty key, and none that is longer.
        if [&pk, &sk, &place].iter().any(|part| part.is_empty() || part.len() > 1024) {
            return Err(refused());
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_ends_at_a_mebibyte_and_the_next_one_goes_on_there() {
        let entry =
            |number: usize| Item::from(["PK", "SK", "g2sk"].map(|name| (name.to_owned(), AttributeValue::S(format!("{name}{number}")))));
        let of = |sizes: &[usize]| {
            let found = sizes.iter().enumerate().map(|(number, size)| (entry(number), "x".repeat(*size)));
            Page::cut(found, Some(entry(99)), "g2sk")
        };
        let half = PAGE_BYTES / 2;
        let (all, cut, first) = (of(&[half - 10, half - 10]), of(&[half, half, 1]), of(&[PAGE_BYTES * 2, 1]));
        assert_eq!((all.items.len(), cut.items.len(), first.items.len()), (2, 1, 1));
        assert_eq!(all.next_cursor, cursor(Some(entry(99)), "g2sk"));
        assert_eq!([cut.next_cursor, first.next_cursor], [0, 0].map(|number| cursor(Some(entry(number)), "g2sk")));
    }

    #[test]
    fn a_cursor_comes_back_and_a_made_up_one_is_refused() {
        let text = |text: &str| AttributeValue::S(text.into());
        let key = Item::from([("PK".into(), text("p")), ("SK".into(), text("s")), ("g2sk".into(), text("g"))]);
        let ask = |cursor: Option<String>| Ask { cursor, limit: None }.after(("g2pk", "g2sk"), "ALL");
        let mut expected = key.clone();
        expected.insert("g2pk".into(), text("ALL"));
        assert_eq!(ask(cursor(Some(key), "g2sk")), Ok(Some(expected)));
        assert_eq!(ask(None), Ok(None));
        for made_up in ["", "?", "W10", &URL_SAFE_NO_PAD.encode(r#"["","b","c"]"#), &URL_SAFE_NO_PAD.encode(r#"["a","b",3]"#)] {
            assert!(matches!(ask(Some(made_up.into())), Err(Error::Malformed(_))), "{made_up}");
        }
    }
}
