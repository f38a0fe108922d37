use std::path::Path;

use super::{Act, Cause, Failure, Side, State};

#[cfg(target_os = "linux")]
pub use linux::Root;
#[cfg(target_os = "linux")]
pub(super) use linux::direct;

/// A folder that was opened for an operation. Operations are not proven on this system, so there is none.
#[cfg(not(target_os = "linux"))]
#[derive(Debug)]
pub enum Root {}

#[cfg(not(target_os = "linux"))]
impl Root {
    /// Refuses.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        Err(refused(path, Cause::Platform))
    }
}

fn refused(path: &Path, cause: Cause) -> Failure {
    Failure { act: Act::Open, side: Side::Source, path: path.to_path_buf(), cause, state: State::NothingMade }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::ffi::OsStr;
    use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
    use std::path::{Component, Path, PathBuf};

    use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat, openat2};
    use rustix::io::Errno;

    use super::refused;
    use crate::ops::{Cause, Failure};

    /// A folder that was opened for an operation, by a path without links.
    #[derive(Debug)]
    pub struct Root {
        folder: OwnedFd,
        path: PathBuf,
    }

    impl Root {
        /// Opens a folder by its absolute path, of which no part may be a link: whoever could put one there since the
        /// path was looked at would otherwise choose what we work on.
        pub fn open(path: &Path) -> Result<Self, Failure> {
            let folder = direct(path).map_err(|error| match error {
                Errno::LOOP => refused(path, Cause::NotDirect),
                error => refused(path, Cause::System(error.into())),
            })?;
            Ok(Self { folder, path: path.to_path_buf() })
        }

        /// Its path, for messages.
        pub fn path(&self) -> &Path {
            &self.path
        }
    }

    impl AsFd for Root {
        fn as_fd(&self) -> BorrowedFd<'_> {
            self.folder.as_fd()
        }
    }

    /// Opens a folder by its absolute path, of which no part may be a link: that is `LOOP`, as is a path that is not
    /// absolute or goes up.
    pub(in crate::ops) fn direct(path: &Path) -> Result<OwnedFd, Errno> {
        let names: Option<Vec<&OsStr>> = path
            .components()
            .skip(1)
            .map(|part| if let Component::Normal(name) = part { Some(name) } else { None })
            .collect();
        open_direct(&names.filter(|_| path.has_root()).ok_or(Errno::LOOP)?)
    }

    const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

    fn open_direct(names: &[&OsStr]) -> Result<OwnedFd, Errno> {
        let top = openat(CWD, c"/", FOLDER, Mode::empty())?;
        if names.is_empty() {
            return Ok(top);
        }
        let below: PathBuf = names.iter().collect();
        let how = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        match openat2(&top, &below, FOLDER, Mode::empty(), how) {
            // Kernels before 5.6 have no such call, and some containers forbid what they do not know.
            Err(Errno::NOSYS | Errno::PERM) => one_by_one(top, names),
            result => result,
        }
    }

    /// The same for systems without `openat2`: each part from the folder before it.
    fn one_by_one(top: OwnedFd, names: &[&OsStr]) -> Result<OwnedFd, Errno> {
        let mut folder = top;
        for (n, name) in names.iter().enumerate() {
            let reading = if n + 1 == names.len() { OFlags::RDONLY } else { OFlags::PATH };
            let flags = reading | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            folder = openat(&folder, *name, flags, Mode::empty()).map_err(|error| {
                // A link is no folder, so the system says only that.
                let link = error == Errno::NOTDIR
                    && rustix::fs::statat(&folder, *name, rustix::fs::AtFlags::SYMLINK_NOFOLLOW)
                        .is_ok_and(|stat| rustix::fs::FileType::from_raw_mode(stat.st_mode).is_symlink());
                if link { Errno::LOOP } else { error }
            })?;
        }
        Ok(folder)
    }

    #[cfg(test)]
    mod tests {
        use std::os::unix::fs::{MetadataExt, symlink};

        use super::*;

        #[test]
        fn a_path_through_a_link_is_refused_with_and_without_openat2() {
            let temp = tempfile::TempDir::new().unwrap();
            let base = temp.path().canonicalize().unwrap();
            std::fs::create_dir_all(base.join("real/in")).unwrap();
            symlink("real", base.join("link")).unwrap();
            assert!(Root::open(&base.join("real/in")).is_ok());
            for bad in [base.join("link/in"), base.join("link"), "real".into(), base.join("real/../real")] {
                assert!(matches!(Root::open(&bad).unwrap_err().cause, Cause::NotDirect), "{}", bad.display());
            }
            let top = || openat(CWD, c"/", FOLDER, Mode::empty()).unwrap();
            let names = |path: &Path| path.iter().skip(1).map(OsStr::to_owned).collect::<Vec<_>>();
            let walk = |path: &Path| {
                let names = names(path);
                one_by_one(top(), &names.iter().map(AsRef::as_ref).collect::<Vec<_>>())
            };
            let opened = walk(&base.join("real/in")).unwrap();
            let inode = std::fs::metadata(base.join("real/in")).unwrap().ino();
            assert_eq!(rustix::fs::fstat(&opened).unwrap().st_ino, inode);
            assert_eq!(walk(&base.join("link/in")).unwrap_err(), Errno::LOOP);
            assert_eq!(walk(&base.join("link")).unwrap_err(), Errno::LOOP);
        }
    }
}
