//! `worldkeep verify`: everything that the format lets us check, one layer after the other.

use std::cell::Cell;
use std::io::{self, IsTerminal as _};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::detail::Detail;
use super::failure::{Exit, Failure};
use super::look::{Look, meaning};
use super::session::{Servers, Session};
use super::target::{Resolved, Selection, resolve};
use super::{json, output, tree};
use crate::model::{Finding, Layer, Profile, Severity, Verdict, shown};
use crate::scan::Catalog;

/// Checks what the targets name, or everything that a list would show.
///
/// Layers are read in one thread, one after the other: a server that runs beside it wants the disk more.
pub(super) fn run(session: &Session, targets: &[PathBuf]) -> Result<Exit, Failure> {
    let everything = targets.is_empty();
    let resolved = if everything {
        let request = session.request(&[]);
        let catalog = session.scan(&request)?;
        let selection = Selection::everything(&catalog);
        Resolved { request, catalog, selection, failures: Vec::new() }
    } else {
        resolve(session, targets)?
    };
    let failed = if everything { Session::tell_looked(&resolved.catalog) } else { resolved.tell_failures() };
    session.tell_interrupted(&resolved.catalog);
    let Resolved { request, mut catalog, selection, .. } = resolved;
    for note in selection.notes.iter().filter(|_| !session.quiet) {
        output::complain(&format!("worldkeep: {note}\n"));
    }
    let progress = Progress::new(session, selection.layers.len());
    session.check(&request, &mut catalog, &selection.layers, |number, id| progress.say(number, id))?;
    progress.end();
    let profiles = selection.prune(&catalog);
    report(session, &profiles, &selection)?;
    Ok(outcome(&catalog, &selection).worse(failed))
}

fn report(session: &Session, profiles: &[Profile], selection: &Selection) -> Result<(), Failure> {
    let zone = &session.config.zone;
    let detail = Detail { look: session.look, now: session.config.clock.now(), zone, quiet: session.quiet };
    output::print(|out| {
        if session.json {
            return json::write_profiles(out, profiles, &Servers::new(), zone);
        }
        for profile in profiles {
            if selection.profiles.contains(&profile.id) {
                detail.findings(out, profile.findings.iter(), 0)?;
            }
            for world in &profile.worlds {
                if selection.worlds.contains(&world.id) {
                    about(out, &detail, &world.id, &world.findings)?;
                }
                for layer in &world.layers {
                    line(out, &detail, layer)?;
                }
            }
        }
        if session.quiet { Ok(()) } else { summary(out, &session.look, profiles) }
    })
}

/// What concerns a whole world, under its name.
fn about(out: &mut dyn io::Write, detail: &Detail<'_>, id: &str, findings: &[Finding]) -> io::Result<()> {
    if findings.iter().any(|f| !detail.quiet || f.severity == Severity::Error) {
        writeln!(out, "  {}", shown(id))?;
    }
    detail.findings(out, findings.iter(), 4)
}

/// One line for a layer, and its findings below it.
fn line(out: &mut dyn io::Write, detail: &Detail<'_>, layer: &Layer) -> io::Result<()> {
    if detail.quiet && matches!(layer.verdict, Verdict::Sound | Verdict::Notes) {
        return Ok(());
    }
    let sign = detail.look.paint(meaning(layer.verdict), detail.look.sign(layer.verdict));
    let word = detail.look.paint(meaning(layer.verdict), layer.verdict.word());
    writeln!(out, "{sign} {}  {word}", shown(&layer.id))?;
    detail.findings(out, layer.all_findings(), 4)
}

