//! Findings, collected so that a bad file cannot make thousands of them, and in the words of a person.

use std::collections::HashMap;
use std::fmt::Write as _;

use crate::games::valheim::format::census::{Spot, Spots};
use crate::games::valheim::format::object::Lost;
use crate::games::valheim::format::packed::PackedFault;
use crate::games::valheim::format::prefab::Shown;
use crate::games::valheim::format::{Fault, FaultKind, Tally, zone_of};
use crate::model::{Code, Finding, Severity};

/// The next step for a file that is damaged.
pub(super) const OLDER_LAYER: &str = "Look for an older layer that is whole, and keep this one for a repair tool.";

/// Findings of one code that are kept; the rest is counted.
const MOST_PER_CODE: usize = 50;

/// The findings of one check.
#[derive(Debug, Default)]
pub(super) struct Report {
    findings: Vec<Finding>,
    counts: HashMap<Code, usize>,
    errors: usize,
}

/// A compressed block of a `.db2`.
#[derive(Clone, Copy, Debug)]
pub(super) enum Block {
    /// Zones, keys and locations.
    Zones,
    /// Persistent events.
    Events,
}

/// A moment of a check, to ask what was found since.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    findings: usize,
    errors: usize,
}

impl Report {
    /// Adds a finding, or counts it when there are many of its code.
    pub(super) fn push(&mut self, finding: Finding) {
        let count = self.counts.entry(finding.code).or_default();
        *count += 1;
        self.errors += usize::from(finding.severity == Severity::Error);
        if *count <= MOST_PER_CODE {
            self.findings.push(finding);
        }
    }

    /// Everything that was found, with a last word on what was only counted.
    pub(super) fn finish(mut self) -> Vec<Finding> {
        let mut over: Vec<_> = self.counts.into_iter().filter(|&(_, count)| count > MOST_PER_CODE).collect();
        over.sort_by_key(|&(code, _)| code.as_str());
        for (code, count) in over {
            let text = format!("{} more findings of the kind {} are not listed.", count - MOST_PER_CODE, code.as_str());
            self.findings.push(Finding::note(code, text, ""));
        }
        self.findings
    }

    /// This moment.
    pub(super) fn moment(&self) -> Moment {
        Moment { findings: self.findings.len(), errors: self.errors }
    }

    /// True when an error was found since, listed or only counted.
    pub(super) fn errors_since(&self, since: Moment) -> bool {
        self.errors > since.errors
    }

    /// Names the chunk in everything that was found since.
    pub(super) fn in_chunk_since(&mut self, since: Moment, chunk: &str) {
        for finding in self.findings.iter_mut().skip(since.findings) {
            finding.place.chunk.get_or_insert_with(|| chunk.to_owned());
        }
    }

    /// Adds a sentence to the first error since.
    pub(super) fn append_since(&mut self, since: Moment, sentence: &str) {
        let mut listed = self.findings.iter_mut().skip(since.findings);
        let first = listed.find(|finding| finding.severity == Severity::Error);
        if let Some(finding) = first {
            finding.text.push(' ');
            finding.text.push_str(sentence);
        }
    }

    /// Moves the last finding to another byte.
    pub(super) fn last_at(&mut self, offset: u64) {
        if let Some(last) = self.findings.last_mut() {
            last.place.offset = Some(offset);
        }
    }

    /// A departure from the format.
    pub(super) fn fault(&mut self, file: &str, fault: &Fault) {
        self.push(of_fault(Severity::Error, fault, OLDER_LAYER).in_file(file));
    }

    /// A departure from what is believed of a format, where the belief may be wrong.
    pub(super) fn doubt(&mut self, file: &str, fault: &Fault) {
        let mut finding = of_fault(Severity::Warning, fault, "Nothing needs doing if the game opens it.").in_file(file);
        finding.text.push_str(" What is known of this part is unproven, so this may be no damage.");
        self.push(finding);
    }

    /// Oddities that did not stop the reading, told together.
    pub(super) fn tally(&mut self, file: &str, tally: &Tally, what: &str) {
        if let Some(first) = &tally.first {
            let mut finding = of_fault(Severity::Error, first, OLDER_LAYER).in_file(file);
            if tally.count > 1 {
                let _ = write!(finding.text, " It is the first of {} such {what}.", tally.count);
            }
            self.push(finding);
        }
    }

    /// Where a walk over objects could not go on.
    pub(super) fn lost(&mut self, file: &str, lost: &Lost, counted: u64) {
        let Lost { object, offset, fault, good } = lost;
        let mut text = format!("Object {object} of {counted}, at byte {offset}, cannot be read: {fault}.");
        match good {
            Some(good) => {
                let name = Shown(good.prefab);
                let number = good.number;
                let _ = write!(text, " The last good object is number {number}, {name}; the damage may lie in it.");
            }
            None => text.push_str(" No object before it is good."),
        }
        let finding = Finding::error(code_of(fault.kind), text, OLDER_LAYER).in_file(file).at(*offset);
        self.push(finding.object(*object));
    }

