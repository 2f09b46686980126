//! Where an address leads, and whether something a server merely names may be there. What a
//! person configured may be anywhere; what a server says of itself (its authorization server, the
//! target of a redirect) may not send Ambit into networks the server itself is not part of.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Where an address leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// The internet.
    Public,
    /// This machine.
    Loopback,
    /// A network of somebody's own.
    Private,
    /// Nowhere a server has any business: link-local, multicast, reserved, tunnels, and where
    /// clouds keep the credentials of their machines.
    Special,
}

/// Where clouds answer their machines, besides link-local addresses.
const CLOUD_V4: [Ipv4Addr; 2] = [
    Ipv4Addr::new(100, 100, 100, 200),
    Ipv4Addr::new(192, 0, 0, 192),
];
const CLOUD_V6: Ipv6Addr = Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254);

impl Reach {
    /// Of an address.
    pub(crate) fn of(address: IpAddr) -> Reach {
        match address {
            IpAddr::V4(it) => of_v4(it),
            IpAddr::V6(it) => of_v6(it),
        }
    }

    /// Whether something a server names may be here, seen from where the server is.
    pub(crate) fn is_open_to(self, server: Reach) -> bool {
        match self {
            Reach::Public => true,
            Reach::Loopback | Reach::Private => self == server,
            Reach::Special => false,
        }
    }

    /// In words.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Reach::Public => "public",
            Reach::Loopback => "loopback",
            Reach::Private => "private",
            Reach::Special => "special-purpose",
        }
    }
}

fn of_v4(address: Ipv4Addr) -> Reach {
    let [a, b, c, _] = address.octets();
    if CLOUD_V4.contains(&address) {
        return Reach::Special;
    }
    match (a, b, c) {
        (127, ..) => Reach::Loopback,
        _ if address.is_private() => Reach::Private,
        // Carrier-grade NAT, which overlay networks use as well.
        (100, 64..=127, _) => Reach::Private,
        // This network; protocol assignments; 6to4 relays; benchmarks; reserved and broadcast.
        (0, ..) | (192, 0, 0) | (192, 88, 99) | (198, 18 | 19, _) | (240..=255, ..) => {
            Reach::Special
        }
        _ if address.is_link_local() || address.is_multicast() || address.is_documentation() => {
            Reach::Special
        }
        _ => Reach::Public,
    }
}

fn of_v6(address: Ipv6Addr) -> Reach {
    if address == CLOUD_V6 {
        return Reach::Special;
    }
    if address.is_loopback() {
        return Reach::Loopback;
    }
    let [a, b, c, d, e, f, g, h] = address.segments();
    let v4 = |high: u16, low: u16| {
        let [[a, b], [c, d]] = [high.to_be_bytes(), low.to_be_bytes()];
        of_v4(Ipv4Addr::new(a, b, c, d))
    };
    match [a, b, c, d, e, f] {
        // An address of the old kind in a new coat: mapped, compatible, NAT64, 6to4.
        [0, 0, 0, 0, 0, 0xffff] | [0x64, 0xff9b, 0, 0, 0, 0] => v4(g, h),
        [0, 0, 0, 0, 0, 0] if !address.is_unspecified() => v4(g, h),
        [0x2002, ..] => v4(b, c),
        [0xfc00..=0xfdff, ..] => Reach::Private,
        // The rest of what is not global unicast; Teredo, ORCHID, documentation.
        [0x2001, 0..=0x1ff | 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => Reach::Special,
        [0x2000..=0x3fff, ..] => Reach::Public,
        _ => Reach::Special,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADDRESSES: &str = "
        93.184.216.34           public
        8.8.8.8                 public
        2606:4700::1111         public
        127.0.0.1               loopback
        127.8.9.10              loopback
        ::1                     loopback
        ::ffff:127.0.0.1        loopback
        2002:7f00:1::           loopback
        10.0.0.9                private
        172.16.0.1              private
        172.31.255.255          private
        172.32.0.1              public
        192.168.1.1             private
        100.64.0.1              private
        100.128.0.1             public
        fd12:3456::1            private
        fc00::1                 private
        ::ffff:10.0.0.9         private
        64:ff9b::a00:9          private
        64:ff9b::5db8:d822      public
        169.254.169.254         special-purpose
        ::ffff:169.254.169.254  special-purpose
        64:ff9b::a9fe:a9fe      special-purpose
        2002:a9fe:a9fe::        special-purpose
        ::169.254.169.254       special-purpose
        100.100.100.200         special-purpose
        192.0.0.192             special-purpose
        fd00:ec2::254           special-purpose
        fe80::1                 special-purpose
        fec0::1                 special-purpose
        0.0.0.0                 special-purpose
        ::                      special-purpose
        0.1.2.3                 special-purpose
        192.0.2.1               special-purpose
        198.18.0.1              special-purpose
        198.51.100.1            special-purpose
        203.0.113.1             special-purpose
        224.0.0.1               special-purpose
        240.0.0.1               special-purpose
        255.255.255.255         special-purpose
        ff02::1                 special-purpose
        2001:0:4136:e378::1     special-purpose
        2001:db8::1             special-purpose
        64:ff9b:1::1            special-purpose
    ";

    #[test]
    fn every_address_leads_somewhere() {
        let lines = ADDRESSES.lines().map(str::trim);
        for line in lines.filter(|it| !it.is_empty()) {
            let (address, reach) = line.split_once(' ').unwrap();
            let found = Reach::of(address.parse().unwrap());
            assert_eq!(found.as_str(), reach.trim(), "{address}");
        }
    }

    #[test]
    fn what_a_server_names_is_public_or_where_the_server_is() {
        use Reach::{Loopback, Private, Public, Special};
        for (server, open) in [
            (Public, vec![Public]),
            (Loopback, vec![Public, Loopback]),
            (Private, vec![Public, Private]),
            (Special, vec![Public]),
        ] {
            let found = [Public, Loopback, Private, Special];
            let found: Vec<_> = found
                .into_iter()
                .filter(|it| it.is_open_to(server))
                .collect();
            assert_eq!(found, open, "{server:?}");
        }
    }
}
