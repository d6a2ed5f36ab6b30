//! The lines that are printed when the product is ready, whatever the log level is.

use std::{io::Write, net::SocketAddr};

use smartspace_domain::{budgets::DailyLimit, usage::dollars};

use crate::flags::Flags;

/// Says where the product is, what models may cost, and what is set up so that it can't work.
pub(super) fn announce(flags: &Flags, address: SocketAddr, key: &str) -> Result<(), String> {
    let ready = format!("Smartspace is ready: http://{address}/#key={key}");
    let lines = [Some(ready), Some(in_words(flags.budget_cost_per_day)), keyless_router(flags)?];
    let mut out = std::io::stdout();
    for line in lines.into_iter().flatten() {
        // Standard output may be closed.
        let _ = writeln!(out, "{line}");
    }
    Ok(())
}

/// What models may cost. Nobody may have chosen it.
fn in_words(ceiling: DailyLimit) -> String {
    ceiling.nanodollars.map(dollars).map_or_else(
        || "Models may cost any sum: --budget-cost-per-day is none.".to_owned(),
        |dollars| {
            format!(
                "Models may cost {dollars} dollars a day (UTC); then those that cost money stop \
                 until midnight. Change it with --budget-cost-per-day SUM, or none."
            )
        },
    )
}

/// A warning if the router model of the deployment has a provider without a key.
fn keyless_router(flags: &Flags) -> Result<Option<String>, String> {
    let Some(model) = flags.router_model()? else { return Ok(None) };
    Ok(model.provider_lacks_key(&flags.providers()?).then(|| {
        format!(
            "Routers can't be asked, so each of their messages triggers every agent: the provider \
             of --router-model {} has no key.",
            model.full_name()
        )
    }))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    fn warning(more: &[&str]) -> Option<String> {
        let flags = Flags::try_parse_from(["smartspace"].iter().chain(more)).unwrap();
        keyless_router(&flags).unwrap()
    }

    #[test]
    fn a_router_whose_provider_has_no_key_is_announced() {
        let router = ["--router-model", "groq/llama"];
        let providers = |entry: &str| {
            let document = format!(r#"{{"providers": {{"groq": {entry}}}}}"#);
            let file = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(file.path(), document).unwrap();
            file
        };
        let with = |entry: &str| {
            let file = providers(entry);
            warning(&[&router[..], &["--providers", file.path().to_str().unwrap()]].concat())
        };
        let expected = "Routers can't be asked, so each of their messages triggers every agent: \
                        the provider of --router-model groq/llama has no key.";
        assert_eq!(with(r#"{"api": "openai"}"#).as_deref(), Some(expected));
        assert_eq!(
            with(r#"{"api": "openai", "key": "${secret.NONE}"}"#).as_deref(),
            Some(expected)
        );
        assert_eq!(with(r#"{"api": "openai", "key": "k"}"#), None);
        assert_eq!(with(r#"{"api": "openai", "baseUrl": "http://127.0.0.1:9/v1"}"#), None);
        assert_eq!(warning(&["--router-model", "bedrock/nova"]), None);
        assert_eq!(warning(&[]), None);
    }
}
