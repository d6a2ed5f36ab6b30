//! The prompts of earlier requests. A beginning that a request shares with the one before, under
//! the same key, counts as cached, as it does at other providers.

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
    sync::{Mutex, PoisonError},
};

use crate::port::{Request, estimate};

/// How many keys are remembered.
const KEYS: usize = 1_000;

/// The last request of each key: the hashes of its texts.
#[derive(Debug, Default)]
pub(super) struct PrefixCache(Mutex<HashMap<String, Vec<u64>>>);

impl PrefixCache {
    /// How many of a request's tokens are cached. The request is remembered.
    pub(super) fn tokens(&self, request: &Request) -> u64 {
        if request.cache_key.is_empty() {
            return 0;
        }
        let texts = estimate::texts(request);
        let hashes: Vec<_> = texts.iter().map(|text| hash(text)).collect();
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.len() >= KEYS {
            seen.clear();
        }
        let before = seen.insert(request.cache_key.clone(), hashes.clone()).unwrap_or_default();
        let same = hashes.iter().zip(&before).take_while(|(one, other)| one == other).count();
        estimate::tokens(texts[..same].iter().map(|text| text.chars().count()).sum())
    }
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{port::Message, samples};

    #[test]
    fn the_beginning_that_the_last_request_had_is_cached() {
        let cache = PrefixCache::default();
        let asks = |key: &str, blocks: &[&str]| {
            let blocks = blocks.iter().map(|block| (*block).to_owned()).collect();
            cache.tokens(&Request {
                cache_key: key.to_owned(),
                system: vec!["12345678".to_owned()],
                messages: vec![Message::User { blocks }],
                tools: [].into(),
                ..samples::request()
            })
        };
        assert_eq!(asks("a", &["1234", "5678"]), 0);
        assert_eq!(asks("a", &["1234", "other"]), 3);
        assert_eq!(asks("a", &["1234", "5678"]), 3);
        assert_eq!(asks("b", &["1234", "5678"]), 0);
        assert_eq!(asks("a", &["5678"]), 2);
        assert_eq!(asks("", &["5678"]), 0);
        assert_eq!(asks("", &["5678"]), 0);
    }
}
