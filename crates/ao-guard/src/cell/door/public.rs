//! Addresses that a name may lead to.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

/// Whether an address is out in the internet, and is not one that this machine has there.
pub(super) fn is_away(address: IpAddr) -> bool {
    is_public(address) && !is_own(address)
}

/// Whoever talks to himself has the same address on both ends. Nothing is sent.
fn is_own(address: IpAddr) -> bool {
    const ANY_PORT: u16 = 9;
    let here: IpAddr = match address {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let own = || {
        let socket = UdpSocket::bind((here, 0))?;
        socket.connect((address, ANY_PORT))?;
        socket.local_addr()
    };
    // What cannot be reached is not here.
    own().is_ok_and(|own: SocketAddr| own.ip() == address)
}

/// Whether an address is out in the internet, and not of this machine or its neighbours.
fn is_public(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => {
            let [a, b, ..] = address.octets();
            !(address.is_loopback()
                || address.is_private()
                || address.is_link_local()
                || address.is_unspecified()
                || address.is_broadcast()
                || address.is_multicast()
                || address.is_documentation()
                || a == 0
                || (a == 100 && (64..128).contains(&b))
                || (a == 198 && (18..20).contains(&b))
                || a >= 240)
        }
        IpAddr::V6(address) => {
            const TRANSLATED: u16 = 0x64;
            const SITE: u16 = 0xfec0;
            let [first, second, ..] = address.segments();
            // Some have an address of the older kind in them, to which somebody else leads.
            let old = match address.octets() {
                [0x20, 0x02, a, b, c, d, ..] => Some([a, b, c, d]),
                [.., a, b, c, d] if (first, second) == (TRANSLATED, 0xff9b) => Some([a, b, c, d]),
                [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, a, b, c, d] => Some([a, b, c, d]),
                _ => None,
            };
            if let Some(old) = old {
                return is_public(IpAddr::V4(old.into()));
            }
            !(first & 0xffc0 == SITE
                || address.is_loopback()
                || address.is_unspecified()
                || address.is_multicast()
                || address.is_unique_local()
                || address.is_unicast_link_local())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_internet_is_public() {
        for private in [
            "127.0.0.1",
            "10.0.0.1",
            "172.16.0.1",
            "192.168.0.1",
            "169.254.169.254",
            "0.0.0.0",
            "100.64.0.1",
            "::1",
            "::ffff:127.0.0.1",
            "fe80::1",
            "fd00::1",
            "255.255.255.255",
            "::127.0.0.1",
            "64:ff9b::10.0.0.1",
            "2002:7f00:1::1",
            "fec0::1",
        ] {
            assert!(!is_public(private.parse().unwrap()), "{private}");
        }
        assert!(is_public("93.184.216.34".parse().unwrap()));
        assert!(is_public("2606:2800:220:1::1".parse().unwrap()));
        assert!(is_public("64:ff9b::93.184.216.34".parse().unwrap()));
    }

    #[test]
    fn an_address_that_this_machine_has_is_its_own() {
        assert!(is_own(Ipv4Addr::LOCALHOST.into()));
        assert!(!is_own("192.0.2.1".parse().unwrap()));
    }
}
