//! `ao guard run --auth`: the host gets the secret, and the command never has it.

use std::fs;
use std::io::{Read, Seek, SeekFrom, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::process::Stdio;
use std::thread::{self, JoinHandle};

use serde_json::Value;

use crate::cell::{User, is_root};
use crate::repo::{Ran, wait_until};
use crate::vault::{Home, VALUE, contains};
use crate::vault_run::{Started, descendants};

fn home() -> Home {
    let home = Home::new(User::This);
    home.write("KEY", VALUE.as_bytes()).expect(0);
    home
}

/// Reads a head and what comes with it, and answers with what `answer` makes of it.
fn serve(
    count: usize,
    answer: impl Fn(&str) -> String + Send + 'static,
) -> (u16, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let thread = thread::spawn(move || {
        let mut heads = Vec::new();
        for _ in 0..count {
            let (mut stream, _) = listener.accept().unwrap();
            let mut bytes = Vec::new();
            while !bytes.windows(4).any(|window| window == b"\r\n\r\n") {
                let mut chunk = [0; 4096];
                let count = stream.read(&mut chunk).unwrap();
                assert!(count > 0, "{}", String::from_utf8_lossy(&bytes));
                bytes.extend_from_slice(&chunk[..count]);
            }
            let head = String::from_utf8(bytes).unwrap();
            let body = answer(&head);
            let length = body.len();
            let _ = write!(
                stream,
                "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
            );
            heads.push(head);
        }
        heads
    });
    (port, thread)
}

fn python(home: &Home, grant: &str, script: &str) -> Value {
    let auth = format!("{grant}=vault://KEY");
    home.ao(&["--json", "guard", "run", "--auth", &auth, "--", "python3", "-c", script])
        .expect(0)
        .json()
}

const CLIENT: &str = "
import os,urllib.request,urllib.error
forward=os.environ['AO_NET'].split('=')[1]
granted=os.environ['AO_NET'].split('=')[0]
placeholder=os.environ['AO_AUTH'].split('=')[1]
def get(where,headers={},data=None,proxies=None):
  opener=urllib.request.build_opener(urllib.request.ProxyHandler(proxies or {}))
  try: print(opener.open(urllib.request.Request(where,data,headers),timeout=20).read().decode(),flush=True)
  except urllib.error.HTTPError as e: print(e.code,e.read().decode(),flush=True)
  except OSError as e: print('no:',e,flush=True)
";

// proves: SCO-08
#[test]
fn the_host_gets_the_header_and_the_command_a_placeholder() {
    for user in [User::This, User::Ordinary] {
        let home = Home::new(user);
        home.write("KEY", VALUE.as_bytes()).expect(0);
        // It ends as the secret begins.
        let (port, server) = serve(4, |_| "fine tok_liv".to_owned());
        let script = format!(
            "{CLIENT}
print(os.environ['AO_AUTH'])
get('http://'+forward+'/a?b')
get('http://'+forward+'/c',{{'Authorization':'Bearer '+placeholder}},b'body')
get('http://'+forward+'/d',{{'X-Api-Key':placeholder}})
get('http://'+granted+'/e',proxies={{'http':os.environ['HTTP_PROXY']}})
print(any('{VALUE}' in v for v in os.environ.values()))"
        )
        .replace(VALUE, "'+'tok_live_'+'9fQ2xVbR7mKpW4zLhT8c'+'");
        let grant = format!("127.0.0.1:{port}");
        let answer = python(&home, &grant, &script);
        let said = answer["stdout"]["text"].as_str().unwrap();
        assert_eq!(
            said,
            format!(
                "{grant}=vault://KEY\nfine tok_liv\nfine tok_liv\nfine tok_liv\nfine tok_liv\nFalse\n"
            ),
            "{answer}"
        );
        assert!(answer["refusals"].as_array().unwrap().is_empty(), "{answer}");
        assert!(!answer.to_string().contains(VALUE), "{answer}");
        let heads = server.join().unwrap();
        let bearer = format!("\r\nAuthorization: Bearer {VALUE}\r\n");
        for (head, path) in heads.iter().zip(["/a?b", "/c", "/d", "/e"]) {
            assert!(head.contains(&format!(" {path} HTTP/1.1\r\nHost: {grant}\r\n")), "{head}");
            assert!(!head.contains("vault://"), "{head}");
            assert_eq!(head.contains(&bearer), path != "/d", "{head}");
            assert_eq!(head.matches(VALUE).count(), 1, "{head}");
        }
        assert!(heads[1].ends_with("\r\n\r\nbody") || heads[1].ends_with("\r\n\r\n"), "{heads:?}");
        assert!(heads[2].contains(&format!("\r\nx-api-key: {VALUE}\r\n")), "{heads:?}");
    }
}

#[test]
fn a_value_with_its_own_scheme_is_sent_as_it_is() {
    let home = Home::new(User::This);
    home.write("KEY", b"Basic dXNlcjpwYXNzd29yZA==").expect(0);
    let (port, server) = serve(1, |_| "fine".to_owned());
    python(&home, &format!("127.0.0.1:{port}"), &format!("{CLIENT}\nget('http://'+forward+'/')"));
    let heads = server.join().unwrap();
    assert!(heads[0].contains("\r\nAuthorization: Basic dXNlcjpwYXNzd29yZA==\r\n"), "{heads:?}");
}

/// All that a process has in its memory, its arguments and its environment, as far as we may look.
fn holds(pid: u32, value: &str) -> bool {
    let of = |name: &str| fs::read(format!("/proc/{pid}/{name}")).unwrap_or_default();
    if contains(&of("cmdline"), value) || contains(&of("environ"), value) {
        return true;
    }
    let maps = String::from_utf8_lossy(&of("maps")).into_owned();
    let Ok(mut memory) = fs::File::open(format!("/proc/{pid}/mem")) else { return false };
    maps.lines().any(|line| {
        let mut words = line.split_whitespace();
        let range = words.next().unwrap().split_once('-').unwrap();
        let (from, to) =
            (u64::from_str_radix(range.0, 16).unwrap(), u64::from_str_radix(range.1, 16).unwrap());
        let is_writable = words.next().unwrap().starts_with("rw");
        let mut bytes = Vec::new();
        is_writable && memory.seek(SeekFrom::Start(from)).is_ok() && {
            let _ = (&mut memory).take(to - from).read_to_end(&mut bytes);
            contains(&bytes, value)
        }
    })
}

/// From outside, while the command still has everything that it was answered.
#[test]
fn nothing_of_the_cell_has_the_secret_in_its_memory() {
    if !is_root() {
        eprintln!("only root can look into the memory of others");
        return;
    }
    let home = home();
    let (port, server) = serve(1, |_| "fine".to_owned());
    let script = format!(
        "{CLIENT}
kept='kept '+placeholder
import time
get('http://'+forward+'/',{{'Authorization':'Bearer '+placeholder}})
open('out/done','w').close()
time.sleep(600)"
    );
    fs::create_dir(home.path("work/out")).unwrap();
    let auth = format!("127.0.0.1:{port}=vault://KEY");
    let arguments =
        ["guard", "run", "--rw", "out", "--auth", &auth, "--", "python3", "-c", &script];
    let child = Started::new(&home, &arguments);
    wait_until("it was answered", || home.path("work/out/done").exists());
    assert!(server.join().unwrap()[0].contains(VALUE));
    let inside = descendants(child.id());
    assert!(inside.len() >= 3, "holder, first process, command: {inside:?}");
    // The look itself finds what is there. Memory moves while it is read, so one look may miss it.
    wait_until("the command's own memory is seen", || {
        inside.iter().any(|pid| holds(*pid, "kept vault://KEY"))
    });
    wait_until("the engine's memory is seen", || holds(child.id(), VALUE));
    for pid in inside {
        assert!(!holds(pid, VALUE), "{pid}");
    }
    assert!(crate::vault::files_with(&home.path(""), VALUE).is_empty());
}

#[test]
fn what_would_bring_the_secret_back_is_refused() {
    let home = home();
    // A host that gives back what it was sent.
    let (port, server) =
        serve(2, |head| if head.starts_with("GET /clean") { "clean".into() } else { head.into() });
    let grant = format!("127.0.0.1:{port}");
    let script = format!(
        "{CLIENT}
import socket
def raw(port,text):
  s=socket.create_connection(('127.0.0.1',port),20); s.sendall(text); d=b''
  while True:
    c=s.recv(4096)
    if not c: break
    d+=c
  print(d.split(b'\\r\\n')[0].decode(),flush=True)
raw(20001,b'TRACE / HTTP/1.1\\r\\n\\r\\n')
raw(20001,b'GET / HTTP/1.1\\r\\nA: b\\r\\n folded\\r\\n\\r\\n')
raw(20001,b'\\x16\\x03\\x01\\x02\\x00\\r\\n\\r\\n')
raw(20001,b'POST / HTTP/1.1\\r\\nContent-Length: 5\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n0\\r\\n\\r\\n')
raw(20001,b'POST / HTTP/1.1\\r\\nContent-Length: 0\\r\\nContent-Length: 9\\r\\n\\r\\n')
raw(20001,b'GET / HTTP/1.1x\\r\\n\\r\\n')
raw(3128,b'CONNECT {grant} HTTP/1.1\\r\\n\\r\\n')
get('http://'+forward+'/clean')
try: get('http://'+forward+'/echo')
except Exception as e: print('cut off')"
    );
    let answer = python(&home, &grant, &script);
    let said = answer["stdout"]["text"].as_str().unwrap();
    let lines: Vec<_> = said.lines().collect();
    assert!(lines[..7].iter().all(|line| *line == "HTTP/1.1 403 Forbidden"), "{answer}");
    assert_eq!(lines[7], "clean", "{answer}");
    assert!(!answer.to_string().contains(VALUE), "{answer}");
    let rules: Vec<_> = answer["refusals"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["rule"].as_str().unwrap())
        .collect();
    let (echo, heads) = rules.split_last().unwrap();
    assert_eq!((heads, *echo), (["network-auth"; 7].as_slice(), "network-echo"), "{answer}");
    server.join().unwrap();
}

/// In another form, and in the middle of an answer.
// proves: SCO-08
#[test]
fn a_host_that_gives_the_secret_back_encoded_is_cut_off() {
    let home = home();
    let (port, server) = serve(FORMS.len(), |head| {
        let nth = head.split(['/', ' ']).nth(2).unwrap();
        format!("before {} after", FORMS[nth.parse::<usize>().unwrap()])
    });
    let script = format!(
        "{CLIENT}
for nth in range({}):
  try: get('http://'+forward+'/'+str(nth))
  except Exception as e: print('cut off')",
        FORMS.len()
    );
    let answer = python(&home, &format!("127.0.0.1:{port}"), &script);
    let refusals = answer["refusals"].as_array().unwrap();
    assert_eq!(refusals.len(), FORMS.len(), "{answer}");
    assert!(refusals.iter().all(|refusal| refusal["rule"] == "network-echo"), "{answer}");
    // Nothing came that had to be taken out.
    let said = answer["stdout"]["text"].as_str().unwrap();
    assert!(!said.contains("***") && !said.contains("after"), "{answer}");
    server.join().unwrap();
}

/// `VALUE` as hex of both cases, every byte as in an address, and base64 with `u:` and less before it.
const FORMS: [&str; 6] = [
    "746f6b5f6c6976655f3966513278566252376d4b7057347a4c68543863",
    "746F6B5F6C6976655F3966513278566252376D4B7057347A4C68543863",
    "%74%6F%6B%5F%6C%69%76%65%5F%39%66%51%32%78%56%62%52%37%6D%4B%70%57%34%7A%4C%68%54%38%63",
    "dG9rX2xpdmVfOWZRMnhWYlI3bUtwVzR6TGhUOGM=",
    "dXRva19saXZlXzlmUTJ4VmJSN21LcFc0ekxoVDhj",
    "dTp0b2tfbGl2ZV85ZlEyeFZiUjdtS3BXNHpMaFQ4Yw==",
];

#[test]
fn what_cannot_be_kept_secret_is_refused_before_anything_starts() {
    let home = home();
    home.write("LINES", b"two\r\nX-Evil: lines").expect(0);
    let run = |arguments: &[&str]| {
        let all = [&["guard", "run"][..], arguments, &["--", "echo", "started"]].concat();
        home.ao(&all)
    };
    for (arguments, code) in [
        (&["--auth", "127.0.0.1:80=vault://NOBODY"][..], 2),
        (&["--auth", "127.0.0.1:80=vault://LINES"], 2),
        (&["--auth", "127.0.0.1:80=vault://KEY", "--auth", "127.0.0.1:80=vault://KEY"], 2),
        (&["--auth", "127.0.0.1:80=vault://KEY", "--net", "127.0.0.1:80"], 2),
        (&["--auth", "127.0.0.1=vault://KEY"], 2),
        (&["--auth", "127.0.0.1:80"], 2),
    ] {
        let ran = run(arguments).expect(code);
        assert!(ran.stdout.is_empty(), "{ran}");
    }
    // Without an authority to trust there is no TLS, and without TLS no secret leaves the machine.
    let empty = home.path("work/none.pem");
    fs::write(&empty, "").unwrap();
    let mut far = home.command(&[
        "guard",
        "run",
        "--auth",
        "192.0.2.1:80=vault://KEY",
        "--",
        "echo",
        "started",
    ]);
    far.env("SSL_CERT_FILE", &empty).env("SSL_CERT_DIR", home.path("work"));
    let ran = Ran::of(far.output().unwrap()).expect(6);
    assert!(ran.stdout.is_empty() && ran.stderr.contains("TLS only"), "{ran}");
    let weak = Home::new(User::Ordinary).variable("AO_CELL_TEST_TIER", "B");
    weak.write("KEY", VALUE.as_bytes()).expect(0);
    let ran = weak
        .ao(&["guard", "run", "--auth", "127.0.0.1:80=vault://KEY", "--", "echo", "started"])
        .expect(6);
    assert!(ran.stdout.is_empty(), "{ran}");
}

/// An address of this machine that is not its loopback, if it has one.
fn own_address() -> Option<std::net::IpAddr> {
    let socket = std::net::UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).unwrap();
    // Nothing is sent: the kernel only says where it would be sent from.
    socket.connect("192.0.2.1:9").ok()?;
    socket.local_addr().ok().map(|address| address.ip()).filter(|address| !address.is_loopback())
}

