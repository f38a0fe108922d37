//! The tree of names inside an archive.
//!
//! Folders that an archive does not list are made from the paths of what lies in them. The tree is also where two
//! entries are held against each other: the same name twice, names that differ only in case or composition, and a
//! name that is a file and a folder at once refuse the archive.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use jiff::Timestamp;

use super::folder::check_relative;
use super::names::{self, quoted};
use super::{Ceilings, Entry, EntryKind, Stat, StoreError, StoreErrorKind};

/// All names together, in bytes. 128 MiB: what a million entries with the longest real paths take.
const NAMES: usize = 128 * 1024 * 1024;

/// A file or a folder.
struct Node {
    name: Box<str>,
    what: What,
    mtime: Option<Timestamp>,
}

enum What {
    /// Its children, sorted by name once the tree is built.
    Dir(Vec<u32>),
    /// Its size and the container's own number for it.
    File { size: u64, member: usize },
}

/// The finished tree.
pub(super) struct Index {
    nodes: Vec<Node>,
}

/// The tree while it is built.
pub(super) struct Builder {
    nodes: Vec<Node>,
    /// A folder's number and a folded name in it.
    folded: HashMap<(u32, Box<str>), u32>,
    /// The folder of the last entry, which most often is the one of the next.
    last: (Box<str>, u32),
    ceiling: u64,
    names: usize,
}

impl Builder {
    pub(super) fn new(ceilings: &Ceilings) -> Self {
        let root = Node { name: "".into(), what: What::Dir(Vec::new()), mtime: None };
        Self {
            nodes: vec![root],
            folded: HashMap::new(),
            last: ("".into(), 0),
            // The tree counts in 32 bits.
            ceiling: ceilings.entries.min(u64::from(u32::MAX - 1)),
            names: 0,
        }
    }

    /// Adds a file under a checked name and returns the number of its folder.
    pub(super) fn file(
        &mut self,
        path: &str,
        size: u64,
        mtime: Option<Timestamp>,
        member: usize,
    ) -> Result<u32, StoreErrorKind> {
        let (folder, name) = self.folder_of(path)?;
        match self.child(folder, name, path)? {
            None => {
                self.push(folder, name, Node { name: name.into(), what: What::File { size, member }, mtime })?;
                Ok(folder)
            }
            Some(other) if self.is_dir(other) => Err(both(path)),
            Some(_) => Err(StoreErrorKind::Hostile(format!("entry {} stands in it twice", quoted(path.as_bytes())))),
        }
    }

