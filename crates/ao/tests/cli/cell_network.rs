//! The network door: closed, or open to exactly what was granted.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::cell::{Cells, User};

/// Answers each connection with one line, after it has read something, until it has served `count`.
fn serve(count: usize) -> (u16, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let thread = thread::spawn(move || {
        let mut heads = Vec::new();
        for _ in 0..count {
            let (mut stream, _) = listener.accept().unwrap();
            let mut bytes = [0; 4096];
            let read = stream.read(&mut bytes).unwrap();
            heads.push(String::from_utf8_lossy(&bytes[..read]).into_owned());
            stream
                .write_all(
                    b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\ninside",
                )
                .unwrap();
        }
        heads
    });
    (port, thread)
}

/// Speaks to a host and port by hand and prints what comes back.
fn speak(to: &str, port: &str, text: &str) -> String {
    format!(
        "python3 -c \"
import socket,sys
try:
  s=socket.create_connection(('{to}',{port}),5)
  s.sendall(b'{text}')
  d=b''
  while True:
    c=s.recv(4096)
    if not c: break
    d+=c
  sys.stdout.write(d.decode())
except OSError as e: print('no:',e)
\""
    )
}

// proves: GRD-06
#[test]
fn the_network_is_closed() {
    for cells in [Cells::new(User::This), Cells::new(User::Ordinary), Cells::tier_b()] {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        listener.set_nonblocking(true).unwrap();
        let datagrams = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        datagrams.set_nonblocking(true).unwrap();
        let port = listener.local_addr().unwrap().port().to_string();
        let udp = datagrams.local_addr().unwrap().port();
        let script = format!(
            "{}; python3 -c \"
import socket
try: socket.socket(socket.AF_INET,socket.SOCK_DGRAM).sendto(b'x',('127.0.0.1',{udp}))
except OSError: pass\"",
            speak("127.0.0.1", &port, "x")
        );
        let answer = cells.sh(&[], &script).expect(0).json();
        assert!(answer["stdout"]["text"].as_str().unwrap().starts_with("no:"), "{answer}");
        assert!(listener.accept().is_err());
        assert!(datagrams.recv(&mut [0; 8]).is_err());
    }
}

#[test]
fn a_granted_address_is_reached_through_proxy_and_forward() {
    for user in [User::This, User::Ordinary] {
        let cells = Cells::new(user);
        let (port, server) = serve(3);
        let grant = format!("127.0.0.1:{port}");
        let tunnel = format!("CONNECT {grant} HTTP/1.1\\r\\n\\r\\nraw bytes");
        let plain = format!("GET http://{grant}/a?b HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n");
        let script = format!(
            "echo $AO_NET $HTTPS_PROXY; {}; echo; {}; echo; {}",
            speak("127.0.0.1", "3128", &tunnel),
            speak("127.0.0.1", "3128", &plain),
            speak("127.0.0.1", "20001", "forwarded"),
        );
        let answer = cells.sh(&["--net", &grant], &script).expect(0).json();
        let text = answer["stdout"]["text"].as_str().unwrap();
        assert!(
            text.starts_with(&format!("{grant}=127.0.0.1:20001 http://127.0.0.1:3128\n")),
            "{text}"
        );
        assert_eq!(text.matches("inside").count(), 3, "{text}");
        assert_eq!(answer["refusals"].as_array().unwrap().len(), 0, "{answer}");
        assert!(answer["usage"]["network_sent_bytes"].as_u64().unwrap() > 0);
        let heads = server.join().unwrap();
        assert_eq!(heads[0], "raw bytes");
        assert!(heads[1].starts_with("GET /a?b HTTP/1.1\r\n"), "{heads:?}");
        assert_eq!(heads[2], "forwarded");
    }
}

/// A client that heeds the proxy variables for every host, as `curl` and agents do, and is told the address
/// of a forward: it asks the proxy for it.
#[test]
fn a_client_with_a_proxy_reaches_a_forward_through_it() {
    for user in [User::This, User::Ordinary] {
        let cells = Cells::new(user);
        let (port, server) = serve(3);
        let grant = format!("127.0.0.1:{port}");
        let script = format!(
            "python3 -c \"
import http.client,os,urllib.request
forward=os.environ['AO_NET'].split('=')[1]
def get(where):
  try: print(urllib.request.urlopen('http://'+where+'/p?q').read().decode())
  except OSError as e: print('no:',e)
get(forward)
get('{grant}')
get('127.0.0.1:20002')
tunnel=http.client.HTTPConnection('127.0.0.1',3128)
host,port=forward.split(':')
tunnel.set_tunnel(host,int(port))
tunnel.request('GET','/t')
print(tunnel.getresponse().read().decode())
\""
        );
        let answer = cells.sh(&["--net", &grant], &script).expect(0).json();
        let text = answer["stdout"]["text"].as_str().unwrap();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!((lines[0], lines[1], lines[3]), ("inside", "inside", "inside"), "{answer}");
        assert!(lines[2].starts_with("no:") && lines[2].contains("403"), "{answer}");
        let refusals = answer["refusals"].as_array().unwrap();
        assert_eq!(refusals.len(), 1, "{answer}");
        assert_eq!(refusals[0]["what"], "127.0.0.1:20002", "{answer}");
        let heads = server.join().unwrap();
        assert!(heads[0].starts_with("GET /p?q HTTP/1.1\r\n"), "{heads:?}");
        assert!(heads[2].starts_with("GET /t HTTP/1.1\r\n"), "{heads:?}");
    }
}

