//! Addresses that tools must not reach: this machine, its networks, and other special ranges.
//!
//! The ranges come from IANA's registries of special-purpose addresses (RFC 6890). They are written
//! out here for two reasons: stable `std::net` knows only some of them (`is_global` is unstable),
//! and a security rule should not change with the compiler.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A refused range: its first address, the length of its prefix in bits, and what its addresses
/// are.
type Range<Bits> = (Bits, u32, &'static str);

/// If an address is in several ranges, the first one describes it.
const V4: [Range<Ipv4Addr>; 17] = [
    (Ipv4Addr::UNSPECIFIED, 8, "an address of this machine"),
    (Ipv4Addr::new(10, 0, 0, 0), 8, "an address of a private network"),
    (Ipv4Addr::new(100, 64, 0, 0), 10, "an address of a provider's own network"),
    (Ipv4Addr::new(127, 0, 0, 0), 8, "an address of this machine"),
    // Azure's agent and metadata service. The address looks public.
    (Ipv4Addr::new(168, 63, 129, 16), 32, "an address of a cloud's metadata"),
    // Includes 169.254.169.254, where most clouds offer metadata with credentials.
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

/// As in [`V4`], the first range describes an address. Every address of `2000::/3` outside these
/// ranges is public.
const V6: [Range<Ipv6Addr>; 14] = [
    (Ipv6Addr::LOCALHOST, 128, "an address of this machine"),
    (Ipv6Addr::UNSPECIFIED, 128, "an address of this machine"),
    // Refused even if the embedded IPv4 address is public: this form only serves to bypass checks.
    (Ipv6Addr::UNSPECIFIED, 96, "an address with an IPv4 address in it"),
    (Ipv6Addr::new(0, 0, 0, 0, 0, 0xffff, 0, 0), 96, "an address with an IPv4 address in it"),
    (Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0), 96, "an address with an IPv4 address in it"),
    (Ipv6Addr::new(0x64, 0xff9b, 1, 0, 0, 0, 0, 0), 48, "an address with an IPv4 address in it"),
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16, "an address with an IPv4 address in it"),
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 32, "an address with an IPv4 address in it"),
    // The block for protocols: benchmarking (2001:2::/48), ORCHID (2001:10::/28, 2001:20::/28) and
    // others. No public service uses it.
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23, "an address with a special use"),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32, "an address for documentation"),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20, "an address for documentation"),
    (Ipv6Addr::new(0xfc00, 0, 0, 0, 0, 0, 0, 0), 7, "an address of a private network"),
    (Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 0), 10, "a link-local address"),
    (Ipv6Addr::new(0xff00, 0, 0, 0, 0, 0, 0, 0), 8, "a multicast address"),
];

/// Whether tools may reach an address without an entry in `SMARTSPACE_TOOL_HOSTS`.
pub fn is_public(address: IpAddr) -> bool {
    special(address).is_none()
}

/// Describes an address that is not public, for example as "a link-local address". Returns `None`
/// for a public address.
pub(crate) fn special(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(address) => {
            V4.iter().find(|range| contains_v4(range, address)).map(|range| range.2)
        }
        IpAddr::V6(address) => match V6.iter().find(|range| contains_v6(range, address)) {
            Some(range) => Some(range.2),
            // IANA has assigned only the global unicast range.
            None => (address.segments()[0] & 0xe000 != 0x2000).then_some("a reserved address"),
        },
    }
}

fn contains_v4(range: &Range<Ipv4Addr>, address: Ipv4Addr) -> bool {
    let (first, bits, _) = range;
    (first.to_bits() ^ address.to_bits()).leading_zeros() >= *bits
}

fn contains_v6(range: &Range<Ipv6Addr>, address: Ipv6Addr) -> bool {
    let (first, bits, _) = range;
    (first.to_bits() ^ address.to_bits()).leading_zeros() >= *bits
}

#[cfg(test)]
mod tests;
