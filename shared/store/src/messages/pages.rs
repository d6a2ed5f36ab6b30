//! What the page of a message's sender offers to the agents that the message triggers. It has an
//! item of its own, because only their runs read it.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use smartspace_domain::{
    client_pages::{ClientPage, PageTool},
    ids::SpaceId,
};

use crate::{
    Messages, Result,
    table::{json_text, keys, write::Write},
};

/// A page, as it is stored: `PAGE#`.
#[derive(Serialize, Deserialize)]
struct PageRecord {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tools: Vec<PageToolRecord>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    context: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PageToolRecord {
    name: String,
    description: String,
    #[serde(with = "json_text")]
    input_schema: Value,
}

impl PageRecord {
    fn of(page: &ClientPage) -> Self {
        let ClientPage { tools, context } = page.clone();
        let tools = tools.into_iter().map(|tool| {
            let PageTool { name, description, input_schema } = tool;
            PageToolRecord { name, description, input_schema }
        });
        Self { tools: tools.collect(), context }
    }

    fn view(self) -> ClientPage {
        let tools = self.tools.into_iter().map(|tool| {
            let PageToolRecord { name, description, input_schema } = tool;
            PageTool { name, description, input_schema }
        });
        ClientPage { tools: tools.collect(), context: self.context }
    }
}

/// The write of the page that a new message comes with.
pub(super) fn page_write(space: SpaceId, seq: u64, page: &ClientPage) -> Result<Write> {
    Write::put(keys::numbered(space, keys::PAGE, seq), &PageRecord::of(page))
}

impl Messages<'_> {
    /// What the page of a message's sender offers. `None` if it offers nothing, or if the message
    /// was deleted.
    pub async fn page(self, space: SpaceId, seq: u64) -> Result<Option<ClientPage>> {
        let key = keys::numbered(space, keys::PAGE, seq);
        let record: Option<PageRecord> = self.store.table.get(&key).await?;
        Ok(record.map(PageRecord::view))
    }
}
