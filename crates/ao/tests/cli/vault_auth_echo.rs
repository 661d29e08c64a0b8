//! `ao guard run --auth`: what a host that reflects the program's own words tells it of the secret.
//!
//! The program may have the host say whatever it likes, so how the door treats that must not depend
//! on the secret. What is measured is how many bytes of a guess arrive before the connection falls
//! silent, not how long anything takes.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::thread::{self, JoinHandle};

use serde_json::Value;

use crate::cell::User;
use crate::vault::{Home, VALUE};

/// Serves every connection in a thread of its own until the test ends.
fn host(answer: impl Fn(&str, &[u8], &mut TcpStream) + Send + Sync + 'static) -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let answer = std::sync::Arc::new(answer);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, answer) = (stream.unwrap(), std::sync::Arc::clone(&answer));
            thread::spawn(move || {
                let Some((head, body)) = request(&mut stream) else { return };
                stream.set_nodelay(true).unwrap();
                answer(&head, &body, &mut stream);
            });
        }
    });
    port
}

/// The head and the body of a request that says how long it is.
fn request(stream: &mut TcpStream) -> Option<(String, Vec<u8>)> {
    let mut bytes = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        let count = stream.read(&mut chunk).ok().filter(|count| *count > 0)?;
        bytes.extend_from_slice(&chunk[..count]);
        let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else { continue };
        let head = String::from_utf8(bytes[..at].to_vec()).unwrap();
        let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
        let length: usize = length.map_or(0, |length| length.parse().unwrap());
        if bytes.len() >= at + 4 + length {
            return Some((head, bytes.split_off(at + 4)));
        }
    }
}

/// Until the other side goes.
fn wait_for_end(stream: &mut TcpStream) {
    let _ = stream.read(&mut [0; 16]);
}

fn home(user: User) -> Home {
    let home = Home::new(user);
    home.write("KEY", VALUE.as_bytes()).expect(0);
    home
}

fn run(home: &Home, ports: &[u16], script: &str) -> Value {
    let auth = format!("127.0.0.1:{}=vault://KEY", ports[0]);
    let mut arguments = vec!["--json", "guard", "run", "--auth", &auth];
    let others: Vec<_> = ports[1..].iter().map(|port| format!("127.0.0.1:{port}")).collect();
    for other in &others {
        arguments.extend(["--net", other]);
    }
    arguments.extend(["--", "python3", "-c", script]);
    home.ao(&arguments).expect(0).json()
}

/// The attack of the issue, on the digits of the secret in hex and on its letters: sixteen guesses at once for one place, and
/// the one of which the least arrives is the right one. It prints what it read, and how many bytes of each guess
/// came beyond those that come of any.
const ATTACK: &str = "
import select,socket
HELD=512; FILL=4096; PLACES=6
def guess(text):
  s=socket.create_connection(('127.0.0.1',20001),20)
  s.sendall(b'POST / HTTP/1.1\\r\\nContent-Length: %d\\r\\n\\r\\n%s'%(len(text),text))
  return s
def least(s,count):
  got=b''
  while b'\\r\\n\\r\\n' not in got or len(got.split(b'\\r\\n\\r\\n',1)[1])<count:
    c=s.recv(65536)
    if not c: return None
    got+=c
  return len(got.split(b'\\r\\n\\r\\n',1)[1])
def more(sockets):
  counts=dict.fromkeys(sockets,0); left=list(sockets)
  while left:
    ready=select.select(left,[],[],0.1)[0]
    if not ready: break
    for s in ready:
      c=s.recv(65536); counts[s]+=len(c)
      if not c: left.remove(s)
  return [counts[s] for s in sockets]
for alphabet in (b'0123456789abcdef',b'_abcefgiklmnotv9'):
  known=b''; amounts=set()
  for place in range(PLACES):
    tries=[known+bytes([c]) for c in alphabet]
    open_=[guess(t) for t in tries]
    sure=FILL+len(tries[0])-HELD
    came=[least(s,sure) for s in open_]
    came=[a+b-sure for a,b in zip(came,more(open_))]
    amounts|=set(came)
    known=tries[came.index(min(came))]
    for s in open_: s.close()
  print(known.decode(),sorted(amounts),flush=True)
whole=guess(b'tok_live_'+b'9fQ2xVbR7mKpW4zLhT8c')
print('whole',least(whole,FILL+2000),flush=True)
";

