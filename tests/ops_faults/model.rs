//! What a save must be after some operations: which world is called what, and what is put aside under which operation.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Which content something has. Each is made once, before anything is done, and is copied and moved as a whole.
pub(crate) type Content = u32;

/// One name that an operation gave another content: none where there was, or is, nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Turn {
    pub(crate) name: String,
    pub(crate) before: Option<Content>,
    pub(crate) after: Option<Content>,
}

/// What is live, and what each operation put aside.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Model {
    pub(crate) live: BTreeMap<String, Content>,
    pub(crate) parked: BTreeMap<String, BTreeMap<String, Content>>,
}

impl Model {
    /// An operation of this name; `takes_from` is the one whose parked worlds it puts back.
    pub(crate) fn turn(&mut self, operation: &str, turns: &[Turn], takes_from: Option<&str>) {
        for turn in turns {
            match turn.after {
                Some(content) => self.live.insert(turn.name.clone(), content),
                None => self.live.remove(&turn.name),
            };
            if let Some(content) = turn.before {
                self.parked.entry(operation.to_owned()).or_default().insert(turn.name.clone(), content);
            }
            if let Some(parked) = takes_from.and_then(|earlier| self.parked.get_mut(earlier)) {
                parked.remove(&turn.name);
            }
        }
        self.parked.retain(|_, worlds| !worlds.is_empty());
    }

    pub(crate) fn contents(&self) -> BTreeSet<Content> {
        self.live.values().chain(self.parked.values().flat_map(BTreeMap::values)).copied().collect()
    }

    pub(crate) fn is_folder(name: &str) -> bool {
        !name.contains('.')
    }
}

/// The files of a content: what a folder holds, or the one file of a name with an ending.
fn files(content: Content) -> Vec<(&'static str, Vec<u8>)> {
    let text = |what: &str, times: usize| format!("{what} of {content}; ").repeat(times).into_bytes();
    let times = content as usize;
    vec![("world.db", text("world", 1 + times % 7)), ("sub/zone", text("zone", 3)), ("ok", text("ok", 1))]
}

/// Makes it.
pub(crate) fn make(path: &Path, folder: bool, content: Content) {
    if !folder {
        fs::write(path, &files(content)[0].1).unwrap();
        return;
    }
    for (name, bytes) in files(content) {
        fs::create_dir_all(path.join(name).parent().unwrap()).unwrap();
        fs::write(path.join(name), bytes).unwrap();
    }
}

/// Which content this is, as a whole; none when it is a mixture, or lacks or has a file too many.
pub(crate) fn content_of(path: &Path) -> Option<Content> {
    let first = |bytes: &[u8]| -> Option<Content> {
        String::from_utf8_lossy(bytes).strip_prefix("world of ")?.split_once(';')?.0.parse().ok()
    };
    if !path.is_dir() {
        let bytes = fs::read(path).ok()?;
        let content = first(&bytes)?;
        return (bytes == files(content)[0].1).then_some(content);
    }
    let content = first(&fs::read(path.join("world.db")).ok()?)?;
    let mut wanted = files(content);
    wanted.sort();
    let mut found = Vec::new();
    for name in ["ok", "sub/zone", "world.db"] {
        found.push((name, fs::read(path.join(name)).ok()?));
    }
    let names = |folder: &Path| fs::read_dir(folder).map_or(0, Iterator::count);
    (found == wanted && names(path) == 3 && names(&path.join("sub")) == 1).then_some(content)
}

fn entries(folder: &Path) -> Vec<(String, std::path::PathBuf)> {
    let Ok(list) = fs::read_dir(folder) else { return Vec::new() };
    list.map(|entry| entry.unwrap().path())
        .map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), path))
        .collect()
}

/// The worlds of a folder; the error names one that is no content as a whole.
fn worlds(folder: &Path) -> Result<BTreeMap<String, Content>, String> {
    let whole = |(name, path): (String, std::path::PathBuf)| match content_of(&path) {
        Some(content) => Ok((name, content)),
        None => Err(format!("{} is nothing that ever was", path.display())),
    };
    entries(folder).into_iter().map(whole).collect()
}

/// What is live on the disk.
pub(crate) fn live(root: &Path) -> Result<BTreeMap<String, Content>, String> {
    worlds(&root.join("worlds_local"))
}

/// What lies on the disk, when nothing is being removed.
pub(crate) fn seen(root: &Path) -> Result<Model, String> {
    let mut model = Model { live: live(root)?, ..Model::default() };
    for (operation, path) in entries(&root.join(".worldkeep/recycle")) {
        let parked = worlds(&path.join("worlds_local"))?;
        if !parked.is_empty() {
            model.parked.insert(operation, parked);
        }
    }
    Ok(model)
}

/// Every content that lies somewhere below a folder as a whole.
pub(crate) fn anywhere(folder: &Path) -> BTreeSet<Content> {
    let mut found = BTreeSet::new();
    for (_, path) in entries(folder) {
        found.extend(content_of(&path));
        if path.is_dir() {
            found.extend(anywhere(&path));
        }
    }
    found
}

#[test]
fn what_is_not_whole_is_no_content() {
    let temp = tempfile::TempDir::new().unwrap();
    let world = temp.path().join("W");
    let file = temp.path().join("A.db");
    make(&world, true, 12);
    make(&file, false, 13);
    assert_eq!((content_of(&world), content_of(&file)), (Some(12), Some(13)));
    assert_eq!(anywhere(temp.path()), BTreeSet::from([12, 13]));
    for (name, bytes) in [("sub/zone", "zone of 11; "), ("ok", ""), ("more", "x"), ("sub/more", ""), ("world.db", "w")]
    {
        let path = world.join(name);
        let was = fs::read(&path).ok();
        fs::write(&path, bytes).unwrap();
        assert_eq!(content_of(&world), None, "{name}");
        match was {
            Some(was) => fs::write(&path, was).unwrap(),
            None => fs::remove_file(&path).unwrap(),
        }
    }
    assert_eq!(content_of(&world), Some(12));
    fs::remove_file(world.join("ok")).unwrap();
    assert_eq!(content_of(&world), None);
    fs::write(&file, "world of 13; ").unwrap();
    assert_eq!(content_of(&file), None);
}
