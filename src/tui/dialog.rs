//! The question before an operation, as data and as lines: what is asked, what would be done, what became of it.

use std::path::PathBuf;

use ratatui::text::{Line, Span};

use super::state::Model;
use super::text::{pad, width, wrap};
use crate::config::theme::Role;
use crate::model::human::{self, size};
use crate::model::plan::{Consent, Operation, Plan, Proof, Reason, Refusal, WarningCode};
use crate::model::{Profile, ServerState, shown_path};
use crate::ops::ask::Planned;

/// The smallest inside of the dialog in which a plan can be read, so that it may be confirmed: columns and rows.
pub(super) const READABLE: (u16, u16) = (28, 4);

/// What somebody asks for, with everything that a worker needs to plan it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Wish {
    /// Something about a save: restore, copy, rename, delete, backup.
    Save {
        operation: Operation,
        profile: Box<Profile>,
        /// Ids.
        world: String,
        layer: Option<String>,
        /// The new name, for copy and rename.
        name: Option<String>,
        /// Where a copy goes, when not into the same profile.
        into: Option<Box<Profile>>,
        /// The layers of a world go along.
        with_layers: bool,
        /// A copy takes the place of what is there.
        overwrite: bool,
    },
    /// The same about several saves, a plan each.
    Several { operation: Operation, each: Vec<Wish> },
    /// Takes back the operation of this name; without one, the last in the keeping folders of these roots.
    Undo { roots: Vec<PathBuf>, name: Option<String> },
    /// Removes for good what operations below these roots put aside, or only the one of this name.
    Purge { roots: Vec<PathBuf>, name: Option<String> },
}

impl Wish {
    pub(super) fn operation(&self) -> Operation {
        match self {
            Self::Save { operation, .. } | Self::Several { operation, .. } => *operation,
            Self::Undo { .. } => Operation::Undo,
            Self::Purge { .. } => Operation::Purge,
        }
    }

    /// Whether the layers go along; none where there are none, or it is not about a world.
    fn layers(&self) -> Option<bool> {
        match self {
            Self::Save {
                operation: Operation::Copy | Operation::Delete,
                profile,
                world,
                layer: None,
                with_layers,
                ..
            } => {
                let world = profile.worlds.iter().find(|there| there.id == *world)?;
                (world.layers.len() > 1).then_some(*with_layers)
            }
            _ => None,
        }
    }

    /// The save roots that it is about.
    pub(super) fn roots(&self) -> Vec<PathBuf> {
        match self {
            Self::Save { profile, .. } => vec![profile.root.clone()],
            Self::Several { each, .. } => {
                let mut roots: Vec<PathBuf> = each.iter().flat_map(Self::roots).collect();
                roots.sort();
                roots.dedup();
                roots
            }
            Self::Undo { roots, .. } | Self::Purge { roots, .. } => roots.clone(),
        }
    }
}

/// A plan that somebody agreed to on the screen, and how.
#[derive(Debug, PartialEq)]
pub(super) struct Agreed {
    pub(super) plan: Plan,
    pub(super) consent: Consent,
    /// What makes the plan anew once one before it has changed the disk.
    pub(super) again: Option<Wish>,
}

/// The dialog that lies over everything.
#[derive(Debug)]
pub(super) struct Dialog {
    pub(super) operation: Operation,
    pub(super) wish: Wish,
    /// Which piece of work it waits for; what comes for another one is not meant.
    pub(super) ticket: u64,
    pub(super) stage: Stage,
    pub(super) scroll: usize,
    /// It was on the screen in this stage; before that no key can agree to anything.
    pub(super) painted: bool,
}

#[derive(Debug)]
pub(super) enum Stage {
    /// The new name is typed, and what was wrong with the last one.
    Naming { name: String, wrong: Option<String> },
    /// A worker makes the plan.
    Planning,
    /// There is no plan.
    Refused(Refusal),
    /// The plans are shown.
    Asking(Asking),
    /// A worker carries them out.
    Running(Running),
    /// It ended in a way that has to be read; with the name of an operation whose undo is offered.
    Ended { lines: Vec<(Role, String)>, swap: Option<String> },
    /// Sentences that stay until they were read.
    Notice(Vec<Notice>),
}

/// Something that nobody asked for and that has to be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Notice {
    /// What it is about: those of one heading stand in one dialog.
    pub(super) title: &'static str,
    pub(super) role: Role,
    /// In whole sentences, safe to print.
    pub(super) text: String,
}