/// A door that held back what might begin the secret let this attack read `tok_li`, all six letters.
// proves: SCO-08
#[test]
fn a_host_that_reflects_the_program_tells_nothing_of_the_secret() {
    for user in [User::This, User::Ordinary] {
        let home = home(user);
        let port = host(|_, body, stream| {
            let text = [b"HTTP/1.1 200 OK\r\n\r\n", &vec![b'x'; 4096][..], body].concat();
            stream.write_all(&text).unwrap();
            wait_for_end(stream);
        });
        let answer = run(&home, &[port], ATTACK);
        let said = answer["stdout"]["text"].as_str().unwrap();
        eprintln!("the channel that is left, in bytes told by a guess:\n{said}");
        // The same amount of every guess: the first of each alphabet is as good as any.
        assert_eq!(said, "000000 [0]\n______ [0]\nwhole None\n", "{answer}");
        // Only the whole secret is a question that is answered.
        let rules: Vec<_> =
            answer["refusals"].as_array().unwrap().iter().map(|one| &one["rule"]).collect();
        assert_eq!(rules, ["network-echo"], "{answer}");
    }
}

/// As the services behind Claude and Codex write them, with the line ends that are allowed.
const EVENTS: [&str; 5] = [
    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\"}}\n\n",
    ": ping\n\n",
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"text\":\"tok_live\"}}\n\n",
    "event: response.output_text.delta\r\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"Hi\"}\r\n\r\n",
    "data: [DONE]\r\r",
];
const ROUNDS: usize = 40;

/// Sends the next event only when the one before it has arrived whole. In two pieces, as a network may.
fn stream_of_events(is_chunked: bool) -> (u16, u16, JoinHandle<()>) {
    let news = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let news_port = news.local_addr().unwrap().port();
    let (to_host, arrivals) = std::sync::mpsc::channel::<()>();
    let arrivals = std::sync::Mutex::new(arrivals);
    let listening = thread::spawn(move || {
        let (stream, _) = news.accept().unwrap();
        for _ in BufReader::new(stream).lines().map_while(Result::ok) {
            let _ = to_host.send(());
        }
    });
    let port = host(move |_, _, stream| {
        let coding = if is_chunked { "Transfer-Encoding: chunked\r\n" } else { "" };
        write!(
            stream,
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n{coding}\r\n"
        )
        .unwrap();
        for _ in 0..ROUNDS {
            for event in EVENTS {
                let (first, second) = event.split_at(event.len() - 1);
                for piece in [first, second] {
                    let framed = format!("{:x}\r\n{piece}\r\n", piece.len());
                    stream
                        .write_all(if is_chunked { framed.as_bytes() } else { piece.as_bytes() })
                        .unwrap();
                }
                arrivals.lock().unwrap().recv().unwrap();
            }
        }
        if is_chunked {
            stream.write_all(b"0\r\nX-Trailer: tok_live\r\n\r\n").unwrap();
        }
    });
    (port, news_port, listening)
}

