//! Mounts and loop images that go away with the test that made them, also when it panics.

use std::fs::File;
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use nix::mount::{MntFlags, MsFlags, mount, umount2};

/// A file system is busy for a moment while another test forks with its files open.
const BUSY_TRIES: usize = 200;
const BUSY_PAUSE: Duration = Duration::from_millis(5);

/// Something is mounted at this path.
#[derive(Debug)]
pub(crate) struct Mount {
    pub(crate) at: PathBuf,
}

impl Mount {
    pub(crate) fn tmpfs(at: &Path) -> nix::Result<Self> {
        Self::new(Some("tmpfs"), at, Some("tmpfs"), MsFlags::empty(), None)
    }

    pub(crate) fn bind(from: &Path, at: &Path) -> nix::Result<Self> {
        Self::new(Some(from.to_str().unwrap()), at, None, MsFlags::MS_BIND, None)
    }

    pub(crate) fn overlay(lower: &Path, upper: &Path, work: &Path, at: &Path) -> nix::Result<Self> {
        let options = format!(
            "lowerdir={},upperdir={},workdir={}",
            lower.display(),
            upper.display(),
            work.display()
        );
        Self::new(Some("overlay"), at, Some("overlay"), MsFlags::empty(), Some(&options))
    }

    fn new(
        source: Option<&str>,
        at: &Path,
        kind: Option<&str>,
        flags: MsFlags,
        options: Option<&str>,
    ) -> nix::Result<Self> {
        mount(source, at, kind, flags, options)?;
        Ok(Self { at: at.to_owned() })
    }

    pub(crate) fn remount_read_only(&self) {
        let flags = MsFlags::MS_REMOUNT | MsFlags::MS_RDONLY;
        patiently(|| mount(None::<&str>, &self.at, None::<&str>, flags, None::<&str>)).unwrap();
    }

    /// Unmounts for good: what comes next must find the file system free.
    fn unmount(self) -> nix::Result<()> {
        patiently(|| umount2(&self.at, MntFlags::empty()))?;
        std::mem::forget(self);
        Ok(())
    }
}

fn patiently(mut act: impl FnMut() -> nix::Result<()>) -> nix::Result<()> {
    for _ in 0..BUSY_TRIES {
        match act() {
            Err(nix::Error::EBUSY) => std::thread::sleep(BUSY_PAUSE),
            result => return result,
        }
    }
    Err(nix::Error::EBUSY)
}

impl Drop for Mount {
    fn drop(&mut self) {
        if umount2(&self.at, MntFlags::empty()).is_err() {
            // Whatever still holds it, the name goes now and the rest when it is let go.
            let _ = umount2(&self.at, MntFlags::MNT_DETACH);
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Ext4,
    Xfs,
}

impl Format {
    fn name(self) -> &'static str {
        match self {
            Self::Ext4 => "ext4",
            Self::Xfs => "xfs",
        }
    }
}

/// A file system in a file, mounted through a loop device.
#[derive(Debug)]
pub(crate) struct Image {
    file: PathBuf,
    at: PathBuf,
    mounted: Option<Mount>,
}

impl Image {
    /// Makes `dir/NAME.img` and mounts it at `dir/NAME`. An error says why the machine cannot.
    pub(crate) fn new(dir: &Path, format: Format, bytes: u64) -> Result<Self, String> {
        let name = format.name();
        let file = dir.join(format!("{name}.img"));
        let at = dir.join(name);
        std::fs::create_dir(&at).unwrap();
        File::create(&file).unwrap().set_len(bytes).unwrap();
        let mut make = Command::new(format!("mkfs.{name}"));
        match format {
            // No blocks kept back for root: the test is root, and would have them.
            Format::Ext4 => make.args(["-q", "-F", "-m", "0"]),
            Format::Xfs => make.arg("-q"),
        };
        run(make.arg(&file))?;
        let mut image = Self { file, at, mounted: None };
        image.mount()?;
        Ok(image)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.at
    }

    fn mount(&mut self) -> Result<(), String> {
        // The command, not the call: it finds a free loop device, and the kernel frees it again.
        run(Command::new("mount").args(["-o", "loop"]).arg(&self.file).arg(&self.at))?;
        self.mounted = Some(Mount { at: self.at.clone() });
        Ok(())
    }

    /// Off and on again, as after a reboot: the journal is replayed.
    pub(crate) fn remount(&mut self) -> Result<(), String> {
        if let Some(mount) = self.mounted.take() {
            mount.unmount().map_err(|error| format!("unmount {}: {error}", self.at.display()))?;
        }
        self.mount()
    }

    pub(crate) fn remount_read_only(&self) {
        self.mounted.as_ref().unwrap().remount_read_only();
    }

    /// Cuts the power: from now on nothing reaches the disk, not even the journal's own tail.
    pub(crate) fn shut_down(&self) {
        const WITHOUT_FLUSHING_THE_LOG: u32 = 2;
        let dir = File::open(&self.at).unwrap();
        let mut flags = WITHOUT_FLUSHING_THE_LOG;
        #[expect(unsafe_code, reason = "an ioctl that no crate wraps")]
        // SAFETY: the kernel reads one u32, which lives until the call returns.
        unsafe { fs_shutdown(dir.as_raw_fd(), &raw mut flags) }.unwrap();
    }

    /// Everything so far is on the disk.
    pub(crate) fn sync(&self) {
        nix::unistd::syncfs(File::open(&self.at).unwrap()).unwrap();
    }
}

// `FS_IOC_SHUTDOWN`.
nix::ioctl_read!(fs_shutdown, b'X', 125, u32);

fn run(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr).trim()))
}