    /// What could not be reached.
    pub(super) fn not_reached(&mut self, file: &str, what: &str) {
        let text = format!("{} could not be reached, because of the damage before.", capital(what));
        self.push(Finding::error(Code::NotReached, text, OLDER_LAYER).in_file(file));
    }

    /// Objects whose stored sector and position contradict each other.
    pub(super) fn sectors(&mut self, file: &str, spots: &Spots) {
        let Some(first) = spots.first else { return };
        let [x, _, z] = first.position;
        let (sx, sz) = first.sector.unwrap_or_default();
        let text = format!(
            "{} say to lie in another zone than their position; the first, number {} ({}), says zone {sx}, {sz} and lies in {}, {}.",
            objects(spots.count),
            first.object,
            Shown(first.prefab),
            zone_of(x),
            zone_of(z),
        );
        self.spot(Finding::error(Code::SectorMismatch, text, OLDER_LAYER), file, &first);
    }

    /// Objects that lie at no number, or where no world reaches.
    pub(super) fn positions(&mut self, file: &str, no_number: &Spots, far: &Spots) {
        if let Some(first) = no_number.first {
            let text = format!(
                "{} lie at no number; the first is number {} ({}).",
                objects(no_number.count),
                first.object,
                Shown(first.prefab)
            );
            self.spot(Finding::error(Code::PositionRange, text, OLDER_LAYER), file, &first);
        }
        if let Some(first) = far.first {
            let [x, y, z] = first.position;
            let text = format!(
                "{} lie where no world reaches; the first, number {} ({}), at x {x:e}, y {y:e}, z {z:e}.",
                objects(far.count),
                first.object,
                Shown(first.prefab)
            );
            self.spot(Finding::warning(Code::PositionRange, text, ""), file, &first);
        }
    }

    /// Adds a finding about an object.
    pub(super) fn spot(&mut self, finding: Finding, file: &str, spot: &Spot) {
        self.push(finding.in_file(file).at(spot.offset).object(spot.object));
    }

    /// A block that could not be inflated whole; `start` is where it begins in its file.
    pub(super) fn packed(&mut self, file: &str, what: Block, start: u64, fault: (u64, PackedFault)) {
        let (what, method) = match what {
            Block::Zones => ("Zone block", "gzip"),
            Block::Events => ("Block of persistent events", "Brotli"),
        };
        let (at, kind) = fault;
        let offset = start.saturating_add(at);
        let (code, how) = match kind {
            PackedFault::NoHeader => (Code::BadCompression, format!("it does not begin as {method} does")),
            PackedFault::EndsEarly => (Code::Truncated, format!("{method} ends early")),
            PackedFault::Broken => (Code::BadCompression, format!("{method} is broken")),
            PackedFault::Checksum { stored, computed } => {
                (Code::BadChecksum, format!("its checksum is {stored:08x}, and its bytes give {computed:08x}"))
            }
            PackedFault::Length { stored, inflated } => {
                (Code::BadChecksum, format!("it says {stored} bytes, and {inflated} came out"))
            }
            PackedFault::OverCeiling { ceiling } => {
                (Code::OverCeiling, format!("it inflates to more than {ceiling} bytes"))
            }
            PackedFault::Trailing { left } => (Code::TrailingBytes, format!("{left} bytes follow behind its end")),
        };
        let text = format!("{what}: {how}, at byte {offset} of the file.");
        self.push(Finding::error(code, text, OLDER_LAYER).in_file(file).at(offset));
    }
}

/// The finding of a file without bytes.
pub(super) fn empty(file: &str, what: &str) -> Finding {
    let text = format!("The {what} file is empty: it has 0 bytes, so nothing is known of what was in it.");
    Finding::error(Code::EmptyFile, text, "Look for the save before it, or an older layer.").in_file(file)
}

fn objects(count: u64) -> String {
    if count == 1 { "1 object".to_owned() } else { format!("{count} objects") }
}

fn of_fault(severity: Severity, fault: &Fault, next: &str) -> Finding {
    let text = format!("{}.", capital(&fault.to_string()));
    Finding::new(severity, code_of(fault.kind), text, next).at(fault.offset)
}

fn code_of(kind: FaultKind) -> Code {
    match kind {
        FaultKind::EndsEarly { .. } => Code::Truncated,
        FaultKind::BadLength { .. } => Code::BadLength,
        FaultKind::OverCeiling { .. } => Code::OverCeiling,
        FaultKind::BadValue { .. } => Code::BadValue,
        FaultKind::BadText => Code::BadText,
        FaultKind::Trailing { .. } => Code::TrailingBytes,
    }
}

/// The same with a capital first letter.
pub(super) fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
