//! The throw-away root, and who stands in it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};

/// What happened to the lines of one batch.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Told {
    pub(crate) allowed: Vec<String>,
    pub(crate) runs: usize,
    pub(crate) wrote: usize,
    pub(crate) holes: Vec<String>,
}

/// Makes the root on an empty folder and leaves the one of the machine behind. What is mounted ends with the
/// namespace.
const SET_UP: &str = r#"
set -e
R=$1
mount -t tmpfs -o size=400m,nr_inodes=20000,mode=755 tmpfs "$R"
cp "$2" "$R/lines"; cp "$3" "$R/ao"; cp "$4" "$R/texts"
cd "$R"
mkdir usr etc proc dev tmp home home/u work keep old
for d in usr etc; do mount --rbind "/$d" "$d"; mount -o remount,bind,ro "$d"; done
for d in bin sbin lib lib32 lib64 libx32; do
  if [ -L "/$d" ]; then cp -P "/$d" "$d"; elif [ -d "/$d" ]; then mkdir "$d"; mount --rbind "/$d" "$d"; mount -o remount,bind,ro "$d"; fi
done
for n in null zero urandom random; do : > "dev/$n"; mount --bind "/dev/$n" "dev/$n"; done
mount -t proc proc proc
ln -s /proc/self/fd dev/fd
PATH=$PATH:/sbin:/usr/sbin
pivot_root . old
umount -l /old
rmdir /old
cd /
echo READY
exec unshare --user --map-user=1000 --map-group=1000 -- /lines inside
"#;

/// An error if there can be no such root here; then nothing was run.
pub(crate) fn judge_and_run(lines: &[String]) -> Result<Told, String> {
    let folder = tempfile::Builder::new().prefix("ao-lines-").tempdir_in("/tmp").unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    fs::create_dir(at("root")).unwrap();
    let texts: Vec<String> =
        lines.iter().map(|line| serde_json::to_string(line).unwrap()).collect();
    fs::write(at("texts"), texts.join("\n")).unwrap();
    for (from, to) in [
        (std::env::current_exe().unwrap(), "lines"),
        (Path::new(env!("CARGO_BIN_EXE_ao")).to_owned(), "ao"),
    ] {
        // Without its tables for a debugger it fits into a small root.
        let is_stripped = Command::new("strip").arg("-o").arg(at(to)).arg(&from).status();
        if !is_stripped.is_ok_and(|status| status.success()) {
            fs::copy(&from, at(to)).unwrap();
        }
        fs::set_permissions(at(to), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut command = ordinary();
    command.args([
        "--user",
        "--map-root-user",
        "--mount",
        "--pid",
        "--net",
        "--ipc",
        "--uts",
        "--fork",
        "--kill-child=SIGKILL",
        "--propagation",
        "private",
        "--",
        "sh",
        "-c",
        SET_UP,
        "sh",
    ]);
    for name in ["root", "lines", "ao", "texts"] {
        command.arg(at(name));
    }
    command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin");
    let output = command.stdin(Stdio::null()).output().map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&output.stdout);
    let told = said.lines().find_map(|line| line.strip_prefix("TOLD "));
    match told {
        Some(told) => Ok(serde_json::from_str(told).unwrap()),
        None if said.starts_with("READY") => {
            let died = String::from_utf8_lossy(&output.stderr);
            panic!("the judge, or who asks it, failed: {died}")
        }
        None => Err(format!(
            "no throw-away root: {} {}",
            output.status,
            String::from_utf8_lossy(&output.stderr).trim()
        )),
    }
}

/// `unshare`, started by an ordinary user whoever runs the tests.
fn ordinary() -> Command {
    if !rustix::process::getuid().is_root() {
        return Command::new("unshare");
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "unshare"]);
    command
}