/// Plans on the screen, and what was answered so far.
#[derive(Debug)]
pub(super) struct Asking {
    pub(super) plans: Vec<Planned>,
    pub(super) accepted: Vec<WarningCode>,
    pub(super) typed: String,
    pub(super) field: Field,
    /// Whether the layers of the world go along; none where that is no question.
    pub(super) layers: Option<bool>,
    /// Why the last try to confirm was none.
    pub(super) missing: Option<String>,
}

/// An operation that is carried out.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) plans: Vec<Plan>,
    pub(super) bytes: u64,
    pub(super) path: String,
    /// The person asked it to stop.
    pub(super) stopping: bool,
}

/// What has the keys in a dialog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Cancel,
    /// Whether the layers go along.
    Layers,
    Tick(WarningCode),
    Name,
    Confirm,
}

impl Asking {
    pub(super) fn new(plans: Vec<Planned>, wish: &Wish) -> Self {
        let (accepted, typed, field) = (Vec::new(), String::new(), Field::Cancel);
        Self { plans, accepted, typed, field, layers: wish.layers(), missing: None }
    }

    /// What can have the keys, in the order of Tab.
    pub(super) fn fields(&self) -> Vec<Field> {
        let mut fields = vec![Field::Cancel];
        fields.extend(self.layers.map(|_| Field::Layers));
        fields.extend(self.to_accept().into_iter().map(Field::Tick));
        if !self.name().is_empty() {
            fields.push(Field::Name);
        }
        fields.push(Field::Confirm);
        fields
    }

    /// The warnings that have to be accepted by name, each once.
    fn to_accept(&self) -> Vec<WarningCode> {
        let mut codes = Vec::new();
        for warning in self.plans.iter().flat_map(|planned| &planned.plan.content().warnings) {
            if warning.code.needs_acceptance() && !codes.contains(&warning.code) {
                codes.push(warning.code);
            }
        }
        codes
    }

    /// The name that has to be typed; empty: none.
    pub(super) fn name(&self) -> &str {
        let names = self.plans.iter().map(|planned| planned.plan.content().preview.type_name.as_str());
        names.filter(|name| !name.is_empty()).max().unwrap_or_default()
    }

    /// What is still missing before it may be confirmed, as a sentence.
    pub(super) fn lacks(&self) -> Option<String> {
        if self.to_accept().iter().any(|code| !self.accepted.contains(code)) {
            return Some("Tick the warnings first: Tab goes to them, Space ticks.".to_owned());
        }
        let name = self.name();
        if !name.is_empty() && self.typed != name && self.typed != crate::model::shown(name) {
            return Some(format!("Type the name first: {}", crate::model::shown(name)));
        }
        None
    }

    /// The consent to exactly what is on the screen.
    pub(super) fn agreed(&self, wish: &Wish) -> Vec<Agreed> {
        let wishes = match wish {
            Wish::Several { each, .. } if each.len() == self.plans.len() => each.as_slice(),
            _ => &[],
        };
        let agree = |(at, planned): (usize, &Planned)| Agreed {
            plan: planned.plan.clone(),
            consent: Consent { proof: Proof::Dialog { shown: planned.plan.id() }, accepted: self.accepted.clone() },
            again: wishes.get(at).cloned(),
        };
        self.plans.iter().enumerate().map(agree).collect()
    }
}

impl Dialog {
    /// The heading.
    pub(super) fn title(&self, model: &Model) -> String {
        let text = match &self.stage {
            Stage::Notice(notices) => notices.first().map_or("", |notice| notice.title).to_owned(),
            Stage::Asking(asking) => match asking.plans.as_slice() {
                [one] if !one.plan.content().preview.title.is_empty() => one.plan.content().preview.title.clone(),
                several if several.len() > 1 => format!("{}: {} saves", verb(self.operation), several.len()),
                _ => verb(self.operation).to_owned(),
            },
            _ => verb(self.operation).to_owned(),
        };
        model.skin.glyphs.text(&text)
    }

    /// True when a copy is refused for what could be put aside.
    pub(super) fn in_the_way(&self, refusal: &Refusal) -> bool {
        let free = matches!(self.wish, Wish::Save { operation: Operation::Copy, overwrite: false, .. });
        free && refusal.reason == Reason::NameTaken
    }

    /// The words of the buttons: the one that leaves everything as it is, and the one that goes on.
    pub(super) fn buttons(&self) -> (Option<&'static str>, Option<&'static str>) {
        match &self.stage {
            Stage::Naming { .. } => (Some("Esc cancels"), Some("Enter goes on")),
            Stage::Planning => (Some("Cancel"), None),
            Stage::Running(running) if running.stopping => (None, None),
            Stage::Running(_) => (Some("Stop"), None),
            Stage::Refused(refusal) if self.in_the_way(refusal) => (Some("Close"), Some("o: take its place")),
            Stage::Refused(_) | Stage::Notice(_) | Stage::Ended { swap: None, .. } => (Some("Close"), None),
            Stage::Ended { swap: Some(_), .. } => (Some("Close"), Some("u: swap back")),
            Stage::Asking(_) => (Some("Cancel"), Some(confirm(self.operation))),
        }
    }
}