fn summary(out: &mut dyn io::Write, look: &Look, profiles: &[Profile]) -> io::Result<()> {
    let layers = || profiles.iter().flat_map(|p| &p.worlds).flat_map(|w| &w.layers);
    let order = [
        Verdict::Sound,
        Verdict::Notes,
        Verdict::Damaged,
        Verdict::Unfinished,
        Verdict::Unsupported,
        Verdict::Unreadable,
        Verdict::Unchecked,
    ];
    let mut parts = Vec::new();
    for verdict in order {
        let count = layers().filter(|layer| layer.verdict == verdict).count();
        if count > 0 {
            let text = format!("{count} {}", verdict.word());
            parts.push(look.paint(meaning(verdict), &text).into_owned());
        }
    }
    let dot = format!(" {} ", look.dot());
    let total = tree::plural(layers().count(), "layer");
    if parts.is_empty() {
        writeln!(out, "{total} checked")
    } else {
        writeln!(out, "{total} checked: {}", parts.join(&dot))
    }
}

/// The exit status: damage first, then what could not be checked.
fn outcome(catalog: &Catalog, selection: &Selection) -> Exit {
    let mut exit = Exit::Done;
    for profile in &catalog.profiles {
        if selection.profiles.contains(&profile.id) {
            exit = exit.worse(of(Verdict::from_findings(&profile.findings)));
        }
        for world in &profile.worlds {
            if selection.worlds.contains(&world.id) {
                exit = exit.worse(of(Verdict::from_findings(&world.findings)));
            }
            for layer in world.layers.iter().filter(|layer| selection.layers.contains(&layer.id)) {
                exit = exit.worse(of(layer.verdict));
            }
        }
    }
    exit
}

fn of(verdict: Verdict) -> Exit {
    match verdict {
        Verdict::Sound | Verdict::Notes => Exit::Done,
        Verdict::Damaged => Exit::Damaged,
        Verdict::Unchecked | Verdict::Unfinished | Verdict::Unsupported | Verdict::Unreadable => Exit::Unchecked,
    }
}

/// One line on standard error that says how far a check is, on a terminal and at most four times a second.
pub(super) struct Progress {
    wanted: bool,
    total: usize,
    said: Cell<Option<Instant>>,
}

impl Progress {
    pub(super) fn new(session: &Session, total: usize) -> Self {
        let wanted = !session.quiet && total > 1 && io::stderr().is_terminal() && !session.env.is_dumb();
        Self { wanted, total, said: Cell::new(None) }
    }

    pub(super) fn say(&self, number: usize, id: &str) {
        if !self.wanted || self.said.get().is_some_and(|said| said.elapsed() < Duration::from_millis(250)) {
            return;
        }
        self.said.set(Some(Instant::now()));
        output::complain(&format!("\r\x1b[K{} of {}: {}", number + 1, self.total, shown(id)));
    }

    pub(super) fn end(&self) {
        if self.said.get().is_some() {
            output::complain("\r\x1b[K");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::{Exit, Selection, outcome};
    use crate::model::{Code, Finding, Verdict};

    #[test]
    fn the_exit_status_is_that_of_the_worst_of_what_was_asked_for() {
        let mut catalog = sample::catalog();
        let live = Selection { layers: ["valheim/Midgard@live".into()].into(), ..Selection::default() };
        assert_eq!(outcome(&catalog, &live), Exit::Done);
        let everything = Selection::everything(&catalog);
        assert_eq!(outcome(&catalog, &everything), Exit::Damaged);
        for layer in catalog.profiles.iter_mut().flat_map(|p| &mut p.worlds).flat_map(|w| &mut w.layers) {
            if layer.verdict == Verdict::Damaged {
                layer.verdict = Verdict::Unsupported;
            }
        }
        assert_eq!(outcome(&catalog, &everything), Exit::Unchecked);
        catalog.profiles[0].findings.push(Finding::error(Code::NoPermission, "No.", ""));
        assert_eq!(outcome(&catalog, &live), Exit::Done, "a finding elsewhere does not count");
        catalog.profiles[0].worlds[0].findings.push(Finding::error(Code::BadValue, "Bad.", ""));
        assert_eq!(outcome(&catalog, &everything), Exit::Damaged);
    }
}
