//! Where toolchains and package managers keep what they have, one row each.
//!
//! A row names folders in which no program that we know of keeps a key, a token or a history. Where
//! such a file lies beside them, the row has leaves, and only these are seen.

use std::fs;
use std::path::{Path, PathBuf};

use ao_guard::cell::Toolchain;

use super::home::Homes;

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
    /// What is seen in the folder; all of it where there are none.
    leaves: &'static [&'static str],
}

const fn row(usual: &'static str) -> ToolchainRow {
    ToolchainRow { usual, variable: None, otherwise: None, leaves: &[] }
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
}

const ROWS: &[ToolchainRow] = &[
    // Rust.
    row(".rustup").named_by("RUSTUP_HOME"),
    row(".cargo").named_by("CARGO_HOME").only(&["bin", "registry", "git"]),
    row(".cache/sccache").named_by("SCCACHE_DIR"),
    // C and C++.
    row(".cache/ccache").named_by("CCACHE_DIR"),
    row(".conan2").named_by("CONAN_HOME").only(&["p"]),
    row(".platformio").named_by("PLATFORMIO_CORE_DIR").only(&["packages", "platforms"]),
    // Node.
    row(".nvm").named_by("NVM_DIR"),
    row(".fnm").only(&["node-versions", "aliases"]),
    row(".local/share/fnm").named_by("FNM_DIR").only(&["node-versions", "aliases"]),
    row(".volta").named_by("VOLTA_HOME").only(&["bin", "tools", "cache"]),
    row(".nodenv").named_by("NODENV_ROOT"),
    row(".npm").named_by("npm_config_cache").only(&["_cacache", "_npx", "_prebuilds"]),
    row(".npm-global").only(&["bin", "lib"]),
    row(".cache/node").only(&["corepack"]),
    row(".cache/node-gyp").named_by("npm_config_devdir"),
    row(".local/share/pnpm").named_by("PNPM_HOME"),
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
    row(".pyenv").named_by("PYENV_ROOT"),
    row(".cache/pip").named_by("PIP_CACHE_DIR"),
    row(".cache/uv").named_by("UV_CACHE_DIR"),
    row(".local/share/uv").only(&["python", "tools"]),
    row(".local/share/pipx").named_by("PIPX_HOME").only(&["venvs", "shared"]),
    row(".local/pipx").only(&["venvs", "shared"]),
    row(".cache/pypoetry").named_by("POETRY_CACHE_DIR"),
    row(".local/share/pypoetry").named_by("POETRY_HOME"),
    row(".virtualenvs").named_by("WORKON_HOME"),
    row(".cache/pre-commit").named_by("PRE_COMMIT_HOME"),
    row(".cache/ruff").named_by("RUFF_CACHE_DIR"),
    row(".cache/mypy").named_by("MYPY_CACHE_DIR"),
    row("miniconda3"),
    row("miniforge3"),
    row("mambaforge"),
    row("anaconda3"),
    row(".conda").only(&["pkgs", "envs"]),
    row(".cache/huggingface").named_by("HF_HOME").only(&["hub", "datasets", "xet"]),
    row(".cache/torch").named_by("TORCH_HOME"),
    row(".triton"),
    row(".ollama/models").named_by("OLLAMA_MODELS"),
    // Go.
    row("go/pkg/mod").named_by("GOMODCACHE").or_in("GOPATH", "pkg/mod"),
    row("go/bin").or_in("GOPATH", "bin"),
    row(".cache/go-build").named_by("GOCACHE"),
    row("sdk"),
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
    row(".rbenv").named_by("RBENV_ROOT"),
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
    row("R"),
    row(".pub-cache").named_by("PUB_CACHE").only(&["hosted", "bin", "git", "global_packages"]),
    row("flutter").named_by("FLUTTER_ROOT"),
    row(".swiftpm").only(&["cache"]),
    row(".nimble").named_by("NIMBLE_DIR"),
    row(".choosenim").named_by("CHOOSENIM_DIR"),
    row(".elan").named_by("ELAN_HOME"),
    row(".cache/zig").named_by("ZIG_GLOBAL_CACHE_DIR"),
    row(".cache/bazel"),
    row(".cache/trivy").named_by("TRIVY_CACHE_DIR"),
    row(".terraform.d").only(&["plugin-cache", "plugins"]),
    row(".pulumi").only(&["bin", "plugins"]),
    row(".krew").only(&["bin", "store"]),
    row(".local/share/helm").only(&["plugins"]),
    row(".docker").only(&["cli-plugins"]),
    // What installs others.
    row(".asdf")
        .named_by("ASDF_DATA_DIR")
        .only(&["installs", "shims", "plugins", "bin", "lib", "libexec"]),
    row(".local/share/mise").named_by("MISE_DATA_DIR").only(&["installs", "shims", "plugins"]),
    row(".proto").named_by("PROTO_HOME").only(&["bin", "shims", "tools", "plugins"]),
    row(".local/state/nix").only(&["profiles"]),
    row(".linuxbrew"),
    row(".local/bin"),
    row(".local/lib"),
    // Editors and shells.
    row(".vim")
        .only(&["pack", "plugged", "autoload", "bundle", "colors", "ftplugin", "plugin", "syntax"]),
    row(".local/share/nvim").only(&["lazy", "site", "mason"]),
    row(".local/share/terminfo"),
    row(".local/share/man"),
    row(".local/share/bash-completion"),
    row(".oh-my-zsh"),
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
        let leaves: Vec<PathBuf> = row
            .leaves
            .iter()
            .filter(|leaf| fs::symlink_metadata(real.join(leaf)).is_ok_and(|found| found.is_dir()))
            .map(PathBuf::from)
            .collect();
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
            self.all.push(Toolchain { folder: real.clone(), leaves });
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
