//! The query of a request whose parameters may be repeated.

use std::sync::Arc;

use axum::{extract::FromRequestParts, http::request::Parts};
use smartspace_domain::{Error, Result};

use crate::{Api, answers::Refusal};

/// The names and values of a request's query, in their order.
#[derive(Debug)]
pub(crate) struct RepeatedQuery(Vec<(String, String)>);

impl FromRequestParts<Arc<Api>> for RepeatedQuery {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<Api>) -> Result<Self, Refusal> {
        Ok(Self::read(parts.uri.query().unwrap_or_default())?)
    }
}

impl RepeatedQuery {
    fn read(query: &str) -> Result<Self> {
        let pairs = query.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let name = decoded(name)
                .ok_or_else(|| Error::Malformed("query: expected names in UTF-8".into()))?;
            let value = decoded(value).ok_or_else(|| {
                Error::Malformed(format!("query parameter `{name}`: expected UTF-8"))
            })?;
            Ok((name, value))
        });
        pairs.collect::<Result<_>>().map(Self)
    }

    /// Refuses parameters with other names.
    pub(crate) fn must_be_among(&self, names: &[&str]) -> Result<()> {
        match self.0.iter().find(|(name, _)| !names.contains(&name.as_str())) {
            Some((name, _)) => Err(Error::invalid(
                pointer(name),
                format!("expected one of the parameters {}", names.join(", ")),
            )),
            None => Ok(()),
        }
    }

    /// All values of a parameter.
    pub(crate) fn all(&self, name: &str) -> Vec<String> {
        let values = self.0.iter().filter(|(given, _)| given == name);
        values.map(|(_, value)| value.clone()).collect()
    }

    /// The value of a parameter that may be given once.
    pub(crate) fn one(&self, name: &str) -> Result<Option<String>> {
        let mut values = self.all(name);
        let value = values.pop();
        if values.is_empty() {
            Ok(value)
        } else {
            Err(Error::invalid(pointer(name), "expected the parameter only once"))
        }
    }
}

/// The JSON pointer to a parameter.
fn pointer(name: &str) -> String {
    format!("/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// The text of a part of a query. `None` if it is not UTF-8: the usual parser would replace what is
/// wrong, and search for something else.
fn decoded(text: &str) -> Option<String> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        let escaped = match after {
            [high, low, ..] if *byte == b'%' => digit(*high).zip(digit(*low)),
            _ => None,
        };
        rest = if escaped.is_some() { &after[2..] } else { after };
        bytes.push(match escaped {
            Some((high, low)) => (high << 4) | low,
            None if *byte == b'+' => b' ',
            None => *byte,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(query: &str) -> RepeatedQuery {
        RepeatedQuery::read(query).unwrap()
    }

    #[test]
    fn parameters_are_read_as_forms_write_them() {
        let query = read("q=a+b%26%2B%c3%A9&from=one&&from=two%&empty=&bare");
        assert_eq!(query.one("q"), Ok(Some("a b&+é".into())));
        assert_eq!(query.all("from"), ["one", "two%"]);
        assert_eq!(query.one("empty"), Ok(Some(String::new())));
        assert_eq!(query.one("bare"), Ok(Some(String::new())));
        assert_eq!(query.one("missing"), Ok(None));
        assert_eq!(
            query.one("from"),
            Err(Error::invalid("/from", "expected the parameter only once"))
        );
        assert_eq!(query.must_be_among(&["q", "from", "empty", "bare"]), Ok(()));
        assert!(matches!(query.must_be_among(&["q"]), Err(Error::Invalid(_))));
    }

    #[test]
    fn a_value_that_is_not_utf_8_is_refused() {
        for (query, name) in [("q=%ff", "q"), ("a=1&q=%c3", "q"), ("from=x%80", "from")] {
            let expected = format!("query parameter `{name}`: expected UTF-8");
            assert_eq!(
                RepeatedQuery::read(query).unwrap_err(),
                Error::Malformed(expected),
                "{query}"
            );
        }
        assert!(RepeatedQuery::read("%ff=1").is_err());
    }
}
