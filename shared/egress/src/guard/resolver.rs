//! Resolves names. The client connects to exactly the addresses that were checked here, so a name
//! that changes its address after the check can't bypass it.

use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use smartspace_ports::resolver::Resolver;

use crate::addresses;

/// Ends the refusal of an address that is not public. It quotes no entry of the list, because
/// models read it and the list describes an internal network.
pub(super) const NOT_LISTED: &str = "which tools may reach only if SMARTSPACE_TOOL_HOSTS lists \
                                     this host, either alone or with this port";

/// Why a name can't be used. The text is for the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refused {
    /// The name does not exist, or the lookup failed.
    #[error("{0} could not be reached: no address was found for it")]
    NotFound(String),
    /// The name has an address that is not public. The text does not contain the address, which
    /// would reveal the structure of an internal network.
    #[error("{0} resolves to {1}, {NOT_LISTED}", NOT_LISTED = NOT_LISTED)]
    Special(String, &'static str),
}

/// Resolves names whose addresses are all public.
pub(super) struct PublicOnly(pub(super) Arc<dyn Resolver>);

/// Resolves names that the deployment allows, to any address.
pub(super) struct Anywhere(pub(super) Arc<dyn Resolver>);

impl Resolve for PublicOnly {
    fn resolve(&self, name: Name) -> Resolving {
        let resolver = Arc::clone(&self.0);
        Box::pin(async move {
            let host = name.as_str();
            let addresses = addresses_of(resolver.as_ref(), host).await?;
            // One address that is not public refuses the name. A mix of both kinds is an attack:
            // the client would try the addresses in turn.
            match addresses.iter().find_map(|address| addresses::special(*address)) {
                Some(special) => Err(Refused::Special(host.to_owned(), special).into()),
                None => Ok(to_connect_to(addresses)),
            }
        })
    }
}

impl Resolve for Anywhere {
    fn resolve(&self, name: Name) -> Resolving {
        let resolver = Arc::clone(&self.0);
        Box::pin(
            async move { Ok(to_connect_to(addresses_of(resolver.as_ref(), name.as_str()).await?)) },
        )
    }
}

async fn addresses_of(resolver: &dyn Resolver, host: &str) -> Result<Vec<IpAddr>, Refused> {
    match resolver.addresses(host).await {
        // Some resolvers return an IPv4 address in its IPv6 form. The check and the connection use
        // the IPv4 form.
        Ok(found) if !found.is_empty() => {
            Ok(found.into_iter().map(|address| address.to_canonical()).collect())
        }
        found => {
            tracing::info!(host, error = ?found.err(), "no address of a host was found");
            Err(Refused::NotFound(host.to_owned()))
        }
    }
}

/// Port 0 means the port of the request.
fn to_connect_to(addresses: Vec<IpAddr>) -> Addrs {
    Box::new(addresses.into_iter().map(|address| SocketAddr::new(address, 0)))
}