    /// Adds a folder under a checked name. The same folder may come twice, as `tar a a/b` writes it.
    pub(super) fn dir(&mut self, path: &str, mtime: Option<Timestamp>) -> Result<(), StoreErrorKind> {
        let (folder, name) = self.folder_of(path)?;
        let dir = self.dir_in(folder, name, path)?;
        if let Some(node) = self.nodes.get_mut(dir as usize) {
            node.mtime = mtime.or(node.mtime);
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> Index {
        self.folded = HashMap::new();
        for at in 0..self.nodes.len() {
            let children = match self.nodes.get_mut(at) {
                Some(Node { what: What::Dir(children), .. }) => std::mem::take(children),
                _ => continue,
            };
            let mut sorted = children;
            sorted.sort_unstable_by(|a, b| name_of(&self.nodes, *a).cmp(name_of(&self.nodes, *b)));
            if let Some(node) = self.nodes.get_mut(at) {
                node.what = What::Dir(sorted);
            }
        }
        Index { nodes: self.nodes }
    }

    /// The folder that a path lies in, made where it is not there yet, and the path's last part.
    fn folder_of<'p>(&mut self, path: &'p str) -> Result<(u32, &'p str), StoreErrorKind> {
        let Some((parent, name)) = path.rsplit_once('/') else { return Ok((0, path)) };
        if *self.last.0 == *parent {
            return Ok((self.last.1, name));
        }
        let mut folder = 0;
        for part in parent.split('/') {
            folder = self.dir_in(folder, part, path)?;
        }
        self.last = (parent.into(), folder);
        Ok((folder, name))
    }

    fn dir_in(&mut self, folder: u32, name: &str, path: &str) -> Result<u32, StoreErrorKind> {
        match self.child(folder, name, path)? {
            Some(dir) if self.is_dir(dir) => Ok(dir),
            Some(_) => Err(both(path)),
            None => self.push(folder, name, Node { name: name.into(), what: What::Dir(Vec::new()), mtime: None }),
        }
    }

    /// The entry of a name in a folder; an error when another name there folds to the same.
    fn child(&self, folder: u32, name: &str, path: &str) -> Result<Option<u32>, StoreErrorKind> {
        let Some(&found) = self.folded.get(&(folder, names::fold(name))) else { return Ok(None) };
        let other = name_of(&self.nodes, found);
        if other == name {
            return Ok(Some(found));
        }
        Err(StoreErrorKind::Hostile(format!(
            "entry {} differs from {} only in upper and lower case or in how its accents are written",
            quoted(path.as_bytes()),
            quoted(other.as_bytes())
        )))
    }

    fn push(&mut self, folder: u32, name: &str, node: Node) -> Result<u32, StoreErrorKind> {
        let too_many = StoreErrorKind::TooMany { ceiling: self.ceiling };
        let count = self.nodes.len();
        // The root is no entry.
        if count as u64 > self.ceiling {
            return Err(too_many);
        }
        let Ok(id) = u32::try_from(count) else { return Err(too_many) };
        self.names = self.names.saturating_add(name.len());
        if self.names > NAMES {
            return Err(StoreErrorKind::Hostile(format!("its names together have more than {NAMES} bytes")));
        }
        self.folded.insert((folder, names::fold(name)), id);
        self.nodes.push(node);
        if let Some(Node { what: What::Dir(children), .. }) = self.nodes.get_mut(folder as usize) {
            children.push(id);
        }
        Ok(id)
    }

    fn is_dir(&self, node: u32) -> bool {
        matches!(self.nodes.get(node as usize), Some(Node { what: What::Dir(_), .. }))
    }
}

fn both(path: &str) -> StoreErrorKind {
    StoreErrorKind::Hostile(format!("entry {} is a file and a folder at once", quoted(path.as_bytes())))
}

fn name_of(nodes: &[Node], id: u32) -> &str {
    nodes.get(id as usize).map_or("", |node| &node.name)
}

impl Index {
    /// The names in a folder.
    pub(super) fn list(&self, dir: &Path) -> Result<Vec<Entry>, StoreError> {
        let What::Dir(children) = &self.find(dir)?.what else {
            return Err(StoreError::new(dir, StoreErrorKind::NotADir));
        };
        let nodes = children.iter().filter_map(|id| self.nodes.get(*id as usize));
        Ok(nodes.map(|node| Entry { name: OsString::from(&*node.name), kind: node.kind(), link: false }).collect())
    }

    /// Kind, size and time of a path.
    pub(super) fn stat(&self, path: &Path) -> Result<Stat, StoreError> {
        let node = self.find(path)?;
        let size = match node.what {
            What::File { size, .. } => size,
            What::Dir(_) => 0,
        };
        Ok(Stat { kind: node.kind(), size, mtime: node.mtime })
    }

    /// The container's number for a file, and the file's size.
    pub(super) fn member(&self, path: &Path) -> Result<(usize, u64), StoreError> {
        match self.find(path)?.what {
            What::File { size, member } => Ok((member, size)),
            What::Dir(_) => Err(StoreError::new(path, StoreErrorKind::NotAFile)),
        }
    }

