//! TLS: whoever is not trusted hears no question.

use std::io::{BufReader, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread;

use ao_runner::http::{Endpoint, OpenAi};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::asked::{SECRET, answer, clock, exchange, key, vault};
use crate::server::{Act, Asked, bytes, completion, json_reply, read};

/// A certificate for 127.0.0.1 and its key, both DER.
fn certificate(folder: &Path) -> (Vec<u8>, Vec<u8>) {
    let openssl = |arguments: &[&str]| {
        let made = Command::new("openssl").current_dir(folder).args(arguments).output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    };
    openssl(&[
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=test",
        "-keyout",
        "key.pem",
        "-out",
        "certificate.der",
        "-outform",
        "DER",
        "-addext",
        "subjectAltName=IP:127.0.0.1",
        "-addext",
        "basicConstraints=critical,CA:FALSE",
    ]);
    openssl(&[
        "pkcs8", "-topk8", "-nocrypt", "-in", "key.pem", "-outform", "DER", "-out", "key.der",
    ]);
    let get = |name: &str| std::fs::read(folder.join(name)).unwrap();
    (get("certificate.der"), get("key.der"))
}

fn serve(certificate: &[u8], key: &[u8], act: Act) -> (u16, Arc<Mutex<Vec<Asked>>>) {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.to_vec()));
    let configuration = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![CertificateDer::from(certificate.to_vec())], key)
        .unwrap();
    let configuration = Arc::new(configuration);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let all = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&all);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // Whoever does not trust us goes away.
            let _ = one(stream, &configuration, &act, &seen);
        }
    });
    (port, all)
}

fn one(
    stream: TcpStream,
    configuration: &Arc<ServerConfig>,
    act: &Act,
    seen: &Mutex<Vec<Asked>>,
) -> std::io::Result<()> {
    let session = ServerConnection::new(Arc::clone(configuration)).unwrap();
    let mut reader = BufReader::new(StreamOwned::new(session, stream));
    let Some(asked) = read(&mut reader)? else { return Ok(()) };
    seen.lock().unwrap().push(asked);
    let mut stream = reader.into_inner();
    stream.write_all(&bytes(act))?;
    stream.conn.send_close_notify();
    stream.flush()
}

#[test]
fn only_a_host_that_is_trusted_by_its_name_is_asked() {
    if Command::new("openssl").arg("version").output().is_err() {
        eprintln!("left out: TLS of the runners, as openssl is not installed");
        return;
    }
    vault();
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let (trusted, private) = certificate(folders[0].path());
    let (other, _) = certificate(folders[1].path());
    let (port, seen) = serve(&trusted, &private, json_reply(200, &completion("{\"a\":1}")));
    let runner = |host: &str, authority: &[u8]| {
        let address = format!("https://{host}:{port}/v1").parse().unwrap();
        let authorities = vec![authority.to_vec()];
        let endpoint = Endpoint::new(address, Some(key()), || authorities, clock()).unwrap();
        OpenAi::new("remote", endpoint, "small")
    };
    assert_eq!(answer(&runner("127.0.0.1", &trusted)).unwrap().value["a"], 1);
    assert_eq!(seen.lock().unwrap()[0].field("authorization"), Some(&*format!("Bearer {SECRET}")));
    for (host, authority) in [("127.0.0.1", &other), ("localhost", &trusted)] {
        let failure = exchange(&runner(host, authority)).unwrap_err();
        assert!(
            failure.kind() == "not-started" && failure.to_string().contains("certificate"),
            "{failure}"
        );
    }
    assert_eq!(seen.lock().unwrap().len(), 1, "nobody else was asked");
    // TLS that ends without a word may have been cut by somebody else.
    let cut = Act::Raw(
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{"
            .to_vec(),
    );
    let (port, _) = serve(&trusted, &private, cut);
    let address = format!("https://127.0.0.1:{port}/v1").parse().unwrap();
    let endpoint = Endpoint::new(address, None, || vec![trusted.clone()], clock()).unwrap();
    let failure = exchange(&OpenAi::new("remote", endpoint, "small")).unwrap_err();
    assert_eq!(failure.kind(), "broken");
}