/// A host that says nothing and hangs on does not hold up the end.
#[test]
fn a_connection_ends_with_the_cell() {
    let cells = Cells::new(User::Ordinary);
    // The shorter time may be over before the command speaks, on a machine that has much to do.
    let heard =
        ["1s", "15s"].iter().any(|time| connected_until_its_time_ends(&cells, time) == b"x");
    assert!(heard, "the command never spoke");
}

/// What a host hears of a command that hangs on to it.
fn connected_until_its_time_ends(cells: &Cells, time: &str) -> Vec<u8> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    listener.set_nonblocking(true).unwrap();
    let grant = format!("127.0.0.1:{}", listener.local_addr().unwrap().port());
    let script = "python3 -c \"
import socket,time
s=socket.create_connection(('127.0.0.1',20001)); s.sendall(b'x'); s.recv(1)\"";
    let is_over = AtomicBool::new(false);
    let hear = || loop {
        let is_last = is_over.load(Ordering::SeqCst);
        if let Ok((mut stream, _)) = listener.accept() {
            stream.set_nonblocking(false).unwrap();
            let mut bytes = Vec::new();
            // Ends when the other side does.
            let _ = stream.read_to_end(&mut bytes);
            return bytes;
        }
        if is_last {
            return Vec::new();
        }
        thread::sleep(Duration::from_millis(5));
    };
    thread::scope(|scope| {
        let server = scope.spawn(hear);
        let ran = cells.sh(&["--net", &grant, "--time", time], script);
        is_over.store(true, Ordering::SeqCst);
        let answer = ran.json();
        assert_eq!(answer["limit"], "time", "{answer}");
        server.join().unwrap()
    })
}

// proves: GRD-03
#[test]
fn anything_else_is_refused_and_said() {
    let cells = Cells::new(User::This);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let ask = |target: &str| {
        let text = format!("CONNECT {target} HTTP/1.1\\r\\n\\r\\n");
        speak("127.0.0.1", "3128", &text)
    };
    let targets = [
        format!("127.0.0.1:{port}"),
        format!("localhost:{port}"),
        "granted.example:80".to_owned(),
        "user@granted.example:443".to_owned(),
        "granted.example.:443".to_owned(),
        "2130706433:443".to_owned(),
        "[::ffff:127.0.0.1]:443".to_owned(),
    ];
    let script: Vec<_> = targets.iter().map(|target| ask(target)).collect();
    let options = ["--net", "granted.example:443"];
    let answer = cells.sh(&options, &script.join("; ")).expect(0).json();
    let text = answer["stdout"]["text"].as_str().unwrap();
    assert_eq!(text.matches("403 Forbidden").count(), targets.len(), "{text}");
    let refusals = answer["refusals"].as_array().unwrap();
    assert_eq!(refusals.len(), targets.len(), "{answer}");
    assert!(refusals.iter().all(|one| one["rule"] == "network-grant"), "{answer}");
    assert!(listener.accept().is_err());
    // A name that leads to this machine is not the address of it.
    let grant = format!("localhost:{port}");
    let answer = cells.sh(&["--net", &grant], &ask(&grant)).expect(0).json();
    assert!(answer["stdout"]["text"].as_str().unwrap().contains("502"), "{answer}");
    assert_eq!(answer["refusals"][0]["rule"], "network-private", "{answer}");
    assert!(listener.accept().is_err());
}

/// All that goes to a host is counted, the head of a request too: that can carry as much.
#[test]
fn what_is_said_in_a_head_is_counted() {
    let cells = Cells::new(User::Ordinary);
    let (port, server) = serve(1);
    let grant = format!("127.0.0.1:{port}");
    let text = format!("GET http://{grant}/a-secret-in-a-path HTTP/1.1\\r\\n\\r\\n");
    let options = ["--net", grant.as_str()];
    let answer = cells.sh(&options, &speak("127.0.0.1", "3128", &text)).expect(0).json();
    let heads = server.join().unwrap();
    assert!(heads[0].contains("a-secret"), "{heads:?}");
    assert_eq!(answer["usage"]["network_sent_bytes"], heads[0].len(), "{answer}");
}
