//! Where nobody may go: addresses of this machine, of its networks, and of what is special.
//!
//! Written out, because `std::net` says of few ranges on stable what they are (`is_global` is not), and because a rule that keeps agents in
//! should not change with a compiler. From IANA's registries of special-purpose addresses (RFC 6890).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A range that is refused: where it begins, how many leading bits make it, and what its addresses are.
type Range<Bits> = (Bits, u32, &'static str);

/// The first that fits says what an address is.
const V4: [Range<Ipv4Addr>; 17] = [
    (Ipv4Addr::UNSPECIFIED, 8, "an address of this machine"),
    (Ipv4Addr::new(10, 0, 0, 0), 8, "an address of a private network"),
    (Ipv4Addr::new(100, 64, 0, 0), 10, "an address of a provider's own network"),
    (Ipv4Addr::new(127, 0, 0, 0), 8, "an address of this machine"),
    // Azure's agent and its metadata: an address that looks public.
    (Ipv4Addr::new(168, 63, 129, 16), 32, "an address of a cloud's metadata"),
    // 169.254.169.254 among them: the metadata, with credentials, of most clouds.
    (Ipv4Addr::new(169, 254, 0, 0), 16, "a link-local address"),
    (Ipv4Addr::new(172, 16, 0, 0), 12, "an address of a private network"),
    (Ipv4Addr::new(192, 0, 0, 0), 24, "an address with a special use"),
    (Ipv4Addr::new(192, 0, 2, 0), 24, "an address for documentation"),
    (Ipv4Addr::new(192, 88, 99, 0), 24, "an address of a tunnel"),
    (Ipv4Addr::new(192, 168, 0, 0), 16, "an address of a private network"),
    (Ipv4Addr::new(198, 18, 0, 0), 15, "an address for measuring networks"),
    (Ipv4Addr::new(198, 51, 100, 0), 24, "an address for documentation"),
    (Ipv4Addr::new(203, 0, 113, 0), 24, "an address for documentation"),
    (Ipv4Addr::new(224, 0, 0, 0), 4, "a multicast address"),
    (Ipv4Addr::BROADCAST, 32, "the broadcast address"),
    (Ipv4Addr::new(240, 0, 0, 0), 4, "a reserved address"),
];

/// Here too; of `2000::/3` what no row names is public.
const V6: [Range<Ipv6Addr>; 14] = [
    (Ipv6Addr::LOCALHOST, 128, "an address of this machine"),
    (Ipv6Addr::UNSPECIFIED, 128, "an address of this machine"),
    // However harmless the IPv4 address in it looks: who spells it so wants to get around something.
    (Ipv6Addr::UNSPECIFIED, 96, "an address with an IPv4 address in it"),
    (Ipv6Addr::new(0, 0, 0, 0, 0, 0xffff, 0, 0), 96, "an address with an IPv4 address in it"),
    (Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0), 96, "an address with an IPv4 address in it"),
    (Ipv6Addr::new(0x64, 0xff9b, 1, 0, 0, 0, 0, 0), 48, "an address with an IPv4 address in it"),
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16, "an address with an IPv4 address in it"),
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 32, "an address with an IPv4 address in it"),
    // The protocols' own block: measuring (2001:2::/48), ORCHID (2001:10::/28, 2001:20::/28) and others, none of which serves anything.
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23, "an address with a special use"),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32, "an address for documentation"),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20, "an address for documentation"),
    (Ipv6Addr::new(0xfc00, 0, 0, 0, 0, 0, 0, 0), 7, "an address of a private network"),
    (Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 0), 10, "a link-local address"),
    (Ipv6Addr::new(0xff00, 0, 0, 0, 0, 0, 0, 0), 8, "a multicast address"),
];

/// Whether a tool may reach an address without its host being allowed by name.
pub fn is_public(address: IpAddr) -> bool {
    special(address).is_none()
}

/// What an address is, such as "a link-local address", where it is not public.
pub(crate) fn special(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(address) => V4.iter().find(|range| holds_v4(range, address)).map(|range| range.2),
        IpAddr::V6(address) => match V6.iter().find(|range| holds_v6(range, address)) {
            Some(range) => Some(range.2),
            // Global unicast is all that was ever given out.
            None => (address.segments()[0] & 0xe000 != 0x2000).then_some("a reserved address"),
        },
    }
}

fn holds_v4((first, bits, _): &Range<Ipv4Addr>, address: Ipv4Addr) -> bool {
    (first.to_bits() ^ address.to_bits()).leading_zeros() >= *bits
}

fn holds_v6((first, bits, _): &Range<Ipv6Addr>, address: Ipv6Addr) -> bool {
    (first.to_bits() ^ address.to_bits()).leading_zeros() >= *bits
}

#[cfg(test)]
mod tests;
