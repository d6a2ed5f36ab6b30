//! Which spaces a search is in, and whose messages it is for: the names of a query become ids.

use std::collections::BTreeSet;

use futures::future::try_join_all;
use smartspace_domain::{
    Error, Result,
    access::{Caller, SpaceAction},
    ids::{EntityId, SpaceId},
    mentions,
    search::Query,
};
use smartspace_store::inbox::InboxSpace;

use super::SearchScope;
use crate::Pipeline;

/// How many spaces' members are read at once.
const ROSTERS_AT_ONCE: usize = 32;

impl SearchScope {
    pub(super) fn caller(&self) -> Caller {
        match self {
            Self::Member(entity) | Self::Agent { agent: entity, .. } => Caller::Entity(*entity),
            Self::Operator => Caller::Operator,
        }
    }
}

impl Pipeline {
    /// The spaces that a search may read. The caller may have left those that the query does not
    /// name: its memberships are read again after its messages.
    pub(super) async fn searched_spaces(
        &self,
        scope: &SearchScope,
        query: &Query,
    ) -> Result<Vec<SpaceId>> {
        let own = match scope {
            SearchScope::Member(entity) => self.store.entities().spaces_of(*entity).await?,
            SearchScope::Agent { spaces, .. } => spaces.clone(),
            SearchScope::Operator => Vec::new(),
        };
        let own: BTreeSet<_> = own.into_iter().collect();
        if query.spaces.is_empty() {
            return match scope {
                SearchScope::Operator => Err(no_space_of_operator()),
                SearchScope::Member(_) | SearchScope::Agent { .. } => Ok(own.into_iter().collect()),
            };
        }
        let named = self.named_spaces(scope, query, &own).await?;
        let mut lists = query.spaces.iter().map(|list| ids_of(list, &named));
        let mut found = lists.next().transpose()?.unwrap_or_default();
        for list in lists {
            let list = list?;
            found.retain(|space| list.contains(space));
        }
        Ok(found.into_iter().collect())
    }

    /// The spaces that a query may name, as far as the caller is in them.
    async fn named_spaces(
        &self,
        scope: &SearchScope,
        query: &Query,
        own: &BTreeSet<SpaceId>,
    ) -> Result<Vec<InboxSpace>> {
        let texts = || query.spaces.iter().flatten();
        let mut wanted: BTreeSet<SpaceId> = texts().filter_map(|text| text.parse().ok()).collect();
        if *scope == SearchScope::Operator {
            let is_wrong_id =
                |text: &String| text.starts_with("spc_") && text.parse::<SpaceId>().is_err();
            if texts().any(is_wrong_id) {
                return Err(Error::invalid("/spaceId", "expected the id of a space"));
            }
            if wanted.is_empty() {
                return Err(no_space_of_operator());
            }
        }
        if texts().any(|text| text.parse::<SpaceId>().is_err()) {
            wanted.extend(own);
        }
        if matches!(scope, SearchScope::Agent { .. }) {
            wanted.retain(|space| own.contains(space));
        }
        let wanted: Vec<_> = wanted.into_iter().collect();
        let caller = scope.caller();
        let mut spaces = self.store.inbox().spaces(&wanted, caller.entity()).await?;
        spaces.retain(|space| caller.may_in_space(SpaceAction::Read, space.membership).is_ok());
        Ok(spaces)
    }

    /// Sets the senders that a query names, if it names any.
    pub(super) async fn find_senders(
        &self,
        scope: &SearchScope,
        query: &mut Query,
        spaces: &[SpaceId],
    ) -> Result<()> {
        if query.from.is_empty() {
            return Ok(());
        }
        let mut present = Vec::new();
        for some in spaces.chunks(ROSTERS_AT_ONCE) {
            for roster in self.store.members().rosters(some).await? {
                let names = roster.names().map(|(id, name)| (id, mentions::fold(name)));
                present.extend(names);
            }
        }
        let mut senders: Option<BTreeSet<EntityId>> = None;
        for list in &query.from {
            let mut meant = BTreeSet::new();
            for text in list {
                let found = self.senders_of(scope, text, spaces, &present).await?;
                if found.is_empty() {
                    return Err(no_such_sender());
                }
                meant.extend(found);
            }
            senders = Some(match senders {
                Some(before) => before.intersection(&meant).copied().collect(),
                None => meant,
            });
        }
        query.set_senders(senders.unwrap_or_default());
        Ok(())
    }

    /// The entities that `text` means: `me`, or those with this id or name that are, or else were,
    /// in one of the spaces.
    async fn senders_of(
        &self,
        scope: &SearchScope,
        text: &str,
        spaces: &[SpaceId],
        present: &[(EntityId, String)],
    ) -> Result<BTreeSet<EntityId>> {
        let own = scope.caller().entity();
        if let Ok(id) = text.parse::<EntityId>() {
            let is_known = own == Some(id)
                || present.iter().any(|(present, _)| *present == id)
                || self.store.members().has_left_any(spaces, id).await?;
            return Ok(is_known.then_some(id).into_iter().collect());
        }
        let name = mentions::fold(text.trim_start_matches('@'));
        if name == "me" {
            let own = own.ok_or_else(|| Error::invalid("/from", "the operator is not a sender"))?;
            return Ok(BTreeSet::from([own]));
        }
        let named = present.iter().filter(|(_, present)| *present == name);
        let named: BTreeSet<_> = named.map(|(id, _)| *id).collect();
        if !named.is_empty() {
            return Ok(named);
        }
        let mut past = BTreeSet::new();
        for some in spaces.chunks(ROSTERS_AT_ONCE) {
            let members = some.iter().map(|space| self.store.members().all_past(*space));
            let members = try_join_all(members).await?.into_iter().flatten();
            let named = members.filter(|member| mentions::fold(&member.name) == name);
            past.extend(named.map(|member| member.entity_id));
        }
        Ok(past)
    }
}

/// The spaces that a list names by id or by name.
fn ids_of(list: &[String], spaces: &[InboxSpace]) -> Result<BTreeSet<SpaceId>> {
    let mut ids = BTreeSet::new();
    for text in list {
        let id: Option<SpaceId> = text.parse().ok();
        let name = mentions::fold(text);
        let is_meant = |space: &InboxSpace| match id {
            Some(id) => space.id == id,
            None => mentions::fold(&space.name) == name,
        };
        let meant = spaces.iter().filter(|space| is_meant(space)).map(|space| space.id);
        let meant: Vec<_> = meant.collect();
        if meant.is_empty() {
            return Err(no_such_space());
        }
        ids.extend(meant);
    }
    Ok(ids)
}

/// The answer to a space that the caller is not in.
fn no_such_space() -> Error {
    Error::NotFound("there is no such space".into())
}

/// The answer to a sender that none of the spaces knows, whether or not others know it.
fn no_such_sender() -> Error {
    Error::NotFound("there is no such space or sender".into())
}

fn no_space_of_operator() -> Error {
    Error::invalid("/spaceId", "expected spaceId: the operator searches named spaces")
}
