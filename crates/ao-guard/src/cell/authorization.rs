//! A secret that the engine adds as it dials out, so that the program never has it.

use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, RootCertStore};

use super::echo::FILLERS;
use super::grant::Grant;
use super::hidden::Hidden;

/// Of a header; servers take no more.
const VALUE_BYTES_MAX: usize = 8 * 1024;
/// Anything shorter is found in every answer, and guessed in no time. Fillers do not count.
const SECRET_BYTES_MIN: usize = 8;
const SCHEME: &str = "Bearer ";

/// Requests to one host and port get a header with a secret.
#[derive(Debug, Clone)]
pub struct Authorization {
    pub grant: Grant,
    /// What the program is told instead of the secret, such as `vault://NAME`.
    pub placeholder: String,
    /// As it stands in the header.
    pub(super) value: Hidden,
    /// The value without the word for its scheme.
    pub(super) secret: Hidden,
    /// What must not come back: the secret, however it is written.
    pub(super) echoes: Vec<Hidden>,
    pub(super) way: Way,
}

/// How the host is spoken to.
#[derive(Debug, Clone)]
pub(super) enum Way {
    /// Only to this machine itself: everywhere else somebody could listen.
    Plain,
    Tls(Arc<ClientConfig>),
}

#[derive(Debug, thiserror::Error)]
pub enum BadAuthorization {
    #[error(
        "the value cannot stand in a header: it has 8 bytes to 8 KiB of visible ASCII (backslashes not counted), after a scheme and one space if it names one"
    )]
    Value,
    #[error(
        "{0} is not on this machine and is spoken to with TLS only, but no authority is trusted here"
    )]
    NoAuthorities(Grant),
    #[error("TLS cannot be had: {0}")]
    Tls(#[from] rustls::Error),
}

impl Authorization {
    /// `authorities` are certificates (DER) that this machine trusts. They are asked for only if the
    /// host is not this machine. `forms` are all the ways of writing a secret down.
    pub fn new(
        grant: Grant,
        placeholder: String,
        value: &[u8],
        forms: impl FnOnce(&[u8]) -> Vec<Vec<u8>>,
        authorities: impl FnOnce() -> Vec<Vec<u8>>,
    ) -> Result<Self, BadAuthorization> {
        let is_visible = |byte: &u8| byte.is_ascii_graphic() || *byte == b' ';
        let mut words = value.split(|byte| *byte == b' ');
        let is_fit = value.len() <= VALUE_BYTES_MAX
            && value.iter().all(is_visible)
            && words.all(|word| !word.is_empty());
        if !is_fit {
            return Err(BadAuthorization::Value);
        }
        let way = if is_this_machine(&grant) {
            Way::Plain
        } else {
            Way::Tls(configuration(&grant, authorities())?)
        };
        // `Basic dXNlcg==` names its scheme itself.
        let secret = value.iter().rposition(|byte| *byte == b' ').map_or(0, |at| at + 1);
        let told_apart = value[secret..].iter().filter(|byte| !FILLERS.contains(byte)).count();
        if told_apart < SECRET_BYTES_MIN {
            return Err(BadAuthorization::Value);
        }
        let mut whole =
            Hidden::with_room(if secret == 0 { SCHEME.len() + value.len() } else { value.len() });
        let at = whole.bytes().len() - value.len();
        whole.bytes_mut()[..at].copy_from_slice(&SCHEME.as_bytes()[..at]);
        whole.bytes_mut()[at..].copy_from_slice(value);
        let secret = Hidden::new(&value[secret..]);
        let echoes = forms(secret.bytes()).into_iter().map(Hidden::from).collect();
        Ok(Self { grant, placeholder, value: whole, secret, echoes, way })
    }
}

/// By address: a name can be made to lead anywhere.
fn is_this_machine(grant: &Grant) -> bool {
    grant.host.parse::<std::net::IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback())
}

fn configuration(
    grant: &Grant,
    authorities: Vec<Vec<u8>>,
) -> Result<Arc<ClientConfig>, BadAuthorization> {
    let mut roots = RootCertStore::empty();
    let (taken, _) =
        roots.add_parsable_certificates(authorities.into_iter().map(CertificateDer::from));
    if taken == 0 {
        return Err(BadAuthorization::NoAuthorities(grant.clone()));
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let configuration = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(Arc::new(configuration))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(grant: &str, value: &[u8]) -> Result<Authorization, BadAuthorization> {
        Authorization::new(
            grant.parse().unwrap(),
            "vault://x".into(),
            value,
            |_| Vec::new(),
            Vec::new,
        )
    }

    #[test]
    fn a_value_gets_a_scheme_unless_it_has_one() {
        let plain = of("127.0.0.1:80", b"abcdefgh").unwrap();
        assert_eq!(plain.value.bytes(), b"Bearer abcdefgh");
        assert_eq!(plain.secret.bytes(), b"abcdefgh");
        let named = of("[::1]:80", b"Basic abcdefgh").unwrap();
        assert_eq!(
            (named.value.bytes(), named.secret.bytes()),
            (&b"Basic abcdefgh"[..], &b"abcdefgh"[..])
        );
        assert!(!format!("{plain:?}").contains("abcdefgh"));
        for bad in [
            &b"a\r\nX: y"[..],
            b"a\0bcdefgh",
            b"two  spaces",
            b" first",
            b"last ",
            "caf\u{e9}".as_bytes(),
            // Seven bytes after the scheme, and two beside backslashes.
            b"Bearer abcdefg",
            b"Basic \\\\\\\\\\\\ab",
        ] {
            assert!(matches!(of("127.0.0.1:80", bad), Err(BadAuthorization::Value)));
        }
    }

    #[test]
    fn nothing_but_this_machine_is_spoken_to_in_the_clear() {
        for far in
            ["api.example:443", "api.example:80", "10.0.0.1:80", "localhost:80", "[fe80::1]:80"]
        {
            assert!(
                matches!(of(far, b"abcdefgh"), Err(BadAuthorization::NoAuthorities(_))),
                "{far}"
            );
        }
    }
}
