//! Checks what the page of a message's sender offers to agents.

use smartspace_domain::{
    Result,
    access::{Caller, SpaceAction},
    client_pages::ClientPage,
    ids::SpaceId,
};

use crate::Pipeline;

impl Pipeline {
    /// Checks a page that comes with a message to a space. No tool of it may have the name of a
    /// tool of an agent there: the agent would call the page's instead of its own.
    pub async fn check_page(
        &self,
        caller: Caller,
        space: SpaceId,
        page: &ClientPage,
    ) -> Result<()> {
        page.check()?;
        if page.tools.is_empty() {
            return Ok(());
        }
        // The names of tools are no business of a stranger.
        self.authorise(caller, SpaceAction::Post, space).await?;
        let rosters = Box::pin(self.store.members().rosters(&[space])).await?;
        let agents: Vec<_> = rosters.iter().flat_map(|roster| roster.agents()).collect();
        let agents = self.store.entities().agents(&agents).await?;
        let named = agents.iter().filter_map(|it| Some((it.name.as_str(), it.agent.as_ref()?)));
        page.check_names(&named.collect::<Vec<_>>())
    }
}