/// What is done, as the heading of a dialog.
pub(super) fn verb(operation: Operation) -> &'static str {
    match operation {
        Operation::Restore => "Restore",
        Operation::Copy => "Copy",
        Operation::Rename => "Rename",
        Operation::Delete => "Delete",
        Operation::Backup => "Back up",
        Operation::Undo => "Undo",
        Operation::Purge => "Purge",
    }
}

/// The button that agrees.
fn confirm(operation: Operation) -> &'static str {
    match operation {
        Operation::Restore => "Restore, keep the old state",
        Operation::Copy => "Copy",
        Operation::Rename => "Rename",
        Operation::Delete => "Delete, keep it for undo",
        Operation::Backup => "Back up",
        Operation::Undo => "Take it back",
        Operation::Purge => "Remove for good",
    }
}

/// A line of the inside, and what it belongs to.
pub(super) type Row = (Line<'static>, Option<Field>);

/// Everything in the dialog but its buttons, for so many columns.
pub(super) fn rows(model: &Model, dialog: &Dialog, columns: usize) -> Vec<Row> {
    let mut page = Page { model, columns, labels: LABELS, rows: Vec::new() };
    match &dialog.stage {
        Stage::Naming { name, wrong } => {
            let text = match dialog.operation {
                Operation::Copy => "The new name; before it PROFILE/ for a copy into another profile:",
                _ => "The new name:",
            };
            page.text(Role::Text, text);
            page.entry(name, true, None);
            if let Some(wrong) = wrong {
                page.text(Role::Warn, wrong);
            }
        }
        Stage::Planning => {
            page.text(Role::Muted, "Planning: looking at the files and for a server. Nothing is changed.");
        }
        Stage::Refused(refusal) => {
            page.text(Role::Warn, &refusal.text);
            page.text(Role::Text, refusal.reason.next());
            page.text(Role::Muted, &format!("Nothing was changed. ({})", refusal.reason.as_str()));
        }
        Stage::Asking(asking) => page.asking(asking),
        Stage::Running(running) => page.running(running),
        Stage::Ended { lines, .. } => lines.iter().for_each(|(role, line)| page.text(*role, line)),
        Stage::Notice(notices) => notices.iter().for_each(|notice| page.text(notice.role, &notice.text)),
    }
    page.rows
}

/// Cells of the labels in front, at least and at most.
const LABELS: usize = 7;
const MOST_LABELS: usize = 12;

struct Page<'m> {
    model: &'m Model,
    columns: usize,
    /// Cells of the labels in front.
    labels: usize,
    rows: Vec<Row>,
}

