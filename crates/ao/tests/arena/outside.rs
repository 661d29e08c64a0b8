//! What listens outside.

use std::fs::File;
use std::io::Read;
use std::net::{Ipv4Addr, Ipv6Addr, TcpListener, UdpSocket};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};

use crate::raw;

const COUNTED: usize = 13;

#[derive(Debug)]
pub(crate) struct Listeners {
    tcp4: TcpListener,
    tcp6: Option<TcpListener>,
    udp4: UdpSocket,
    udp6: Option<UdpSocket>,
    stream: UnixListener,
    datagram: UnixDatagram,
    packets: OwnedFd,
    abstract_stream: UnixListener,
    abstract_datagram: UnixDatagram,
    fifo: File,
    /// In the repository.
    pipe: File,
    socket: UnixListener,
    terminal: Option<(OwnedFd, String)>,
    counts: [usize; COUNTED],
}

impl Listeners {
    /// Those with a name in the file system get one in `folder`, or in the repository.
    pub(crate) fn open(folder: &str, repository: &str, name: &str) -> Self {
        let path = |name: &str| format!("{folder}/{name}");
        let read = |path: &str| {
            File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path).unwrap()
        };
        let nameless =
            |kind: &str| SocketAddr::from_abstract_name(format!("{name}-{kind}")).unwrap();
        let packets = raw::call(
            libc::SYS_socket,
            [
                libc::AF_UNIX as usize,
                (libc::SOCK_SEQPACKET | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC) as usize,
                0,
                0,
                0,
                0,
            ],
        )
        .unwrap();
        let (address, length) = raw::unix_address(path("packets").as_bytes());
        raw::call(libc::SYS_bind, [packets, raw::address(&address), length as usize, 0, 0, 0])
            .unwrap();
        raw::call(libc::SYS_listen, [packets, 8, 0, 0, 0, 0]).unwrap();
        let listeners = Self {
            tcp4: TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap(),
            tcp6: TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).ok(),
            udp4: UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap(),
            udp6: UdpSocket::bind((Ipv6Addr::LOCALHOST, 0)).ok(),
            stream: UnixListener::bind(path("stream")).unwrap(),
            datagram: UnixDatagram::bind(path("datagram")).unwrap(),
            packets: raw::owned(packets),
            abstract_stream: UnixListener::bind_addr(&nameless("stream")).unwrap(),
            abstract_datagram: UnixDatagram::bind_addr(&nameless("datagram")).unwrap(),
            fifo: read(&path("fifo")),
            pipe: read(&format!("{repository}/pipe")),
            socket: UnixListener::bind(format!("{repository}/socket")).unwrap(),
            terminal: raw::terminal(),
            counts: [0; COUNTED],
        };
        listeners.tcp4.set_nonblocking(true).unwrap();
        listeners.udp4.set_nonblocking(true).unwrap();
        if let Some(one) = &listeners.tcp6 {
            one.set_nonblocking(true).unwrap();
        }
        if let Some(one) = &listeners.udp6 {
            one.set_nonblocking(true).unwrap();
        }
        listeners.stream.set_nonblocking(true).unwrap();
        listeners.socket.set_nonblocking(true).unwrap();
        listeners.datagram.set_nonblocking(true).unwrap();
        listeners.abstract_stream.set_nonblocking(true).unwrap();
        listeners.abstract_datagram.set_nonblocking(true).unwrap();
        listeners
    }

    pub(crate) fn ports(&self) -> Vec<(String, String)> {
        let mut ports = vec![
            ("TCP4", self.tcp4.local_addr().unwrap().port()),
            ("UDP4", self.udp4.local_addr().unwrap().port()),
        ];
        ports.extend(self.tcp6.iter().map(|one| ("TCP6", one.local_addr().unwrap().port())));
        ports.extend(self.udp6.iter().map(|one| ("UDP6", one.local_addr().unwrap().port())));
        ports.into_iter().map(|(name, port)| (name.to_owned(), port.to_string())).collect()
    }

    pub(crate) fn terminal(&self) -> Option<&str> {
        self.terminal.as_ref().map(|(_, path)| path.as_str())
    }

    /// How much has come through each of them so far.
    pub(crate) fn seen(&mut self) -> Vec<(String, usize)> {
        let mut byte = [0; 4096];
        let accept = |listener: &OwnedFd| {
            raw::call(libc::SYS_accept, [listener.as_raw_fd() as usize, 0, 0, 0, 0, 0])
                .map(|number| drop(raw::owned(number)))
                .is_ok()
        };
        let mut came = [0; COUNTED];
        came[0] = std::iter::from_fn(|| self.tcp4.accept().ok()).count();
        came[1] =
            self.tcp6.iter().map(|one| std::iter::from_fn(|| one.accept().ok()).count()).sum();
        came[2] = std::iter::from_fn(|| self.udp4.recv(&mut byte).ok()).count();
        came[3] = self
            .udp6
            .iter()
            .map(|one| std::iter::from_fn(|| one.recv(&mut byte).ok()).count())
            .sum();
        came[4] = std::iter::from_fn(|| self.stream.accept().ok()).count();
        came[5] = std::iter::from_fn(|| self.datagram.recv(&mut byte).ok()).count();
        came[6] = std::iter::from_fn(|| accept(&self.packets).then_some(())).count();
        came[7] = std::iter::from_fn(|| self.abstract_stream.accept().ok()).count();
        came[8] = std::iter::from_fn(|| self.abstract_datagram.recv(&mut byte).ok()).count();
        came[9] = self.fifo.read(&mut byte).unwrap_or(0);
        came[10] = self.terminal.as_ref().map_or(0, |(ours, _)| {
            let ours = File::from(ours.try_clone().unwrap());
            (&ours).read(&mut byte).unwrap_or(0)
        });
        came[11] = self.pipe.read(&mut byte).unwrap_or(0);
        came[12] = std::iter::from_fn(|| self.socket.accept().ok()).count();
        for (total, more) in self.counts.iter_mut().zip(came) {
            *total += more;
        }
        let names = [
            "tcp",
            "tcp6",
            "udp",
            "udp6",
            "unix stream",
            "unix datagram",
            "unix packets",
            "abstract stream",
            "abstract datagram",
            "fifo",
            "terminal",
            "pipe of the repository",
            "socket of the repository",
        ];
        names.iter().zip(self.counts).map(|(name, count)| ((*name).to_owned(), count)).collect()
    }
}
