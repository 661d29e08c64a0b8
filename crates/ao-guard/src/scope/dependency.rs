//! The dependency block of a manifest: what of a file may only change with a grant.
//!
//! Two versions of a manifest are read, and the values at the pointers of its kind are compared. So a
//! script, a version or a comment may change, and a dependency may not, wherever in the text it stands.

use serde_json::{Map, Value};

const MANIFEST_BYTES_MAX: usize = 4 * 1024 * 1024;

const NPM: &[&str] = &[
    "/dependencies",
    "/devDependencies",
    "/peerDependencies",
    "/peerDependenciesMeta",
    "/optionalDependencies",
    "/bundledDependencies",
    "/bundleDependencies",
    "/overrides",
    "/resolutions",
    "/pnpm/overrides",
    "/workspaces",
];

const CARGO: &[&str] = &[
    "/dependencies",
    "/dev-dependencies",
    "/dev_dependencies",
    "/build-dependencies",
    "/build_dependencies",
    "/target/*/dependencies",
    "/target/*/dev-dependencies",
    "/target/*/build-dependencies",
    "/workspace/dependencies",
    "/patch",
    "/replace",
];

const PYTHON: &[&str] = &[
    "/project/dependencies",
    "/project/optional-dependencies",
    "/build-system",
    "/dependency-groups",
    "/tool/poetry/dependencies",
    "/tool/poetry/dev-dependencies",
    "/tool/poetry/group/*/dependencies",
    "/tool/poetry/source",
    "/tool/pdm/dev-dependencies",
    "/tool/pdm/source",
    "/tool/uv/sources",
    "/tool/uv/dev-dependencies",
    "/tool/uv/index",
];

/// A kind of manifest that has a dependency block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ManifestKind {
    Npm,
    Cargo,
    Python,
}

impl ManifestKind {
    /// By the last name of a path, in whatever case.
    pub fn of(name: &str) -> Option<Self> {
        match name.to_ascii_lowercase().as_str() {
            "package.json" => Some(Self::Npm),
            "cargo.toml" => Some(Self::Cargo),
            "pyproject.toml" => Some(Self::Python),
            _ => None,
        }
    }

    fn pointers(self) -> &'static [&'static str] {
        match self {
            Self::Npm => NPM,
            Self::Cargo => CARGO,
            Self::Python => PYTHON,
        }
    }

    fn read(self, text: &[u8]) -> Result<Value, String> {
        if text.len() > MANIFEST_BYTES_MAX {
            return Err(format!("it is larger than {MANIFEST_BYTES_MAX} bytes"));
        }
        let text = std::str::from_utf8(text).map_err(|error| error.to_string())?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        match self {
            Self::Npm => crate::strict_json::read(text.as_bytes()).map_err(|why| why.to_string()),
            Self::Cargo | Self::Python => {
                let table: toml::Table = toml::from_str(text).map_err(|error| error.to_string())?;
                serde_json::to_value(table).map_err(|error| error.to_string())
            }
        }
    }
}

/// The pointer of the first block that differs between two versions of a manifest; an error if one
/// of them cannot be read, for then nobody can say. `None` for a version is a file that is not there.
pub fn changed_block(
    kind: ManifestKind,
    before: Option<&[u8]>,
    after: Option<&[u8]>,
) -> Result<Option<String>, String> {
    let read = |text: Option<&[u8]>| match text {
        Some(text) => kind.read(text),
        None => Ok(Value::Object(Map::new())),
    };
    let (before, after) = (read(before)?, read(after)?);
    for pointer in kind.pointers() {
        let names: Vec<&str> = pointer.split('/').skip(1).collect();
        if let Some(path) = difference(Some(&before), Some(&after), &names) {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

/// Where two values differ along a pointer, in which `*` is every key of either.
fn difference(before: Option<&Value>, after: Option<&Value>, names: &[&str]) -> Option<String> {
    let Some((name, rest)) = names.split_first() else {
        return (blank(before) != blank(after)).then(String::new);
    };
    let child = |value: Option<&Value>, key: &str| value.and_then(|value| value.get(key)).cloned();
    let keys: Vec<String> = if *name == "*" {
        [before, after]
            .into_iter()
            .filter_map(|value| value.and_then(Value::as_object))
            .flat_map(|object| object.keys().cloned())
            .collect()
    } else {
        vec![(*name).to_owned()]
    };
    keys.iter().find_map(|key| {
        let (before, after) = (child(before, key), child(after, key));
        difference(before.as_ref(), after.as_ref(), rest).map(|below| format!("/{key}{below}"))
    })
}

/// No block, and one with nothing in it, depend on the same.
fn blank(value: Option<&Value>) -> Option<&Value> {
    value.filter(|value| match value {
        Value::Object(object) => !object.is_empty(),
        Value::Array(array) => !array.is_empty(),
        Value::Null => false,
        _ => true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(kind: ManifestKind, before: &str, after: &str) -> Option<String> {
        changed_block(kind, Some(before.as_bytes()), Some(after.as_bytes())).unwrap()
    }

    // proves: SCO-03
    #[test]
    fn only_the_block_counts() {
        let npm = r#"{"name":"x","scripts":{"test":"a"},"dependencies":{"a":"1"}}"#;
        let script = r#"{"name":"x", "dependencies":{ "a":"1"},"scripts":{"test":"b"}}"#;
        assert_eq!(changed(ManifestKind::Npm, npm, script), None);
        let added = r#"{"dependencies":{"a":"1","b":"2"}}"#;
        assert_eq!(changed(ManifestKind::Npm, npm, added).as_deref(), Some("/dependencies"));
        let nested = r#"{"dependencies":{"a":"1"},"pnpm":{"overrides":{"a":"evil"}}}"#;
        assert_eq!(changed(ManifestKind::Npm, npm, nested).as_deref(), Some("/pnpm/overrides"));
        let cargo = "[package]\nname='x'\n[dependencies]\na='1'\n";
        let other = "# why\n[package]\nname='y'\n[dependencies]\na = '1'\n[dev-dependencies]\n";
        assert_eq!(changed(ManifestKind::Cargo, cargo, other), None);
        let target = format!("{cargo}[target.'cfg(unix)'.dependencies]\nb='1'\n");
        assert_eq!(
            changed(ManifestKind::Cargo, cargo, &target).as_deref(),
            Some("/target/cfg(unix)/dependencies")
        );
        let python = "[project]\nname='x'\ndependencies=['a']\n";
        let more = "[project]\nname='x'\ndependencies=['a','b']\n";
        assert_eq!(
            changed(ManifestKind::Python, python, more).as_deref(),
            Some("/project/dependencies")
        );
    }

    #[test]
    fn what_cannot_be_read_is_an_error_and_a_deleted_one_has_no_block() {
        let twice = br#"{"dependencies":{},"dependencies":{"a":"1"}}"#;
        assert!(changed_block(ManifestKind::Npm, None, Some(twice)).is_err());
        assert!(changed_block(ManifestKind::Cargo, None, Some(b"[")).is_err());
        let gone = changed_block(ManifestKind::Npm, Some(br#"{"dependencies":{"a":"1"}}"#), None);
        assert_eq!(gone.unwrap().as_deref(), Some("/dependencies"));
        assert_eq!(changed_block(ManifestKind::Npm, None, Some(b"{}")).unwrap(), None);
    }
}