    fn find(&self, path: &Path) -> Result<&Node, StoreError> {
        check_relative(path)?;
        let not_found = || StoreError::new(path, StoreErrorKind::NotFound);
        let mut node = self.nodes.first().ok_or_else(not_found)?;
        let mut walked = PathBuf::new();
        for part in path.components() {
            let Component::Normal(part) = part else { return Err(not_found()) };
            let What::Dir(children) = &node.what else {
                return Err(StoreError::new(&walked, StoreErrorKind::NotADir));
            };
            let name = part.as_encoded_bytes();
            let at = children
                .binary_search_by(|id| name_of(&self.nodes, *id).as_bytes().cmp(name))
                .map_err(|_| not_found())?;
            node = children.get(at).and_then(|id| self.nodes.get(*id as usize)).ok_or_else(not_found)?;
            walked.push(part);
        }
        Ok(node)
    }
}

impl Node {
    fn kind(&self) -> EntryKind {
        match self.what {
            What::File { .. } => EntryKind::File,
            What::Dir(_) => EntryKind::Dir,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::Builder;
    use crate::store::{Ceilings, EntryKind, StoreErrorKind};

    fn builder() -> Builder {
        Builder::new(&Ceilings::default())
    }

    fn refused<T>(result: Result<T, StoreErrorKind>, words: &str) {
        match result {
            Err(StoreErrorKind::Hostile(why)) => assert!(why.contains(words), "{why}"),
            Err(other) => panic!("{other:?}"),
            Ok(_) => panic!("accepted, wanted: {words}"),
        }
    }

    #[test]
    fn folders_are_made_from_the_paths_of_what_lies_in_them() {
        let mut tree = builder();
        tree.file("a/b/z", 3, None, 7).unwrap();
        tree.file("a/y", 4, None, 8).unwrap();
        tree.file("a/b/c", 5, None, 9).unwrap();
        let tree = tree.finish();
        let names = |dir: &str| -> Vec<_> {
            let entries = tree.list(Path::new(dir)).unwrap();
            entries.into_iter().map(|e| (e.name.into_string().unwrap(), e.kind)).collect()
        };
        assert_eq!(names(""), [("a".to_owned(), EntryKind::Dir)]);
        assert_eq!(names("a"), [("b".to_owned(), EntryKind::Dir), ("y".to_owned(), EntryKind::File)]);
        assert_eq!(names("a/b"), [("c".to_owned(), EntryKind::File), ("z".to_owned(), EntryKind::File)]);
        assert_eq!(tree.member(Path::new("a/b/z")).unwrap(), (7, 3));
        assert_eq!(tree.stat(Path::new("a/b")).unwrap().size, 0);
        assert!(tree.stat(Path::new("a/x")).unwrap_err().is_not_found());
        let below = tree.stat(Path::new("a/y/q")).unwrap_err();
        assert_eq!((below.kind, below.path.as_path()), (StoreErrorKind::NotADir, Path::new("a/y")));
    }

    #[test]
    fn a_file_that_stands_twice_is_refused_and_a_folder_is_not() {
        let mut tree = builder();
        tree.dir("W", None).unwrap();
        tree.dir("W", None).unwrap();
        tree.file("W/a", 1, None, 0).unwrap();
        refused(tree.file("W/a", 1, None, 1), "twice");
    }

    #[test]
    fn names_that_differ_only_in_case_or_composition_are_refused() {
        let mut tree = builder();
        tree.file("World/a", 1, None, 0).unwrap();
        refused(tree.file("World/A", 1, None, 1), "`a` only in upper and lower case");
        refused(tree.file("world/b", 1, None, 1), "`World` only in upper and lower case");
        tree.file("World/é", 1, None, 1).unwrap();
        refused(tree.file("World/e\u{301}", 1, None, 2), "accents");
        tree.file("Other/A", 1, None, 2).unwrap();
    }

    #[test]
    fn a_name_that_is_a_file_and_a_folder_is_refused_in_either_order() {
        let mut tree = builder();
        tree.file("x", 1, None, 0).unwrap();
        refused(tree.file("x/y", 1, None, 1), "at once");
        refused(tree.dir("x", None), "at once");
        tree.file("d/y", 1, None, 1).unwrap();
        refused(tree.file("d", 1, None, 2), "at once");
    }

    #[test]
    fn folders_made_from_paths_count_against_the_ceiling() {
        let mut tree = Builder::new(&Ceilings { entries: 4, ..Ceilings::default() });
        tree.file("a/b/c/d", 1, None, 0).unwrap();
        assert_eq!(tree.file("a/b/c/e", 1, None, 1), Err(StoreErrorKind::TooMany { ceiling: 4 }));
    }
}
