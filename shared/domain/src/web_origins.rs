//! Origins of web pages, as browsers send them in `Origin`: `https://app.example.com`.

/// A configured origin as browsers write it: in lower case, without a trailing slash.
///
/// # Errors
/// If browsers never send such an origin. `*` is refused too: pages that may call with a person's
/// token are listed by name.
pub fn origin(text: &str) -> Result<String, String> {
    let origin = text.trim().trim_end_matches('/').to_ascii_lowercase();
    let is_host = |host: &str| {
        !host.is_empty()
            && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._:[]".contains(&byte))
    };
    let is_scheme = |scheme: &str| {
        !scheme.is_empty()
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
    };
    match origin.split_once("://") {
        Some((scheme, host)) if is_scheme(scheme) && is_host(host) => Ok(origin),
        _ => Err(format!(
            "{text:?}: expected an origin like https://app.example.com, \
             without a path or a wildcard"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_normalized_as_browsers_write_them() {
        for (text, expected) in [
            ("https://app.example.com", "https://app.example.com"),
            (" https://App.Example.com/ ", "https://app.example.com"),
            ("http://localhost:5173", "http://localhost:5173"),
            ("http://[::1]:5173", "http://[::1]:5173"),
            ("capacitor://localhost", "capacitor://localhost"),
        ] {
            assert_eq!(origin(text).as_deref(), Ok(expected));
        }
    }

    #[test]
    fn wildcards_paths_and_other_texts_are_refused() {
        for text in [
            "*",
            "https://*",
            "https://*.example.com",
            "https://a.test/app",
            "app.example.com",
            "https://",
            "null",
            "",
            "https://ä.test",
        ] {
            let expected = format!(
                "{text:?}: expected an origin like https://app.example.com, \
                 without a path or a wildcard"
            );
            assert_eq!(origin(text), Err(expected));
        }
    }
}
