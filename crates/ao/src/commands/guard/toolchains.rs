//! Where toolchains and package managers keep what they have, one row each.
//!
//! A row names folders in which no program that we know of keeps a key, a token or a history. Where
//! such a file lies beside them, the row has leaves, and only these are seen.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use ao_guard::cell::Toolchain;

use super::home::Homes;

/// Versions of a language, or environments, that a pattern stands for.
const MATCHES_MAX: usize = 500;

/// At the top of a folder that is seen as a whole. In tier A these and some more are hidden in any case.
const USUAL: [&str; 4] = [".env", ".npmrc", ".netrc", ".git-credentials"];

/// One toolchain or cache.
#[derive(Debug, Clone, Copy)]
struct ToolchainRow {
    /// Beneath the home, where nobody says otherwise.
    usual: &'static str,
    /// The variable that names the folder. It is set in the cell, so that a program finds the folder
    /// where it is outside: what was built before stays fresh.
    variable: Option<&'static str>,
    /// Another variable that says where it is, and a path beneath.
    otherwise: Option<(&'static str, &'static str)>,
    /// What is seen in the folder; all of it where there are none. `*` stands for any letters of one name.
    leaves: &'static [&'static str],
    /// Files and folders in it where programs or people keep logins: hidden, also when they come later.
    private: &'static [&'static str],
}

const fn row(usual: &'static str) -> ToolchainRow {
    ToolchainRow { usual, variable: None, otherwise: None, leaves: &[], private: &[] }
}

impl ToolchainRow {
    const fn named_by(self, variable: &'static str) -> Self {
        Self { variable: Some(variable), ..self }
    }

    const fn or_in(self, variable: &'static str, beneath: &'static str) -> Self {
        Self { otherwise: Some((variable, beneath)), ..self }
    }

    const fn only(self, leaves: &'static [&'static str]) -> Self {
        Self { leaves, ..self }
    }

    const fn without(self, private: &'static [&'static str]) -> Self {
        Self { private, ..self }
    }
}

/// Channels with tokens in their addresses, and the variables of an environment.
const CONDA: &[&str] = &[
    ".condarc",
    "condarc",
    "condarc.d",
    "pip.conf",
    "conda-meta/state",
    "etc/conda/activate.d/env_vars.sh",
    "envs/*/.condarc",
    "envs/*/pip.conf",
    "envs/*/conda-meta/state",
    "envs/*/etc/conda/activate.d/env_vars.sh",
];
/// What a package manager keeps beside the version of a language that it came with.
const INSTALLS: &[&str] = &["installs/*/*/etc", "installs/*/*/pip.conf"];

