use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use ratatui::text::Line;
use tui_tree_widget::{TreeItem, TreeState};

use super::cache::Cache;
use super::dialog::{Agreed, Dialog, Notice, Wish};
use super::facts::Facts;
use super::glyphs::Glyphs;
use super::input::Input;
use super::style::Skin;
use super::tree::{Forest, Says};
use crate::config::keys::Keymap;
use crate::config::theme::{Role, Theme};
use crate::model::plan::Refusal;
use crate::model::{Checked, Finding, GameId, Layer, Profile, Server, ServerState, Severity};
use crate::ops::ask::Planned;
use crate::ops::history::Entry;
use crate::ops::run::Done;
use crate::raster::{Chart, Picture};
use crate::scan::{Catalog, Event};

/// What the loop hands to [`super::update::update`].
#[derive(Debug)]
#[cfg_attr(not(unix), allow(dead_code, reason = "there are no signals that stop and continue"))]
pub(super) enum Msg {
    /// Time passed: the wall clock, and how long the program has run.
    Time { now: Timestamp, up: Duration },
    /// A key, a paste or a new size.
    Input(Input),
    /// A piece of a scan.
    Scan { generation: u64, event: Event },
    /// A check has ended.
    Checked { signature: Signature, checked: Box<Checked> },
    /// A map is there, or the reason why it is not.
    Charted { signature: Signature, result: Result<Chart, Box<Finding>> },
    /// A worker has planned an operation, or says why there is no plan.
    Planned { ticket: u64, result: Result<Vec<Planned>, Refusal> },
    /// How far an operation is.
    Progress { ticket: u64, bytes: u64, path: String },
    /// An operation has ended: how each of its plans did that was begun.
    Ended { ticket: u64, ends: Vec<Done> },
    /// The worker of a dialog failed in a way that nobody foresaw.
    Broken { ticket: u64, what: String },
    /// What became of operations that were interrupted in an earlier run.
    Recovered(Vec<String>),
    /// A worker has read what was done.
    Past { entries: Vec<Entry>, messages: Vec<String> },
    /// Whether servers use these profiles, by id.
    Servers(Vec<(String, Server)>),
    /// Files under profiles changed.
    Dirty,
    /// A server said something of its saves, or what the game saved after an operation has to be known.
    Told { title: &'static str, severity: Severity, text: String },
    /// The watcher has something to say, such as that it polls.
    Note(String),
    /// Another theme was loaded.
    Theme { theme: Box<Theme>, warnings: Vec<String> },
    /// A worker failed in a way that nobody foresaw.
    Failed(String),
    /// The program was asked to end, with this exit code.
    Terminate(u8),
    /// The program was asked to go to the background.
    Stop,
    /// The program came back from the background.
    Continued,
}

/// What the loop does for the state.
#[derive(Debug, PartialEq)]
pub(super) enum Effect {
    /// End with this exit code.
    Quit(u8),
    /// Go to the background.
    Suspend,
    /// Paint everything again.
    Repaint,
    /// Look at the disk again.
    Rescan(u64),
    /// Check one layer; a newer check replaces it.
    Check { signature: Signature, game: GameId, layer: Box<Layer> },
    /// Nobody waits for the check any more.
    StopCheck,
    /// Make the map of one layer; a newer one replaces it.
    Chart { signature: Signature, game: GameId, layer: Box<Layer> },
    /// Plan an operation; a newer wish replaces it.
    Plan { ticket: u64, wish: Wish },
    /// Nobody waits for the plan any more.
    StopPlan,
    /// Carry out what was agreed to.
    Perform { ticket: u64, agreed: Vec<Agreed> },
    /// Stop the operation as long as the save is still what it was.
    StopOperation,
    /// Look whether a server uses a profile.
    Server { profile: Box<Profile> },
    /// Read what was done below these roots.
    Past { roots: Vec<PathBuf> },
    /// Send a text to the terminal's clipboard.
    Clipboard(Vec<u8>),
    /// Load the theme after the named one.
    NextTheme(String),
    /// Watch the profiles of the catalog.
    Follow,
}

/// Which state of which layer a result belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Signature {
    pub(super) id: String,
    pub(super) print: u64,
}

impl Signature {
    pub(super) fn of(layer: &Layer) -> Self {
        use std::hash::{DefaultHasher, Hash as _, Hasher as _};
        let mut hasher = DefaultHasher::new();
        (layer.bytes, layer.generation, layer.kind, &layer.source).hash(&mut hasher);
        layer.stamp.map(|stamp| stamp.at).hash(&mut hasher);
        for file in &layer.files {
            (&file.path, file.size, file.mtime).hash(&mut hasher);
        }
        Self { id: layer.id.clone(), print: hasher.finish() }
    }
}

/// Which pane has the keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Focus {
    Tree,
    Details,
    Map,
}

/// What lies over the panes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Overlay {
    /// The filter is being typed.
    Filter,
    /// The keys, searched by a text.
    Help { query: String, at: usize },
    /// The actions by name.
    Palette { query: String, at: usize },
    /// Two layers side by side.
    Compare { left: String, right: String, scroll: usize },
    /// What was done before, and which of it is chosen.
    History { at: usize },
}

