//! Where a name leads: the addresses that are checked are the very ones that are connected to, so a name that changes in between gains nothing.

use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use smartspace_edges::names::Names;

use crate::addresses;

/// A name leads nowhere, or to where tools may not go; the text is for the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refused {
    /// It is not in the lists of names, or they could not be read.
    #[error("{0} could not be reached: no address was found for it")]
    NotFound(String),
    /// It leads to what is not public. Which address that is stays untold: it says how a network looks from within.
    #[error("{0} leads to {1}, where tools may not go unless it is allowed by name")]
    Special(String, &'static str),
}

/// Resolves names that lead to public addresses only.
pub(super) struct PublicOnly(pub(super) Arc<dyn Names>);

/// Resolves names that the deployment allows, wherever they lead.
pub(super) struct Anywhere(pub(super) Arc<dyn Names>);

impl Resolve for PublicOnly {
    fn resolve(&self, name: Name) -> Resolving {
        let names = Arc::clone(&self.0);
        Box::pin(async move {
            let host = name.as_str();
            let addresses = addresses_of(names.as_ref(), host).await?;
            // One that is not public refuses all: a host with both is no mistake, but wants us to try them in turn.
            match addresses.iter().find_map(|address| addresses::special(*address)) {
                Some(special) => Err(Refused::Special(host.to_owned(), special).into()),
                None => Ok(to_connect_to(addresses)),
            }
        })
    }
}

impl Resolve for Anywhere {
    fn resolve(&self, name: Name) -> Resolving {
        let names = Arc::clone(&self.0);
        Box::pin(async move { Ok(to_connect_to(addresses_of(names.as_ref(), name.as_str()).await?)) })
    }
}

async fn addresses_of(names: &dyn Names, host: &str) -> Result<Vec<IpAddr>, Refused> {
    match names.addresses(host).await {
        // Some resolvers give an IPv4 address as an IPv6 one: it is judged, and connected to, as what it is.
        Ok(found) if !found.is_empty() => Ok(found.into_iter().map(|address| address.to_canonical()).collect()),
        found => {
            tracing::info!(host, error = ?found.err(), "no address of a host was found");
            Err(Refused::NotFound(host.to_owned()))
        }
    }
}

/// Port 0 stands for the port of the request.
fn to_connect_to(addresses: Vec<IpAddr>) -> Addrs {
    Box::new(addresses.into_iter().map(|address| SocketAddr::new(address, 0)))
}