const ROWS: &[ToolchainRow] = &[
    // Rust.
    row(".rustup").named_by("RUSTUP_HOME"),
    row(".cargo")
        .named_by("CARGO_HOME")
        .only(&["bin", "registry", "git"])
        .without(&["git/db/*/FETCH_HEAD"]),
    row(".cache/sccache").named_by("SCCACHE_DIR"),
    // C and C++.
    row(".cache/ccache").named_by("CCACHE_DIR"),
    row(".conan2").named_by("CONAN_HOME").only(&["p"]),
    row(".platformio").named_by("PLATFORMIO_CORE_DIR").only(&["packages", "platforms"]),
    // Node.
    row(".nvm").named_by("NVM_DIR").without(&["versions/*/*/etc"]),
    row(".fnm").only(&["node-versions", "aliases"]).without(&["node-versions/*/installation/etc"]),
    row(".local/share/fnm")
        .named_by("FNM_DIR")
        .only(&["node-versions", "aliases"])
        .without(&["node-versions/*/installation/etc"]),
    row(".volta")
        .named_by("VOLTA_HOME")
        .only(&["bin", "tools", "cache"])
        .without(&["tools/image/*/*/etc"]),
    row(".nodenv").named_by("NODENV_ROOT").without(&["versions/*/etc"]),
    row(".npm").named_by("npm_config_cache").only(&["_cacache", "_npx", "_prebuilds"]),
    row(".npm-global").only(&["bin", "lib"]),
    row(".cache/node").only(&["corepack"]),
    row(".cache/node-gyp").named_by("npm_config_devdir"),
    row(".local/share/pnpm").named_by("PNPM_HOME").without(&["auth.ini", "rc", "nodejs/*/etc"]),
    row(".cache/pnpm"),
    row(".yarn").only(&["berry/cache", "bin"]),
    row(".cache/yarn").named_by("YARN_CACHE_FOLDER"),
    row(".bun").named_by("BUN_INSTALL").only(&["bin", "install/cache", "install/global"]),
    row(".deno").named_by("DENO_INSTALL").only(&["bin"]),
    row(".cache/deno").named_by("DENO_DIR"),
    row(".cache/ms-playwright").named_by("PLAYWRIGHT_BROWSERS_PATH"),
    row(".cache/puppeteer").named_by("PUPPETEER_CACHE_DIR"),
    row(".cache/Cypress").named_by("CYPRESS_CACHE_FOLDER"),
    row(".cache/electron"),
    row(".cache/prisma"),
    row(".cache/turbo"),
    row(".cache/typescript"),
    // Python.
    row(".pyenv").named_by("PYENV_ROOT").without(&[
        "versions/*/etc",
        "versions/*/pip.conf",
        "versions/*/envs/*/pip.conf",
    ]),
    row(".cache/pip").named_by("PIP_CACHE_DIR"),
    row(".cache/uv").named_by("UV_CACHE_DIR"),
    row(".local/share/uv")
        .only(&["python", "tools"])
        .without(&["python/*/etc", "python/*/pip.conf"]),
    row(".local/share/pipx").named_by("PIPX_HOME").only(&["venvs", "shared"]),
    row(".local/pipx").only(&["venvs", "shared"]),
    row(".cache/pypoetry").named_by("POETRY_CACHE_DIR"),
    row(".local/share/pypoetry").named_by("POETRY_HOME").only(&["venv", "bin"]),
    row(".virtualenvs").named_by("WORKON_HOME").without(&[
        "postactivate",
        "preactivate",
        "*/bin/postactivate",
        "*/bin/preactivate",
        "*/pip.conf",
        "*/.env",
    ]),
    // Git writes the address of a remote there, with the login in it.
    row(".cache/pre-commit").named_by("PRE_COMMIT_HOME").without(&["*/.git"]),
    row(".cache/ruff").named_by("RUFF_CACHE_DIR"),
    row(".cache/mypy").named_by("MYPY_CACHE_DIR"),
    row("miniconda3").without(CONDA),
    row("miniforge3").without(CONDA),
    row("mambaforge").without(CONDA),
    row("anaconda3").without(CONDA),
    row(".conda").only(&["pkgs", "envs"]).without(CONDA),
    row(".cache/huggingface").named_by("HF_HOME").only(&["hub", "datasets", "xet"]),
    row(".cache/torch").named_by("TORCH_HOME"),
    row(".triton"),
    row(".ollama/models").named_by("OLLAMA_MODELS"),
    // Go.
    row("go/pkg/mod").named_by("GOMODCACHE").or_in("GOPATH", "pkg/mod"),
    row("go/bin").or_in("GOPATH", "bin"),
    row(".cache/go-build").named_by("GOCACHE"),
    row("sdk").only(&["go1*"]),
    row(".goenv").named_by("GOENV_ROOT"),
    row(".cache/golangci-lint").named_by("GOLANGCI_LINT_CACHE"),
    row(".cache/gopls"),
    // Java, Kotlin, Scala, Android.
    row(".sdkman").named_by("SDKMAN_DIR").only(&["candidates"]),
    row(".jenv").named_by("JENV_ROOT").only(&["versions", "shims"]),
    row(".jdks"),
    row(".m2").only(&["repository", "wrapper"]),
    row(".gradle").named_by("GRADLE_USER_HOME").only(&["caches", "wrapper", "jdks", "native"]),
    row(".ivy2").only(&["cache", "local"]),
    row(".sbt").only(&["boot"]),
    row(".cache/coursier").named_by("COURSIER_CACHE"),
    row(".konan").named_by("KONAN_DATA_DIR"),
    row("Android/Sdk").named_by("ANDROID_HOME"),
    // Ruby, PHP, Perl, Lua.
    row(".rbenv").named_by("RBENV_ROOT").without(&["versions/*/etc"]),
    row(".rvm").only(&["rubies", "gems", "bin", "scripts"]),
    row(".gem").only(&["ruby", "specs"]),
    row(".local/share/gem").only(&["ruby"]),
    row(".bundle").only(&["cache", "plugin"]),
    row(".cache/composer").named_by("COMPOSER_CACHE_DIR"),
    row(".config/composer").only(&["vendor"]),
    row(".composer").only(&["vendor", "cache"]),
    row("perl5"),
    row(".cpanm"),
    row(".luarocks").only(&["lib", "share", "bin"]),
    // .NET.
    row(".nuget/packages").named_by("NUGET_PACKAGES"),
    row(".dotnet").only(&["sdk", "shared", "tools", "host", "packs"]),
    // Others.
    row(".hex").named_by("HEX_HOME").only(&["packages"]),
    row(".mix").named_by("MIX_HOME"),
    row(".opam").named_by("OPAMROOT").only(&["repo", "default", "opam-init"]),
    row(".ghcup"),
    row(".cabal").named_by("CABAL_DIR").only(&["packages", "store", "bin"]),
    row(".stack").named_by("STACK_ROOT").only(&["pantry", "programs", "snapshots"]),
    row(".julia").only(&["packages", "compiled", "artifacts", "registries", "juliaup"]),
    row("R").only(&["*-library"]),
    row(".pub-cache").named_by("PUB_CACHE").only(&["hosted", "bin", "git", "global_packages"]),
    row("flutter").named_by("FLUTTER_ROOT"),
    row(".swiftpm").only(&["cache"]),
    row(".nimble").named_by("NIMBLE_DIR"),
    row(".choosenim").named_by("CHOOSENIM_DIR"),
    row(".elan").named_by("ELAN_HOME"),
    row(".cache/zig").named_by("ZIG_GLOBAL_CACHE_DIR"),
    row(".cache/bazel").only(&["_bazel_*/install", "_bazel_*/cache"]),
    row(".cache/trivy").named_by("TRIVY_CACHE_DIR"),
    row(".terraform.d").only(&["plugin-cache", "plugins"]),
    row(".pulumi").only(&["bin", "plugins"]),
    row(".krew").only(&["bin", "store"]),
    row(".local/share/helm").only(&["plugins"]),
    row(".docker").only(&["cli-plugins"]),
    // What installs others.
    row(".asdf")
        .named_by("ASDF_DATA_DIR")
        .only(&["installs", "shims", "plugins", "bin", "lib", "libexec"])
        .without(INSTALLS),
    row(".local/share/mise")
        .named_by("MISE_DATA_DIR")
        .only(&["installs", "shims", "plugins"])
        .without(INSTALLS),
    row(".proto")
        .named_by("PROTO_HOME")
        .only(&["bin", "shims", "tools", "plugins"])
        .without(&["tools/*/*/etc"]),
    row(".local/state/nix").only(&["profiles"]),
    row(".linuxbrew").without(&["etc", "var"]),
    row(".local/bin"),
    row(".local/lib"),
    // Editors and shells.
    row(".vim")
        .only(&["pack", "plugged", "autoload", "bundle", "colors", "ftplugin", "plugin", "syntax"]),
    row(".local/share/nvim").only(&["lazy", "site", "mason"]),
    row(".local/share/terminfo"),
    row(".local/share/man"),
    row(".local/share/bash-completion"),
    row(".fzf"),
    row(".vscode-server").only(&["bin", "cli", "extensions"]),
    // Agents: the programs alone.
    row(".claude").only(&["local"]),
    row(".local/share/claude").only(&["versions"]),
    row(".opencode").only(&["bin"]),
    row(".local/share/cursor-agent").only(&["versions"]),
];