/// What was done, as it was read last.
#[derive(Debug)]
pub(super) struct Past {
    /// Newest first.
    pub(super) entries: Vec<Entry>,
    /// What could not be read, in sentences.
    pub(super) messages: Vec<String>,
}

/// In which order worlds and layers stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Sort {
    Name,
    Age,
    Size,
}

impl Sort {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Age => "age",
            Self::Size => "size",
        }
    }

    pub(super) fn next(self) -> Self {
        match self {
            Self::Name => Self::Age,
            Self::Age => Self::Size,
            Self::Size => Self::Name,
        }
    }
}

/// The tree of saves as it is shown.
#[derive(Debug, Default)]
pub(super) struct TreePane {
    pub(super) forest: Forest,
    pub(super) selected: Option<u32>,
    pub(super) open: HashSet<u32>,
    /// What is open while a filter is on.
    pub(super) open_filtered: HashSet<u32>,
    /// What was selected before the filter.
    pub(super) before_filter: Option<u32>,
    /// The forest has to be built again before it is used.
    pub(super) stale: bool,
    /// The user has chosen something: from then on no default selection.
    pub(super) touched: bool,
    /// Nodes that were opened by default once.
    pub(super) greeted: HashSet<u32>,
    pub(super) painted: Painted,
}

/// The rows as the tree widget wants them, and what they were made from.
#[derive(Debug, Default)]
pub(super) struct Painted {
    pub(super) key: Option<PaintKey>,
    pub(super) items: Vec<TreeItem<'static, u32>>,
    pub(super) state: RefCell<TreeState<u32>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PaintKey {
    pub(super) built: u64,
    pub(super) width: u16,
    pub(super) minute: i64,
    pub(super) theme: String,
    pub(super) mark: Option<String>,
    pub(super) marks: BTreeSet<String>,
    pub(super) servers: Vec<(String, ServerState)>,
    /// Only what is open has rows.
    pub(super) open: HashSet<u32>,
}

/// What the map pane shows.
#[derive(Clone, Debug, Default)]
pub(super) enum MapState {
    /// Nothing that has a map is selected.
    #[default]
    Nothing,
    /// It is being made.
    Loading,
    /// Here it is.
    Ready(Rc<Chart>),
    /// It cannot be made; the sentences.
    Failed(String),
}

#[derive(Debug, Default)]
pub(super) struct MapPane {
    pub(super) shown: bool,
    /// Which state of which layer it belongs to.
    pub(super) target: Option<Signature>,
    pub(super) state: MapState,
    /// What is being made, and from when on the pane says so: until then it shows what it has.
    pub(super) asked: Option<(Signature, Duration)>,
    pub(super) cache: Cache,
    pub(super) zoom: i32,
    pub(super) east: f64,
    pub(super) north: f64,
    pub(super) picture: Option<Picture>,
    pub(super) picture_key: Option<PictureKey>,
}

impl MapPane {
    /// The pane says that a map is being made.
    pub(super) fn waits(&self) -> bool {
        matches!(self.state, MapState::Loading)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct PictureKey {
    pub(super) target: Signature,
    pub(super) size: (u16, u16),
    pub(super) zoom: i32,
    pub(super) moved: (f64, f64),
}

/// The details pane, laid out.
#[derive(Debug, Default)]
pub(super) struct DetailsPane {
    pub(super) scroll: usize,
    pub(super) title: String,
    pub(super) lines: Vec<Line<'static>>,
    pub(super) key: Option<DetailsKey>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DetailsKey {
    pub(super) node: Option<u32>,
    pub(super) server: Option<Server>,
    pub(super) revision: u64,
    pub(super) width: u16,
    pub(super) minute: i64,
    pub(super) theme: String,
}

/// Checks that run or wait.
#[derive(Debug, Default)]
pub(super) struct Checking {
    pub(super) running: Option<Signature>,
    /// Ids that were asked for and still wait.
    pub(super) queue: VecDeque<String>,
    /// How many were asked for; 0: nobody asked, the check in the background is our own idea.
    pub(super) total: usize,
    pub(super) done: usize,
    pub(super) tally: [usize; 3],
    /// What was checked in the background already, so that no check repeats itself.
    pub(super) seen: HashSet<Signature>,
}

/// A sentence on the last line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Status {
    pub(super) text: String,
    /// The end of it, which stays in sight however short the line is.
    pub(super) tail: String,
    pub(super) role: Role,
    pub(super) until: Duration,
}

/// A scan that replaces the catalog when it is complete.
#[derive(Debug)]
pub(super) struct Incoming {
    pub(super) generation: u64,
    pub(super) catalog: Catalog,
    /// Files changed since it began, so another one has to follow.
    pub(super) again: bool,
}

/// Profiles that were there and are gone: without them nothing tells when they come back.
#[derive(Debug, Default)]
pub(super) struct Missing {
    pub(super) ids: HashSet<String>,
    /// When the disk is looked at again for them.
    pub(super) at: Option<Duration>,
    /// How often that was done.
    pub(super) tries: u32,
}

/// Everything the browser knows. Nothing in here reads a file, a clock or the environment.
#[derive(Debug)]
pub(super) struct Model {
    pub(super) facts: Facts,
    pub(super) theme: Theme,
    pub(super) skin: Skin,
    pub(super) keymap: Keymap,
    pub(super) zone: TimeZone,
    pub(super) now: Timestamp,
    pub(super) up: Duration,
    pub(super) size: (u16, u16),
    pub(super) catalog: Catalog,
    pub(super) generation: u64,
    pub(super) incoming: Option<Incoming>,
    pub(super) missing: Missing,
    pub(super) tree: TreePane,
    pub(super) sort: Sort,
    pub(super) filter: String,
    pub(super) focus: Focus,
    /// The node that the other panes show: the selected one, as soon as the cursor rests.
    pub(super) shown: Option<u32>,
    pub(super) details_at: Option<Duration>,
    pub(super) preview_at: Option<Duration>,
    pub(super) details: DetailsPane,
    pub(super) map: MapPane,
    pub(super) checking: Checking,
    /// One side of a comparison.
    pub(super) mark: Option<String>,
    /// Ids of worlds and layers that are marked for one question.
    pub(super) marks: BTreeSet<String>,
    pub(super) overlay: Option<Overlay>,
    /// What was seen of servers, by profile, and when that was, by how long the program has run.
    pub(super) servers: BTreeMap<String, (Server, Duration)>,
    /// What the history shows; none until it was read.
    pub(super) past: Option<Past>,
    /// Lies over everything, and has all keys.
    pub(super) dialog: Option<Dialog>,
    /// The number of the newest piece of work of a dialog.
    pub(super) tickets: u64,
    /// Sentences that wait for the dialog to be free.
    pub(super) notices: Vec<Notice>,
    /// The exit code with which the program ends as soon as the operation has ended.
    pub(super) leaving: Option<u8>,
    pub(super) status: Option<Status>,
    pub(super) note: Option<String>,
    /// Something that can be seen has changed.
    pub(super) dirty: bool,
    pub(super) painted_minute: i64,
}

impl Model {
    pub(super) fn new(facts: Facts, theme: Theme, keymap: Keymap, zone: TimeZone, now: Timestamp) -> Self {
        let skin = Skin::new(&theme, &Glyphs::new(facts.unicode));
        Self {
            facts,
            theme,
            skin,
            keymap,
            zone,
            now,
            up: Duration::ZERO,
            size: (0, 0),
            catalog: Catalog::default(),
            generation: 0,
            incoming: None,
            missing: Missing::default(),
            tree: TreePane { stale: true, ..TreePane::default() },
            sort: Sort::Name,
            filter: String::new(),
            focus: Focus::Tree,
            shown: None,
            details_at: None,
            preview_at: None,
            details: DetailsPane::default(),
            map: MapPane { shown: true, ..MapPane::default() },
            checking: Checking::default(),
            mark: None,
            marks: BTreeSet::new(),
            overlay: None,
            servers: BTreeMap::new(),
            past: None,
            dialog: None,
            tickets: 0,
            notices: Vec::new(),
            leaving: None,
            status: None,
            note: None,
            dirty: true,
            painted_minute: 0,
        }
    }

    /// Shows a sentence on the last line for a while, longer when it is longer.
    pub(super) fn say(&mut self, role: Role, text: impl Into<String>) {
        self.say_with(role, text, "");
    }

    /// The same with an end that is not cut off.
    pub(super) fn say_with(&mut self, role: Role, text: impl Into<String>, tail: &str) {
        let (text, tail) = (text.into(), tail.to_owned());
        let stay = Duration::from_secs(4 + u64::try_from(text.len() / 20).unwrap_or(0));
        self.status = Some(Status { text, tail, role, until: self.up + stay });
        self.dirty = true;
    }

    /// When something is due although nothing arrives.
    pub(super) fn deadline(&self) -> Option<Duration> {
        let minute = Duration::from_secs(60 - u64::try_from(self.now.as_second().rem_euclid(60)).unwrap_or(0));
        let status = self.status.as_ref().map(|status| status.until);
        let map = self.map.asked.as_ref().filter(|_| !self.map.waits()).map(|(_, at)| *at);
        [self.details_at, self.preview_at, status, map, self.missing.at, Some(self.up + minute)]
            .into_iter()
            .flatten()
            .min()
    }

    /// How rows and titles say things.
    pub(super) fn says(&self) -> Says<'_> {
        Says { glyphs: &self.skin.glyphs, zone: &self.zone }
    }

    /// What was seen of the server of a profile.
    pub(super) fn server(&self, profile: &str) -> Option<&Server> {
        self.servers.get(profile).map(|(server, _)| server)
    }

    pub(super) fn minute(&self) -> i64 {
        self.now.as_second().div_euclid(60)
    }
}
