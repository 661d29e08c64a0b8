//! What cannot be seen from outside: forgeries that are encrypted as they should be.

use std::fs;
use std::io::Write;

use age::secrecy::ExposeSecret;
use zeroize::Zeroizing;

use super::*;

struct Place {
    _dir: tempfile::TempDir,
    files: Files,
}

fn place() -> Place {
    use std::os::unix::fs::MetadataExt;
    let dir = tempfile::tempdir().unwrap();
    let user = fs::metadata(dir.path()).unwrap().uid();
    let at = |name: &str| dir.path().join(name);
    let files = Files {
        identity: at("keys/identity.txt"),
        vault: at("data/vault.age"),
        kept: at("kept"),
        user,
    };
    Store::init(&files).unwrap();
    Place { _dir: dir, files }
}

fn secret(text: &str) -> Secret {
    Secret::new(Zeroizing::new(text.as_bytes().to_vec())).unwrap()
}

fn name(text: &str) -> Name {
    text.parse().unwrap()
}

/// Puts this in place of the vault, encrypted to its own public key.
fn forge(files: &Files, plain: &[u8]) {
    let recipient = Identities::read(files).unwrap().recipient();
    let mut bytes = Vec::new();
    let recipients = std::iter::once(&recipient as &dyn age::Recipient);
    let mut writer =
        age::Encryptor::with_recipients(recipients).unwrap().wrap_output(&mut bytes).unwrap();
    writer.write_all(plain).unwrap();
    writer.finish().unwrap();
    ao_tree::replace_private(&files.vault, &bytes).unwrap();
}

#[test]
fn who_knows_only_the_public_key_cannot_make_a_vault() {
    let place = place();
    write(&place.files, &name("KEY"), secret("the true value")).unwrap();
    let body = b"KEY 14\nthe evil value\n";
    let other = blake3::keyed_hash(&[7; 32], body).to_hex();
    let head = format!("ao-vault 1 {other}\n");
    for plain in [&body[..], &[head.as_bytes(), body].concat(), b"", b"ao-vault 1 \n"] {
        forge(&place.files, plain);
        assert!(matches!(Store::open(&place.files), Err(Error::Damaged { .. })));
    }
    // With the right seal it would be taken: the seal is what refuses.
    let identities = Identities::read(&place.files).unwrap();
    let seal = blake3::keyed_hash(&identities.seal_key(), body).to_hex();
    forge(&place.files, &[format!("ao-vault 1 {seal}\n").as_bytes(), body].concat());
    let store = Store::open(&place.files).unwrap();
    assert_eq!(store.get(&name("KEY")).unwrap().expose(), b"the evil value");
}

#[test]
fn a_rotation_that_was_not_ended_is_ended_by_the_next_write() {
    let place = place();
    let files = &place.files;
    write(files, &name("KEY"), secret("the true value")).unwrap();
    // Killed after the new identity was added, and again before it was used.
    for count in 2..4 {
        let both = Identities::read(files).unwrap().with_fresh();
        both.write(files).unwrap();
        assert_eq!(both.all().len(), count);
        assert_eq!(
            Store::open(files).unwrap().get(&name("KEY")).unwrap().expose(),
            b"the true value"
        );
    }
    let newest = Identities::read(files).unwrap().newest();
    // Nothing changed, and still it is ended.
    assert_eq!(write(files, &name("KEY"), secret("the true value")).unwrap(), Change::Same);
    let left = Identities::read(files).unwrap();
    assert_eq!(left.all().len(), 1);
    let key = |identities: &Identities| identities.all()[0].to_string().expose_secret().to_owned();
    assert_eq!(key(&left), key(&newest));
    assert_eq!(Store::open(files).unwrap().into_values().count(), 1);
}

#[test]
fn nothing_that_is_printed_for_a_person_who_looks_for_bugs_shows_a_value() {
    let place = place();
    write(&place.files, &name("KEY"), secret("the true value")).unwrap();
    let store = Store::open(&place.files).unwrap();
    let identities = Identities::read(&place.files).unwrap();
    let shown = format!("{store:?} {identities:?} {:?}", store.get(&name("KEY")));
    assert!(!shown.contains("true") && !shown.contains("AGE-SECRET"), "{shown}");
}