/// What was found of them, and what a program in a cell is told.
#[derive(Debug, Default)]
pub(super) struct FoundToolchains {
    pub(super) all: Vec<Toolchain>,
    /// Where each is, by the variable that says so.
    pub(super) variables: Vec<(&'static str, PathBuf)>,
    /// In the private home, for programs that look there.
    pub(super) links: Vec<(PathBuf, PathBuf)>,
}

/// Looks for each row, in the homes and where variables say.
pub(super) fn find(homes: &Homes, variable: impl Fn(&str) -> Option<PathBuf>) -> FoundToolchains {
    let mut found = FoundToolchains::default();
    for row in ROWS {
        let named = row.variable.and_then(&variable);
        let otherwise = row.otherwise.and_then(|(name, path)| Some(variable(name)?.join(path)));
        let told = named.or(otherwise).filter(|path| path.is_absolute());
        let mut in_homes = homes.all().iter().map(|home| home.join(row.usual));
        // A program looks in the first home alone; what is in another one is found through PATH.
        let first = in_homes.next();
        if let Some(folder) = told.or(first)
            && let Some(real) = found.add(row, &folder, homes)
        {
            found.tell(row, &real);
        }
        for folder in in_homes {
            found.add(row, &folder, homes);
        }
    }
    found
}

impl FoundToolchains {
    fn add(&mut self, row: &ToolchainRow, folder: &Path, homes: &Homes) -> Option<PathBuf> {
        let real = folder.canonicalize().ok().filter(|real| real.is_dir())?;
        let mut leaves = matching(&real, row.leaves);
        leaves.retain(|leaf| is_folder(&real.join(leaf)));
        // With none of its leaves there, nothing of it may be seen.
        let is_whole = row.leaves.is_empty();
        let shows_secrets = is_whole && homes.secret_place(&real).is_some();
        if !is_whole && leaves.is_empty() || shows_secrets || homes.is_above(&real) {
            return None;
        }
        let is_there = |one: &Toolchain| {
            one.folder == real || one.leaves.is_empty() && real.starts_with(&one.folder)
        };
        if !self.all.iter().any(is_there) {
            let mut private = matching(&real, row.private);
            if is_whole {
                let is_there = |name: &&&str| fs::symlink_metadata(real.join(name)).is_ok();
                private.extend(USUAL.iter().filter(is_there).map(PathBuf::from));
            }
            self.all.push(Toolchain { folder: real.clone(), leaves, private });
        }
        Some(real)
    }

    fn tell(&mut self, row: &ToolchainRow, real: &Path) {
        if let Some(name) = row.variable {
            self.variables.push((name, real.to_owned()));
        }
        self.links.push((row.usual.into(), real.to_owned()));
    }
}

fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}

/// Paths beneath a folder. A pattern stands for the folders that are there; a name without one is taken
/// as it is, whether it is there or not.
fn matching(folder: &Path, patterns: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for pattern in patterns {
        let mut paths = vec![PathBuf::new()];
        for name in pattern.split('/') {
            let Some((before, after)) = name.split_once('*') else {
                for path in &mut paths {
                    path.push(name);
                }
                continue;
            };
            paths = paths
                .iter()
                .flat_map(|path| {
                    entries(&folder.join(path)).into_iter().map(|name| path.join(name))
                })
                .filter(|path| {
                    let name = path.file_name().unwrap_or_default().to_string_lossy();
                    let is_long = name.len() >= before.len() + after.len();
                    is_long && name.starts_with(before) && name.ends_with(after)
                })
                .filter(|path| is_folder(&folder.join(path)))
                .take(MATCHES_MAX)
                .collect();
        }
        found.extend(paths);
    }
    found
}

fn entries(folder: &Path) -> Vec<OsString> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name()).collect()
}
