//! Pages of lists, and the opaque cursors that ask for the next page.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::Serialize;
use serde_dynamo::AttributeValue;
use smartspace_domain::limits::{PAGE_BYTES, PAGE_ITEMS};
use utoipa::ToSchema;

use crate::{
    Error, Result,
    table::{
        indexes::KeyNames,
        write::{Item, text},
    },
};

/// A page of a list, as the API returns it.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Page<T> {
    /// The items of this page.
    pub items: Vec<T>,
    /// The cursor of the next page. Null on the last page.
    #[schema(required)]
    pub next_cursor: Option<String>,
}

impl<T: Serialize> Page<T> {
    /// A page of `found`, which pairs each item with its index entry. The page ends at 1 MiB. Its
    /// cursor continues at `next`, or after the last item that fit. `sort_key` names the sort key
    /// of the index.
    pub(crate) fn cut(
        found: impl IntoIterator<Item = (Item, T)>,
        next: Option<Item>,
        sort_key: &str,
    ) -> Self {
        let mut items = Vec::new();
        let mut bytes = 0;
        let mut last = None;
        for (entry, item) in found {
            bytes += json_bytes(&item);
            if bytes > PAGE_BYTES && !items.is_empty() {
                return Self { items, next_cursor: cursor(last, sort_key) };
            }
            items.push(item);
            last = Some(entry);
        }
        Self { items, next_cursor: cursor(next, sort_key) }
    }
}

/// The size of a value in a response, in bytes.
pub fn json_bytes(value: &impl Serialize) -> usize {
    serde_json::to_vec(value).map_or(0, |text| text.len() + 1)
}

/// The page that a caller asks for.
#[derive(Clone, Debug, Default)]
pub struct PageRequest {
    /// The `nextCursor` of the page before.
    pub cursor: Option<String>,
    /// How many items, from 1 to 200.
    pub limit: Option<usize>,
}

impl PageRequest {
    /// How many items. Fails if the limit is out of range.
    pub fn limit(&self) -> Result<usize> {
        let (default, most) = PAGE_ITEMS;
        match self.limit {
            None => Ok(default),
            Some(limit) if (1..=most).contains(&limit) => Ok(limit),
            Some(limit) => {
                Err(Error::Malformed(format!("limit: expected 1 to {most}, got {limit}")))
            }
        }
    }

    /// The key after which the page begins, in a partition of the index with these key names.
    pub(crate) fn after(&self, names: KeyNames, partition: &str) -> Result<Option<Item>> {
        let Some(cursor) = &self.cursor else { return Ok(None) };
        let bytes = URL_SAFE_NO_PAD.decode(cursor).map_err(|_| bad_cursor())?;
        let [pk, sk, sort_key]: [String; 3] =
            serde_json::from_slice(&bytes).map_err(|_| bad_cursor())?;
        // The table accepts no key that is empty or longer than this.
        if [&pk, &sk, &sort_key].iter().any(|part| part.is_empty() || part.len() > 1024) {
            return Err(bad_cursor());
        }
        let attributes =
            [("PK", pk), ("SK", sk), (names.pk, partition.to_owned()), (names.sk, sort_key)];
        Ok(Some(attributes.map(|(name, value)| (name.to_owned(), AttributeValue::S(value))).into()))
    }
}

/// The error of a cursor that no page returned.
pub(crate) fn bad_cursor() -> Error {
    Error::Malformed("cursor: expected the nextCursor of an earlier page".into())
}

/// The cursor of the page that begins after `key`.
pub(crate) fn cursor(key: Option<Item>, sort_key: &str) -> Option<String> {
    let key = key?;
    let part = |name| text(&key, name).unwrap_or_default();
    let parts = serde_json::json!([part("PK"), part("SK"), part(sort_key)]);
    Some(URL_SAFE_NO_PAD.encode(parts.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::indexes::Index;

    #[test]
    fn a_page_ends_at_a_mebibyte_and_its_cursor_continues_there() {
        let entry = |number: usize| {
            Item::from(
                ["PK", "SK", "g2sk"]
                    .map(|name| (name.to_owned(), AttributeValue::S(format!("{name}{number}")))),
            )
        };
        let page_of = |sizes: &[usize]| {
            let found =
                sizes.iter().enumerate().map(|(number, size)| (entry(number), "x".repeat(*size)));
            Page::cut(found, Some(entry(99)), "g2sk")
        };
        let half = PAGE_BYTES / 2;
        let all = page_of(&[half - 10, half - 10]);
        let cut = page_of(&[half, half, 1]);
        let first = page_of(&[PAGE_BYTES * 2, 1]);
        assert_eq!([all.items.len(), cut.items.len(), first.items.len()], [2, 1, 1]);
        assert_eq!(all.next_cursor, cursor(Some(entry(99)), "g2sk"));
        assert_eq!(
            [cut.next_cursor, first.next_cursor],
            [0, 0].map(|number| cursor(Some(entry(number)), "g2sk"))
        );
    }

    #[test]
    fn a_cursor_reads_as_its_key_and_a_made_up_cursor_is_refused() {
        let text = |text: &str| AttributeValue::S(text.into());
        let key = Item::from([
            ("PK".into(), text("p")),
            ("SK".into(), text("s")),
            ("g2sk".into(), text("g")),
        ]);
        let request = |cursor: Option<String>| {
            PageRequest { cursor, limit: None }.after(Index::LISTS.keys, "ALL")
        };
        let mut expected = key.clone();
        expected.insert("g2pk".into(), text("ALL"));
        assert_eq!(request(cursor(Some(key), "g2sk")), Ok(Some(expected)));
        assert_eq!(request(None), Ok(None));
        for made_up in [
            "",
            "?",
            "W10",
            &URL_SAFE_NO_PAD.encode(r#"["","b","c"]"#),
            &URL_SAFE_NO_PAD.encode(r#"["a","b",3]"#),
        ] {
            assert!(matches!(request(Some(made_up.into())), Err(Error::Malformed(_))), "{made_up}");
        }
    }
}