/// Answers requests over TLS with their own number, and prints their heads.
const TLS_SERVER: &str = "
import socket,ssl,sys
context=ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[2],sys.argv[3])
listener=socket.socket(); listener.bind((sys.argv[1],0)); listener.listen(8)
print(listener.getsockname()[1],flush=True)
while True:
  plain,_=listener.accept()
  try:
    s=context.wrap_socket(plain,server_side=True)
    head=b''
    while b'\\r\\n\\r\\n' not in head: head+=s.recv(4096)
    head,body=head.split(b'\\r\\n\\r\\n',1)
    length=[int(l.split(b':')[1]) for l in head.split(b'\\r\\n') if l.lower().startswith(b'content-length:')]
    while length and len(body)<length[0]: body+=s.recv(65536)
    print(head.decode().replace('\\r\\n',' | '),len(body),flush=True)
    answer=b'y'*300000 if b'/long' in head else (head if b'/echo' in head else b'over tls tok_liv')
    s.sendall(b'HTTP/1.1 200 OK\\r\\nContent-Length: %d\\r\\nConnection: close\\r\\n\\r\\n'%len(answer)+answer)
    s.close()
  except (ssl.SSLError,OSError) as e: print('refused',type(e).__name__,flush=True)
";

#[test]
fn a_host_that_is_not_this_machine_is_spoken_to_with_tls_that_is_verified() {
    let Some(address) = own_address() else {
        eprintln!("this machine has no address but its loopback");
        return;
    };
    let home = home();
    let (key, certificate) = (home.path("work/key.pem"), home.path("work/certificate.pem"));
    let made = std::process::Command::new("openssl")
        .args([
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
        ])
        .args(["-days", "2", "-subj", "/CN=test", "-keyout"])
        .arg(&key)
        .arg("-out")
        .arg(&certificate)
        .args([
            "-addext",
            &format!("subjectAltName=IP:{address}"),
            "-addext",
            "basicConstraints=critical,CA:FALSE",
        ])
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let mut server = std::process::Command::new("python3");
    server.args(["-c", TLS_SERVER, &address.to_string()]).arg(&certificate).arg(&key);
    server.stdout(Stdio::piped());
    let mut server = Started::of(server);
    let mut heads = std::io::BufRead::lines(std::io::BufReader::new(server.stdout()));
    let mut next = || heads.next().unwrap().unwrap();
    let grant = format!("{address}:{}", next());
    let script = format!(
        "{CLIENT}
get('http://'+forward+'/a')
get('http://'+granted+'/b',{{}},b'x'*200000,proxies={{'http':os.environ['HTTP_PROXY']}})
print(len(urllib.request.build_opener(urllib.request.ProxyHandler({{}})).open('http://'+forward+'/long').read()))
try: get('http://'+forward+'/echo')
except Exception as e: print('cut off')"
    );
    let auth = format!("{grant}=vault://KEY");
    let arguments = ["--json", "guard", "run", "--auth", &auth, "--", "python3", "-c", &script];
    let trusting = home.command(&arguments).env("SSL_CERT_FILE", &certificate).output().unwrap();
    let answer = Ran::of(trusting).expect(0).json();
    let said = answer["stdout"]["text"].as_str().unwrap();
    assert!(said.starts_with("over tls tok_liv\nover tls tok_liv\n300000\n"), "{answer}");
    assert!(!answer.to_string().contains(VALUE), "{answer}");
    assert_eq!(answer["refusals"][0]["rule"], "network-echo", "{answer}");
    assert_eq!(answer["refusals"].as_array().unwrap().len(), 1, "{answer}");
    for (path, body) in
        [("GET /a", "0"), ("POST /b", "200000"), ("GET /long", "0"), ("GET /echo", "0")]
    {
        let head = next();
        assert!(head.starts_with(path) && head.ends_with(&format!(" {body}")), "{head}");
        assert!(head.contains(&format!("| Authorization: Bearer {VALUE} |")), "{head}");
    }
    // One that is not trusted gets no request at all.
    let authorities = fs::read("/etc/ssl/certs/ca-certificates.crt").unwrap_or_default();
    if !authorities.is_empty() {
        let doubting = home.command(&arguments).env_remove("SSL_CERT_FILE").output().unwrap();
        let answer = Ran::of(doubting).json();
        assert_eq!(answer["refusals"][0]["rule"], "network-tls", "{answer}");
        assert_eq!(next(), "refused SSLError");
    }
}
