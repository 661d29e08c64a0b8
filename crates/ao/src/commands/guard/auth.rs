//! `--auth HOST:PORT=vault://NAME`: a header that the engine adds, and the command never has.

use ao_contract::Exit;
use ao_guard::cell::{Authorization, BadAuthorization, Grant};
use ao_vault::redact::forms;
use ao_vault::{Name, SCHEME, Store};

use super::run::Options;
use crate::commands::vault;
use crate::failure::Failure;

/// Who is spoken to, and with which secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) grant: Grant,
    pub(super) name: Name,
}

impl Wanted {
    /// What stands behind the sign is not repeated: it may be a value that was typed by mistake.
    fn parse(text: &str) -> Result<Self, Failure> {
        let bad = |why: String| {
            Failure::usage(format!("--auth refused: {why}")).hint(
                "write --auth HOST:PORT=vault://NAME; the value itself is kept with `ao vault write NAME`",
            )
        };
        let (grant, reference) =
            text.split_once('=').ok_or_else(|| bad("there is no = in it".to_owned()))?;
        let grant: Grant = grant
            .parse()
            .map_err(|error: ao_guard::cell::BadGrant| bad(ao_tree::shown(&error.to_string())))?;
        if !reference.starts_with(SCHEME) {
            return Err(bad(format!("what stands behind {grant}= is no {SCHEME}NAME")));
        }
        Ok(Self { grant, name: vault::name(reference)? })
    }

    /// What was asked for, each host once.
    pub(super) fn all(options: &Options) -> Result<Vec<Self>, Failure> {
        let mut all: Vec<Self> = Vec::new();
        for wanted in options.auth.iter().map(|text| Self::parse(text)) {
            let wanted = wanted?;
            let is_known = options.net.contains(&wanted.grant)
                || all.iter().any(|other| other.grant == wanted.grant);
            if is_known {
                return Err(Failure::usage(format!("{} is granted twice", wanted.grant)).hint(
                    "--auth grants the host too; name each host once, in --net or in --auth",
                ));
            }
            all.push(wanted);
        }
        Ok(all)
    }
}

/// Takes the values out of the vault, and nothing else.
pub(super) fn resolve(options: &Options) -> Result<Vec<Authorization>, Failure> {
    let wanted = Wanted::all(options)?;
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    vault::place::keep_memory_to_ourselves()?;
    let files = options.vault.files()?;
    let store = Store::open(&files).map_err(|error| vault::failure::of(&error))?;
    let mut authorizations = Vec::new();
    for Wanted { grant, name } in wanted {
        let secret = store.get(&name).map_err(|error| vault::failure::of(&error))?;
        let placeholder = name.reference();
        let made = Authorization::new(grant, placeholder, secret.expose(), forms, authorities);
        authorizations.push(made.map_err(|bad| refused(&name, &bad))?);
    }
    Ok(authorizations)
}

fn refused(name: &Name, bad: &BadAuthorization) -> Failure {
    let message = format!("--auth refused for {}: {bad}", name.reference());
    match bad {
        BadAuthorization::Value => Failure::usage(message)
            .hint("nothing was started; keep the token alone, or with its scheme in front, such as `Basic …`"),
        BadAuthorization::NoAuthorities(_) | BadAuthorization::Tls(_) => {
            Failure::new(Exit::Preflight, message)
                .hint("nothing was started; install the certificates of your system (ca-certificates), or name a file of them in SSL_CERT_FILE")
        }
    }
}

/// The certificates that this machine trusts. One that cannot be read is left out.
pub(crate) fn authorities() -> Vec<Vec<u8>> {
    let found = rustls_native_certs::load_native_certs();
    found.certs.into_iter().map(|one| one.as_ref().to_vec()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_for_one_host_and_names_its_secret() {
        let wanted = Wanted::parse("api.example:443=vault://team/KEY").unwrap();
        assert_eq!(
            (wanted.grant.to_string().as_str(), wanted.name.as_str()),
            ("api.example:443", "team/KEY")
        );
        for bad in [
            "api.example:443",
            "api.example=vault://K",
            "a:443=KEY",
            "a:443=sk-live-1",
            "a:443=vault://",
            "a:443=vault://a b",
        ] {
            let message = Wanted::parse(bad).unwrap_err().message;
            assert!(!message.contains("sk-live"), "{message}");
        }
    }
}