/// Reads event after event; the sizes are all that it knows of them.
fn event_client(port: u16, news: u16) -> String {
    let sizes: Vec<_> = EVENTS.iter().map(|event| event.len().to_string()).collect();
    format!(
        "
import http.client,os,socket,time
at=dict(one.split('=') for one in os.environ['AO_NET'].split())
at={{name.split(':')[1]:int(place.split(':')[1]) for name,place in at.items()}}
news=socket.create_connection(('127.0.0.1',at['{news}']),20)
news.setsockopt(socket.IPPROTO_TCP,socket.TCP_NODELAY,1)
c=http.client.HTTPConnection('127.0.0.1',at['{port}'],timeout=20); c.request('GET','/')
r=c.getresponse()
times=[]
for _ in range({ROUNDS}):
  for size in [{}]:
    began=time.monotonic(); got=b''
    while len(got)<size: got+=r.read1(size-len(got)) or 1/0
    times.append(time.monotonic()-began)
    news.sendall(b'next\\n')
print(sorted(times)[len(times)//2]*1000, len(r.read()))
",
        sizes.join(",")
    )
}

/// Each event is there before the next is sent, so nothing of it is held back; and it is not late.
#[test]
fn an_event_arrives_when_it_is_whole() {
    const LATE_MS_MAX: f64 = 50.0;
    let home = home(User::This);
    for is_chunked in [false, true] {
        let median = |is_authorized: bool| {
            let (port, news, listening) = stream_of_events(is_chunked);
            let client = event_client(port, news);
            let answer = if is_authorized {
                run(&home, &[port, news], &client)
            } else {
                let grants = [port, news].map(|port| format!("127.0.0.1:{port}"));
                home.ao(&[
                    "--json", "guard", "run", "--net", &grants[0], "--net", &grants[1], "--",
                    "python3", "-c", &client,
                ])
                .expect(0)
                .json()
            };
            listening.join().unwrap();
            let said = answer["stdout"]["text"].as_str().unwrap().trim().to_owned();
            let (median, rest) = said.split_once(' ').unwrap_or_else(|| panic!("{answer}"));
            assert_eq!(rest, "0", "{answer}");
            median.parse::<f64>().unwrap()
        };
        let (bare, ours) = (median(false), median(true));
        eprintln!(
            "median of {} events, chunked {is_chunked}: bare proxy {bare:.3} ms, with --auth {ours:.3} ms",
            ROUNDS * EVENTS.len()
        );
        assert!(ours - bare < LATE_MS_MAX, "bare {bare} ms, ours {ours} ms");
    }
}

/// What a program gets of an answer, by the path that it asks for.
fn asked(paths: &[&str], answer: fn(&str, &mut TcpStream)) -> (Vec<String>, Vec<String>) {
    let home = home(User::This);
    let port = host(move |head, _, stream| answer(head.split(' ').nth(1).unwrap(), stream));
    let script = format!(
        "
import socket
for path in {paths:?}:
  s=socket.create_connection(('127.0.0.1',20001),20)
  s.sendall((('HEAD ' if path=='/head' else 'GET ')+path+' HTTP/1.1\\r\\n\\r\\n').encode()); d=b''
  while True:
    try: c=s.recv(65536)
    except ConnectionError: break
    if not c: break
    d+=c
  print(repr(d),flush=True)"
    );
    let answer = run(&home, &[port], &script);
    assert!(!answer.to_string().contains(&VALUE[..12]), "{answer}");
    let said = answer["stdout"]["text"].as_str().unwrap().lines().map(str::to_owned).collect();
    let refusals = answer["refusals"].as_array().unwrap().iter();
    (said, refusals.map(|one| format!("{} {}", one["rule"], one["what"])).collect())
}

/// In chunks, so that the framing tears it; in events, so that all but its last part has gone on.
// proves: SCO-08
#[test]
fn a_secret_is_found_across_chunks() {
    let (said, refusals) = asked(&["/chunks", "/trickle"], |path, stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n").unwrap();
        let size = if path == "/chunks" { 3 } else { 1 };
        for piece in VALUE.as_bytes().chunks(size) {
            let chunk =
                [format!("{:x};ext=1\r\n", piece.len()).as_bytes(), piece, b"\r\n"].concat();
            if stream.write_all(&chunk).is_err() {
                return;
            }
        }
        let _ = stream.write_all(b"0\r\n\r\n");
    });
    assert_eq!(refusals.len(), 2, "{refusals:?}");
    assert!(refusals.iter().all(|refusal| refusal.contains("network-echo")), "{refusals:?}");
    assert!(said.iter().all(|said| !said.contains("tok")), "{said:?}");
}

/// What cannot be looked through, or has no end that is known, is not passed on.
#[test]
fn an_answer_that_cannot_be_looked_through_is_refused() {
    const PATHS: [&str; 8] =
        ["/gzip", "/upgrade", "/lengths", "/coding", "/http2", "/chunk", "/closed", "/bare"];
    let (said, refusals) = asked(&PATHS, |path, stream| {
        let text = match path {
            "/gzip" => "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n..",
            "/upgrade" => "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
            "/lengths" => "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n...",
            "/coding" => "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n..",
            "/http2" => "PRI * HTTP/2.0\r\n\r\n",
            "/chunk" => "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
            "/closed" => "HTTP/1.1 200 OK\r\n",
            _ => "HTTP/1.1 200 OK\nContent-Length: 2\n\nab",
        };
        stream.write_all(text.as_bytes()).unwrap();
    });
    assert!(said.iter().all(|said| said.contains("502 Bad Gateway")), "{said:?}");
    assert_eq!(refusals.len(), PATHS.len(), "{refusals:?}");
    assert!(refusals.iter().all(|refusal| refusal.contains("network-answer")), "{refusals:?}");
}

/// The end of an answer is in the answer itself, however long the host stays.
#[test]
fn an_answer_ends_where_it_says() {
    const PATHS: [&str; 5] = ["/counted", "/chunked", "/head", "/none", "/early"];
    let (said, refusals) = asked(&PATHS, |path, stream| {
        let text = match path {
            "/counted" => {
                "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfinemore"
            }
            "/chunked" => {
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4;x=y\r\nfine\r\n0\r\nA: b\r\n\r\nmore"
            }
            "/head" => "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n",
            "/none" => "HTTP/1.1 204 No Content\r\n\r\nmore",
            _ => "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nfine",
        };
        stream.write_all(text.as_bytes()).unwrap();
        if path != "/early" {
            wait_for_end(stream);
        }
    });
    assert!(refusals.is_empty(), "{refusals:?}");
    assert!(
        said.iter().all(|said| !said.contains("more") && said.contains("HTTP/1.1 2")),
        "{said:?}"
    );
    assert!(said[0].ends_with("\\r\\n\\r\\nfine'"), "{said:?}");
    assert!(said[1].ends_with("4\\r\\nfine\\r\\n0\\r\\n\\r\\n'"), "{said:?}");
    // What was there when the host went.
    assert!(said[4].ends_with("\\r\\n\\r\\nfine'"), "{said:?}");
}
