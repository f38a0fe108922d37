//! What a file has besides bytes: owner, extended attributes, mode, times; set in this order, since each may undo the
//! ones after it.

use std::collections::HashSet;
use std::ffi::{CStr, CString};
use std::os::fd::OwnedFd;

use rustix::fs::FileType;
use rustix::io::Errno;

use super::Lost;
use super::calls::Hook;
use super::file::BUFFER;
use super::seen::Seen;
use super::walk::{Copier, Stop, said};
use crate::ops::{Act, Side};

const SET_USER: u32 = 0o4000;
const SET_GROUP: u32 = 0o2000;

/// What is done about an extended attribute.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// It is copied.
    Keep,
    /// It is copied by root. Anybody else looks whether the system has given the copy the same by itself.
    KeepAsRoot,
    /// It is not copied: it gives rights that no save needs, or belongs to the file system.
    Leave,
}

fn way_of(name: &[u8]) -> Way {
    match name {
        b"system.posix_acl_access" | b"system.posix_acl_default" => Way::Keep,
        b"security.capability" => Way::Leave,
        _ if name.starts_with(b"user.") => Way::Keep,
        _ if name.starts_with(b"security.") => Way::KeepAsRoot,
        _ => Way::Leave,
    }
}

/// Whether an extended attribute is copied at all, by those who may.
pub(in crate::ops) fn is_copied(name: &[u8]) -> bool {
    way_of(name) != Way::Leave
}

impl<H: Hook> Copier<'_, H> {
    /// Makes `copy`, which was `made` like that, look as its source did `before` anything of it was read.
    pub(super) fn dress(&mut self, from: &OwnedFd, copy: &OwnedFd, before: &Seen, made: &Seen) -> Result<(), Stop> {
        let stop_at = said(Act::Dress, Side::Stage);
        let (user, group) = self.own(copy, before, made)?;
        self.attributes(from, copy)?;
        let wanted = self.mode_for(before, user, group);
        self.sys.chmod(copy, wanted).map_err(&stop_at)?;
        self.sys.set_times(copy, &before.times()).map_err(&stop_at)?;
        // The system drops some bits without a word.
        let is = Seen::from(self.sys.stat(copy).map_err(said(Act::Look, Side::Stage))?).mode();
        if is != before.mode() {
            self.lose(Lost::Mode { was: before.mode(), is });
        }
        Ok(())
    }

    /// Sets user and group, and says which of them are as they were.
    fn own(&mut self, copy: &OwnedFd, before: &Seen, made: &Seen) -> Result<(bool, bool), Stop> {
        let mut kept = (before.user == made.user, before.group == made.group);
        if kept == (true, true) {
            return Ok(kept);
        }
        let tries = [(Some(before.user), Some(before.group)), (None, Some(before.group))];
        for (user, group) in tries {
            match self.sys.chown(copy, user, group) {
                Ok(()) => {
                    kept = (kept.0 || user.is_some(), true);
                    break;
                }
                // Only root gives files away; and a namespace may not know the user at all.
                Err(Errno::PERM | Errno::INVAL) => {}
                Err(error) => return Err(said(Act::Dress, Side::Stage)(error)),
            }
        }
        if kept != (true, true) {
            self.lose(Lost::Owner { user: before.user, group: before.group });
        }
        Ok(kept)
    }

    /// The mode that a copy gets. On a file, set-user-id and set-group-id are kept only where the file is ours and we
    /// are not root: no save needs them, and a copy of somebody's program with root's rights would outlive the day on
    /// which that program is mended. On a folder they mean who owns new files, and are kept while the owner is.
    fn mode_for(&self, before: &Seen, user: bool, group: bool) -> u32 {
        let mut mode = before.mode();
        let ours = before.user == self.me.as_raw() && !self.me.is_root();
        let file = before.kind() == FileType::RegularFile;
        if !user || (file && !ours) {
            mode &= !SET_USER;
        }
        if !group || (file && !ours) {
            mode &= !SET_GROUP;
        }
        mode
    }

    fn attributes(&mut self, from: &OwnedFd, copy: &OwnedFd) -> Result<(), Stop> {
        let wanted = self.attribute_names(from, Side::Source)?;
        // A new file may have got an access list from its folder.
        let there = self.attribute_names(copy, Side::Stage)?;
        let names: HashSet<&CStr> = wanted.iter().map(CString::as_c_str).collect();
        for name in there.iter().filter(|name| way_of(name.to_bytes()) == Way::Keep) {
            if !names.contains(name.as_c_str()) {
                self.sys.remove_attribute(copy, name).map_err(said(Act::Dress, Side::Stage))?;
            }
        }
        for name in &wanted {
            if !self.attribute(from, copy, name)? {
                self.lose(Lost::Attribute(name.to_bytes().to_vec()));
            }
        }
        Ok(())
    }

    /// The names of all attributes; none where the file system has no attributes.
    fn attribute_names(&mut self, file: &OwnedFd, side: Side) -> Result<Vec<CString>, Stop> {
        self.buffer.resize(BUFFER, 0);
        let length = match self.sys.attributes(file, &mut self.buffer) {
            Ok(length) => length,
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => 0,
            Err(error) => return Err(said(Act::Dress, side)(error)),
        };
        let (list, _) = self.buffer.split_at(length.min(BUFFER));
        let names = list.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        Ok(names.filter_map(|name| CString::new(name).ok()).collect())
    }

    /// Copies one attribute; false when it could not be kept.
    fn attribute(&mut self, from: &OwnedFd, copy: &OwnedFd, name: &CStr) -> Result<bool, Stop> {
        let way = way_of(name.to_bytes());
        if way == Way::Leave {
            return Ok(false);
        }
        let length = match self.sys.attribute(from, name, &mut self.buffer) {
            Ok(length) => length.min(BUFFER),
            Err(Errno::ACCESS | Errno::PERM | Errno::OPNOTSUPP) => return Ok(false),
            Err(error) => return Err(said(Act::Dress, Side::Source)(error)),
        };
        if way == Way::KeepAsRoot && !self.me.is_root() {
            let value = self.buffer.split_at(length).0.to_vec();
            return match self.sys.attribute(copy, name, &mut self.buffer) {
                Ok(length) => Ok(self.buffer.split_at(length.min(BUFFER)).0 == value),
                Err(_) => Ok(false),
            };
        }
        let (value, _) = self.buffer.split_at(length);
        match self.sys.set_attribute(copy, name, value) {
            Ok(()) => Ok(true),
            // What this file system or this user cannot have; a lack of space is an error like any other.
            Err(Errno::OPNOTSUPP | Errno::PERM | Errno::ACCESS | Errno::INVAL | Errno::RANGE | Errno::TOOBIG) => {
                Ok(false)
            }
            Err(error) => Err(said(Act::Dress, Side::Stage)(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Way, way_of};

    #[test]
    fn attributes_that_give_rights_are_not_copied() {
        assert!(way_of(b"user.note") == Way::Keep && way_of(b"system.posix_acl_default") == Way::Keep);
        assert!(way_of(b"security.selinux") == Way::KeepAsRoot);
        for name in ["security.capability", "trusted.overlay.opaque", "system.nfs4_acl", "users.x"] {
            assert!(way_of(name.as_bytes()) == Way::Leave, "{name}");
        }
    }
}
