//! Tools of the pages of the members whose messages the run answers. A call is a card without a
//! question: the member's client sees it there, runs it, and answers it like a form.

use serde_json::{Value, json};
use smartspace_domain::{
    Result,
    client_pages::PageTool,
    ids::{EntityId, SpaceId},
    limits::{OPEN_FORMS, PAGE_CALL_OPEN_FOR},
    messages::Sender,
    steps::CallStatus,
    tools::AnswerBy,
};
use smartspace_store::messages::append::NewForm;

use crate::{
    prompt::{format::Quoted, reading::SenderPage},
    tools::{
        calling::{Calling, Outcome},
        configured::{Configured, ToolKind, card::CardOutcome},
    },
};

/// How the card of a call stores that it is no form. The API does not show it.
const UI: &str = "page";

/// The tools of pages, the first of those with the same name, but for those with a name that is
/// taken: a server may have got a new tool since the message was posted.
pub(crate) fn of_pages(
    pages: &[SenderPage],
    space: SpaceId,
    is_taken: impl Fn(&str) -> bool,
) -> Vec<Configured> {
    let mut tools: Vec<Configured> = Vec::new();
    for SenderPage { sender, page, .. } in pages {
        for tool in &page.tools {
            let is_known = tools.iter().any(|known| known.name == tool.name);
            if !is_known && !is_taken(&tool.name) {
                tools.push(configured(tool, sender, space));
            }
        }
    }
    tools
}

fn configured(tool: &PageTool, sender: &Sender, space: SpaceId) -> Configured {
    let PageTool { name, description, input_schema } = tool.clone();
    let mut input_schema = if input_schema.is_object() { input_schema } else { json!({}) };
    if let Some(schema) = input_schema.as_object_mut() {
        // Providers refuse any other type.
        schema.insert("type".to_owned(), json!("object"));
    }
    let description = format!("Acts on the page of {}: {description}", Quoted(&sender.name));
    Configured {
        name,
        description: description.trim_end_matches([':', ' ']).to_owned(),
        input_schema,
        is_visible: true,
        is_read_only: false,
        is_idempotent: false,
        // The client follows this space, whatever space is active.
        target: Some(space),
        kind: ToolKind::Page(sender.id),
        validator: std::sync::OnceLock::new(),
    }
}

/// Shows a call to the client of `member`. The run waits for its result after all other calls of
/// the same answer are done.
pub(super) async fn call_page(
    calling: &Calling<'_>,
    space: Option<SpaceId>,
    input: Value,
    member: EntityId,
) -> Result<Outcome> {
    let Some(space) = space else { return Ok(Outcome::error("there is no space of the page")) };
    if calling.open_forms >= OPEN_FORMS {
        return Ok(Outcome::error(format!(
            "expected at most {OPEN_FORMS} open calls at once; call it again when these are \
             answered"
        )));
    }
    if calling.step + 1 >= calling.context.config.run_loop.max_steps {
        return Ok(Outcome::error(
            "this is your last step: you would not read the result. Nothing was done",
        ));
    }
    let form = NewForm {
        ui: UI.to_owned(),
        result_schema: None,
        answer_by: AnswerBy::Entities(vec![member]),
        until: calling.context.now() + PAGE_CALL_OPEN_FOR,
        approval: None,
        page_of: Some(member),
    };
    let open = Outcome { status: CallStatus::Pending, ..Outcome::completed(Value::Null) };
    match calling.post_card(space, input, open, Some(form)).await? {
        CardOutcome::Posted(_, outcome) | CardOutcome::Refused(outcome) => Ok(outcome),
    }
}

#[cfg(test)]
mod tests {
    use smartspace_domain::{Time, client_pages::ClientPage, entities::EntityType};

    use super::*;
    use crate::tools::tool::Tool;

    #[test]
    fn a_tool_of_a_page_is_offered_with_its_member_and_without_a_choice_of_the_space() {
        let page: ClientPage = serde_json::from_value(json!({"tools": [
            {"name": "set_color", "description": "Sets the color.", "inputSchema": {
                "properties": {"color": {"type": "string"}}, "required": ["color"],
            }},
            {"name": "reload", "inputSchema": true},
            {"name": "shop__price"},
        ]}))
        .unwrap();
        let at = Time::from_millis(1);
        let sender = Sender {
            id: EntityId::new(at, 1),
            name: "Omar \"O\"".into(),
            kind: EntityType::Human,
            guest: false,
        };
        let space = SpaceId::new(at, 2);
        let pages = [SenderPage { seq: 1, sender, page }];
        let tools = of_pages(&pages, space, |name| name == "shop__price");
        let offered: Vec<_> = tools.iter().map(Tool::spec).collect();
        let offered: Vec<_> =
            offered.iter().map(|spec| (&*spec.name, &*spec.description, &spec.input)).collect();
        let set_color = json!({
            "properties": {"color": {"type": "string"}}, "required": ["color"], "type": "object",
        });
        let reload = json!({"type": "object"});
        let page_of = r#"Acts on the page of "Omar \"O\"""#;
        let described = format!("{page_of}: Sets the color.");
        assert_eq!(
            offered,
            [("set_color", described.as_str(), &set_color), ("reload", page_of, &reload)]
        );
        let (shown_in, input) = tools[0].checked(None, json!({"color": "red"})).unwrap();
        assert_eq!((shown_in, input), (Some(space), json!({"color": "red"})));
        assert!(tools[0].checked(None, json!({})).is_err());
    }

    #[test]
    fn of_two_tools_with_the_same_name_the_newest_is_offered_and_each_goes_to_its_own_member() {
        let at = Time::from_millis(1);
        let page = |seq: u64, tools: Value| SenderPage {
            seq,
            sender: Sender {
                id: EntityId::new(at, u128::from(seq)),
                name: format!("Member {seq}"),
                kind: EntityType::Human,
                guest: false,
            },
            page: serde_json::from_value(json!({"tools": tools})).unwrap(),
        };
        let pages = [
            page(9, json!([{"name": "set_color"}])),
            page(8, json!([{"name": "set_color"}, {"name": "reload"}])),
        ];
        let tools = of_pages(&pages, SpaceId::new(at, 2), |_| false);
        let members = tools.iter().map(|tool| match tool.kind {
            ToolKind::Page(member) => (tool.name.as_str(), member),
            _ => panic!("{} is no tool of a page", tool.name),
        });
        let members: Vec<_> = members.collect();
        let id = |number| EntityId::new(at, number);
        assert_eq!(members, [("set_color", id(9)), ("reload", id(8))]);
    }
}