impl Page<'_> {
    fn text(&mut self, role: Role, text: &str) {
        let safe = self.model.skin.glyphs.text(text);
        let style = self.model.skin.of(role);
        let lines = wrap(&safe, self.columns);
        self.rows.extend(lines.into_iter().map(|line| (Line::styled(line, style), None)));
    }

    /// A label in front of a text that goes on below itself.
    fn labelled(&mut self, label: &str, role: Role, text: &str) {
        let skin = &self.model.skin;
        let ellipsis = skin.glyphs.ellipsis;
        let wide = self.labels.min(self.columns / 3);
        let label = pad(&skin.glyphs.text(label), wide, ellipsis);
        let room = self.columns.saturating_sub(wide + 1).max(1);
        for (n, line) in wrap(&skin.glyphs.text(text), room).into_iter().enumerate() {
            let front = if n == 0 { format!("{label} ") } else { " ".repeat(wide + 1) };
            let spans = vec![Span::styled(front, skin.of(Role::Muted)), Span::styled(line, skin.of(role))];
            self.rows.push((Line::from(spans), None));
        }
    }

    fn entry(&mut self, typed: &str, focused: bool, field: Option<Field>) {
        let skin = &self.model.skin;
        let typed = skin.glyphs.text(typed);
        // The end of what is typed stays in sight.
        let mut shown = typed.as_str();
        while width(shown) + 3 > self.columns && !shown.is_empty() {
            let mut chars = shown.chars();
            chars.next();
            shown = chars.as_str();
        }
        let role = if focused { Role::Selection } else { Role::Text };
        let spans = vec![Span::styled("> ", skin.of(Role::HintKey)), Span::styled(format!("{shown}_"), skin.of(role))];
        self.rows.push((Line::from(spans), field));
    }

    fn asking(&mut self, asking: &Asking) {
        let several = asking.plans.len() > 1;
        let labels = asking.plans.iter().flat_map(|planned| &planned.plan.content().preview.lines);
        self.labels = labels.map(|(label, _)| label.chars().count()).fold(LABELS, usize::max).min(MOST_LABELS);
        for planned in &asking.plans {
            let draft = planned.plan.content();
            if several {
                self.text(Role::Title, &draft.preview.title);
            }
            for (label, text) in &draft.preview.lines {
                self.labelled(label, Role::Text, text);
            }
            for note in &draft.preview.notes {
                self.text(Role::Text, note);
            }
            self.server(planned);
            if draft.bytes > 0 {
                let text = format!(
                    "{} written, {} must be free for it on {}",
                    size(draft.bytes),
                    size(draft.space.bytes),
                    shown_path(&draft.space.on)
                );
                self.labelled("space", Role::Text, &text);
            }
            for warning in draft.warnings.iter().filter(|warning| !warning.code.needs_acceptance()) {
                self.text(Role::Warn, &format!("! {}", warning.text));
            }
        }
        if let Some(layers) = asking.layers {
            let text = "The layers of this world as well";
            self.boxed(Field::Layers, asking.field == Field::Layers, layers, Role::Text, text);
        }
        for code in asking.to_accept() {
            self.tick(asking, code);
        }
        if !asking.name().is_empty() {
            let name = crate::model::shown(asking.name());
            self.text(Role::Text, &format!("To do it, type the name {name}:"));
            self.entry(&asking.typed, asking.field == Field::Name, Some(Field::Name));
        }
        if let Some(missing) = &asking.missing {
            self.text(Role::Danger, missing);
        }
    }

    /// A warning with its box, once for all plans.
    fn tick(&mut self, asking: &Asking, code: WarningCode) {
        let all = asking.plans.iter().flat_map(|planned| &planned.plan.content().warnings);
        let mut texts: Vec<&str> = Vec::new();
        for warning in all.filter(|warning| warning.code == code) {
            if !texts.contains(&warning.text.as_str()) {
                texts.push(&warning.text);
            }
        }
        let text = format!("{} ({})", texts.join(" "), code.as_str());
        let field = Field::Tick(code);
        self.boxed(field, asking.field == field, asking.accepted.contains(&code), Role::Warn, &text);
    }

    /// Something that can be ticked.
    fn boxed(&mut self, field: Field, focused: bool, ticked: bool, role: Role, text: &str) {
        let skin = &self.model.skin;
        let mark = if ticked { "[x] " } else { "[ ] " };
        let style = skin.of(if focused { Role::Selection } else { role });
        let text = skin.glyphs.text(text);
        for (n, line) in wrap(&text, self.columns.saturating_sub(5).max(1)).into_iter().enumerate() {
            let front = match (n, focused) {
                (0, true) => format!(">{mark}"),
                (0, false) => format!(" {mark}"),
                _ => "     ".to_owned(),
            };
            self.rows.push((Line::styled(format!("{front}{line}"), style), Some(field)));
        }
    }

    fn server(&mut self, planned: &Planned) {
        let Some(server) = &planned.server else { return };
        let role = match server.state {
            ServerState::Stopped => Role::Ok,
            ServerState::Unknown => Role::Warn,
            ServerState::Running => Role::Danger,
        };
        let when = human::when(server.at, &self.model.zone);
        self.labelled("server", role, &format!("{}, looked at {when}", server.state.as_str()));
        let warnings = &planned.plan.content().warnings;
        let told = |text: &str| warnings.iter().any(|warning| warning.text.contains(text));
        for text in server.reasons.iter().chain(&server.restarts).filter(|text| !told(text)) {
            self.labelled("", Role::Muted, text);
        }
    }

    fn running(&mut self, running: &Running) {
        let total: u64 = running.plans.iter().map(|plan| plan.content().bytes).sum();
        if running.stopping {
            self.text(Role::Warn, "Stopping. What is already being put in its place is finished first.");
        } else {
            self.text(Role::Text, "Working. Until the old state makes room, it can be stopped without a trace.");
        }
        if total > 0 {
            self.text(Role::Text, &format!("{} of {}", size(running.bytes.min(total)), size(total)));
        }
        if !running.path.is_empty() {
            self.text(Role::Muted, &running.path);
        }
        if self.model.leaving.is_some() {
            self.text(Role::Warn, "worldkeep quits when this has ended.");
        }
    }
}
