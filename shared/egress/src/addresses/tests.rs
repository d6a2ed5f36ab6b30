use proptest::prelude::*;

use crate::addresses::*;

/// The first and the last address of each refused range. They are independent of the tables.
const REFUSED: [&str; 45] = [
    "0.0.0.0-0.255.255.255",
    "10.0.0.0-10.255.255.255",
    "100.64.0.0-100.127.255.255",
    "127.0.0.0-127.255.255.255",
    "168.63.129.16-168.63.129.16",
    "169.254.0.0-169.254.255.255",
    "172.16.0.0-172.31.255.255",
    "192.0.0.0-192.0.0.255",
    "192.0.2.0-192.0.2.255",
    "192.88.99.0-192.88.99.255",
    "192.168.0.0-192.168.255.255",
    "198.18.0.0-198.19.255.255",
    "198.51.100.0-198.51.100.255",
    "203.0.113.0-203.0.113.255",
    "224.0.0.0-239.255.255.255",
    "240.0.0.0-255.255.255.255",
    "::-1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    "::-::ffff:ffff",
    "::1-::1",
    "::ffff:0.0.0.0-::ffff:255.255.255.255",
    "64:ff9b::-64:ff9b::ffff:ffff",
    "64:ff9b:1::-64:ff9b:1:ffff:ffff:ffff:ffff:ffff",
    "100::-100::ffff:ffff:ffff:ffff",
    "2001::-2001:0:ffff:ffff:ffff:ffff:ffff:ffff",
    "2001:1::1-2001:1::3",
    "2001:2::-2001:2:0:ffff:ffff:ffff:ffff:ffff",
    "2001:3::-2001:3:ffff:ffff:ffff:ffff:ffff:ffff",
    "2001:10::-2001:1f:ffff:ffff:ffff:ffff:ffff:ffff",
    "2001:20::-2001:2f:ffff:ffff:ffff:ffff:ffff:ffff",
    "2001:db8::-2001:db8:ffff:ffff:ffff:ffff:ffff:ffff",
    "2002::-2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    "3fff::-3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff",
    "4000::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    "5f00::-5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    "fc00::-fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    "fd00:ec2::254-fd00:ec2::254",
    "fe80::-febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    "fec0::-feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    "ff00::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    "::127.0.0.1-::127.0.0.1",
    "::ffff:127.0.0.1-::ffff:127.0.0.1",
    "::ffff:8.8.8.8-::ffff:8.8.8.8",
    "64:ff9b::7f00:1-64:ff9b::7f00:1",
    "2002:7f00:1::-2002:7f00:1::",
    "100.100.100.200-100.100.100.200",
];

/// The neighbours of the ranges, and some well-known public addresses.
const PUBLIC: [&str; 44] = [
    "1.0.0.0",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "126.255.255.255",
    "128.0.0.0",
    "168.63.129.15",
    "168.63.129.17",
    "169.253.255.255",
    "169.255.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "191.255.255.255",
    "192.0.1.0",
    "192.0.1.255",
    "192.0.3.0",
    "192.88.98.255",
    "192.88.100.0",
    "192.167.255.255",
    "192.169.0.0",
    "198.17.255.255",
    "198.20.0.0",
    "198.51.99.255",
    "198.51.101.0",
    "203.0.112.255",
    "203.0.114.0",
    "223.255.255.255",
    "1.1.1.1",
    "8.8.8.8",
    "93.184.215.14",
    "2000::",
    "2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    "2001:200::",
    "2001:4860:4860::8888",
    "2001:db7:ffff:ffff:ffff:ffff:ffff:ffff",
    "2001:db9::",
    "2003::",
    "2606:4700:4700::1111",
    "2600:1f18::1",
    "2a00:1450:4001:81b::200e",
    "3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    "3fff:1000::",
    "3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
];

fn ranges() -> Vec<[IpAddr; 2]> {
    let range = |range: &&str| {
        let (first, last) = range.split_once('-').unwrap();
        [first, last].map(|address| address.parse().unwrap())
    };
    REFUSED.iter().map(range).collect()
}

#[test]
fn both_ends_of_every_range_are_refused_and_its_neighbours_are_allowed() {
    let allowed: Vec<_> =
        ranges().into_iter().flatten().filter(|address| is_public(*address)).collect();
    assert_eq!(allowed, [] as [IpAddr; 0]);
    let refused: Vec<IpAddr> = PUBLIC
        .iter()
        .map(|address| address.parse().unwrap())
        .filter(|address| !is_public(*address))
        .collect();
    assert_eq!(refused, [] as [IpAddr; 0]);
}

#[test]
fn a_refused_address_has_a_description() {
    let description = |address: &str| special(address.parse().unwrap()).unwrap_or("public");
    let addresses = [
        "127.0.0.1",
        "169.254.169.254",
        "192.168.1.1",
        "255.255.255.255",
        "::1",
        "::127.0.0.1",
        "fd00::1",
        "4000::",
        "8.8.8.8",
    ];
    let expected = [
        "an address of this machine",
        "a link-local address",
        "an address of a private network",
        "the broadcast address",
        "an address of this machine",
        "an address with an IPv4 address in it",
        "an address of a private network",
        "a reserved address",
        "public",
    ];
    assert_eq!(addresses.map(description), expected);
}

proptest! {
    #[test]
    fn every_address_of_a_range_is_refused(range in prop::sample::select(ranges()), random: u128) {
        let address: IpAddr = match range {
            [IpAddr::V4(first), IpAddr::V4(last)] => {
                let size = u128::from(last.to_bits() - first.to_bits()) + 1;
                Ipv4Addr::from_bits(first.to_bits() + (random % size) as u32).into()
            }
            [IpAddr::V6(first), IpAddr::V6(last)] => {
                let size = (last.to_bits() - first.to_bits()).saturating_add(1);
                Ipv6Addr::from_bits(first.to_bits() + random % size).into()
            }
            mixed => panic!("{mixed:?}"),
        };
        prop_assert!(!is_public(address), "{address}");
    }

    #[test]
    fn every_ipv6_form_of_an_ipv4_address_is_refused(address: u32) {
        let bits = u128::from(address);
        let spellings = [
            bits,
            0xffff << 32 | bits,
            0x64_ff9b << 96 | bits,
            0x64_ff9b_0001 << 80 | bits,
            0x2002 << 112 | bits << 80,
            0x2001 << 112 | bits,
        ];
        for spelling in spellings.map(Ipv6Addr::from_bits) {
            prop_assert!(!is_public(spelling.into()), "{spelling}");
        }
    }
}
