//! Finds the space or agent that a model names: by its id, by its name, or by its name and the last
//! letters of its id, as prompts write a name that several have.

use std::fmt::Display;

use serde_json::Value;
use smartspace_domain::{Result, agents::SpacesShown, ids::SpaceId};

use crate::{
    prompt::names::{distinct_end, look_alike},
    tools::{calling::Calling, input::text_of},
};

/// The space that an input names in `field`, or an error text for the model. `None` if the input
/// has no such field.
pub(crate) async fn space_of(
    calling: &Calling<'_>,
    input: &Value,
    field: &str,
) -> Result<Option<Result<SpaceId, String>>> {
    if input.get(field).is_none() {
        return Ok(None);
    }
    let given = text_of(input, field);
    if let Ok(id) = given.parse() {
        return Ok(Some(Ok(id)));
    }
    let context = calling.context;
    let store = context.store();
    let mut spaces = store.agent_state().spaces(context.run.agent_id).await?;
    // A person who adds such an agent to a space must not learn through it which other spaces it is
    // in.
    if context.config.spaces_shown() == SpacesShown::Active {
        spaces.retain(|space| Some(*space) == calling.active_space);
    }
    let cards = store.spaces().overviews(&spaces).await?;
    let found =
        named(given, "space of yours", cards.iter().map(|(id, card)| (*id, card.name.as_str())));
    Ok(Some(found.map_err(|error| format!("{field}: {error}"))))
}

/// The one of `all` with this name. `kind` is the word for such a thing in errors.
pub(crate) fn named<'a, T: Copy + Display>(
    given: &str,
    kind: &str,
    all: impl Iterator<Item = (T, &'a str)>,
) -> Result<T, String> {
    let (name, end) = match given.rsplit_once('~') {
        Some((name, end)) if !end.is_empty() => (name, end),
        _ => (given, ""),
    };
    let name = name.trim().trim_start_matches('@').trim_matches('"');
    let found: Vec<(T, &str)> = all
        .filter(|(id, other)| {
            look_alike(other, name) && id.to_string().ends_with(end) || look_alike(other, given)
        })
        .collect();
    match found.as_slice() {
        [] => Err(format!(
            "there is no {kind} named {name:?}; expected a name or an id from YOUR SPACES"
        )),
        [(id, _)] => Ok(*id),
        several => {
            let ids: Vec<String> = several.iter().map(|(id, _)| id.to_string()).collect();
            let shown = several.iter().zip(&ids).map(|((_, name), id)| {
                let others: Vec<_> = ids.iter().filter(|other| *other != id).cloned().collect();
                format!("{name:?}~{}", distinct_end(id, &others))
            });
            let shown: Vec<_> = shown.collect();
            Err(format!("several have this name; expected one of {}", shown.join(", ")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [(&str, &str); 4] =
        [("ent_0AAA", "Ada"), ("ent_0BBB", "Husam"), ("ent_0CCC", "HUSAM"), ("ent_0DDD", "a~b")];

    fn find(given: &str) -> Result<&'static str, String> {
        named(given, "agent", ALL.into_iter())
    }

    #[test]
    fn a_name_is_found_however_a_model_writes_it() {
        for given in ["Ada", "ada", "@Ada", "\"Ada\"", " Ada ", "\"Ada\"~0AAA"] {
            assert_eq!(find(given), Ok("ent_0AAA"), "{given}");
        }
        assert_eq!(find("\"Husam\"~0BBB"), Ok("ent_0BBB"));
        assert_eq!(find("a~b"), Ok("ent_0DDD"));
    }

    #[test]
    fn an_unknown_or_ambiguous_name_is_refused() {
        assert!(find("Eve").unwrap_err().starts_with("there is no agent named \"Eve\""));
        assert!(find("Ada~0BBB").is_err());
        assert_eq!(
            find("Husam").unwrap_err(),
            "several have this name; expected one of \"Husam\"~0BBB, \"HUSAM\"~0CCC"
        );
    }
}
