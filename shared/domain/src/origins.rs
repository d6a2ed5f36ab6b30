//! Origins of web pages, as browsers say them in `Origin`: `https://app.example.com`.

/// An origin that somebody configured, as browsers write it: in small letters, without a slash at its end.
///
/// # Errors
/// What was expected, in words, where browsers never say it so. `*` is none: who may call with a person's token is named.
pub fn origin(text: &str) -> Result<String, String> {
    let origin = text.trim().trim_end_matches('/').to_ascii_lowercase();
    let is_host = |host: &str| !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._:[]".contains(&byte));
    let is_scheme = |scheme: &str| !scheme.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    match origin.split_once("://") {
        Some((scheme, host)) if is_scheme(scheme) && is_host(host) => Ok(origin),
        _ => Err(format!("{text:?}: expected an origin like https://app.example.com, each named, without a path")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_read_as_browsers_write_them() {
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
    fn what_no_browser_says_is_refused() {
        for text in
            ["*", "https://*", "https://*.example.com", "https://a.test/app", "app.example.com", "https://", "null", "", "https://ä.test"]
        {
            let expected = format!("{text:?}: expected an origin like https://app.example.com, each named, without a path");
            assert_eq!(origin(text), Err(expected));
        }
    }
}
