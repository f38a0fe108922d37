//! The check of an index and of the chunk files that it names.

use std::collections::HashSet;
use std::path::Path;

use super::folder::Listing;
use super::{Look, report};
use crate::games::valheim::format::census::Census;
use crate::games::valheim::format::chunked::{CHUNK_HEAD, Chunk, Entry, GRID, Index, is_chunk_name};
use crate::games::valheim::format::object::Encoding;
use crate::model::{Code, Finding, shown_path};
use crate::store::EntryKind;

/// What all chunk files together came to.
#[derive(Default)]
struct Sum {
    census: Census,
    /// Each chunk file was walked to its end and holds as many objects as the index says.
    whole: bool,
    /// Chunk files of an older version than the index.
    older: u64,
}

impl Look<'_> {
    /// Checks the index and every chunk file; true when all of that is whole to the depth of this check.
    pub(super) fn chunks(&mut self, listing: &Listing, generation: u64, path: &Path, index: &Index<'_>) -> bool {
        let file = shown_path(path);
        let since = self.report.moment();
        if let Some(fault) = &index.fault {
            self.report.fault(&file, fault);
        }
        self.index_counts(&file, index);
        self.overlaps(&file, index);
        let mut sum = Sum { whole: true, ..Sum::default() };
        for entry in index.iter() {
            if self.context.cancel.cancelled() {
                return false;
            }
            self.chunk(listing, index, entry, &mut sum);
        }
        if self.full() {
            if sum.whole && index.fault.is_none() {
                self.take_census(&sum.census);
            }
            self.take_seed(&sum.census);
        }
        if sum.older > 0 {
            let text = format!("{} chunk files were last written by an older version than the index.", sum.older);
            self.report.push(Finding::note(Code::VersionMismatch, text, "").in_file(&file));
        }
        if index.fault.is_none() && !listing.is_superseded(generation) {
            self.orphans(listing, index);
        }
        !self.report.errors_since(since)
    }

    fn index_counts(&mut self, file: &str, index: &Index<'_>) {
        if let Some(total) = index.total
            && index.fault.is_none()
            && i64::from(total) != index.sum()
        {
            let text = format!("The index says {total} objects in all, and its entries add up to {}.", index.sum());
            self.report.push(Finding::error(Code::CountMismatch, text, report::OLDER_LAYER).in_file(file).at(2));
        }
        for (entry, at) in index.iter().zip((10_u64..).step_by(11)) {
            let name = entry.file_name();
            if entry.objects < 0 {
                let text = format!("The index says {} objects for {name}.", entry.objects);
                let finding = Finding::error(Code::BadLength, text, report::OLDER_LAYER);
                self.report.push(finding.in_file(file).at(at + 7).chunk(&name));
            }
            if !entry.is_aligned() {
                let text = format!("The index names {name}, which is no square that the game makes.");
                self.report.push(Finding::warning(Code::BadValue, text, "").in_file(file).chunk(name));
            }
        }
    }

    /// Areas that the index covers twice.
    fn overlaps(&mut self, file: &str, index: &Index<'_>) {
        let mut owners: Vec<u32> = vec![0; GRID * GRID];
        let mut squareless = HashSet::new();
        for (number, entry) in (1_u32..).zip(index.iter()) {
            let Some(area) = entry.area() else {
                if !squareless.insert((entry.id, entry.size)) {
                    self.overlap(file, entry, None);
                }
                continue;
            };
            let mut other = 0;
            for row in area.row..area.row + area.span {
                for column in area.column..area.column + area.span {
                    let cell = usize::try_from(row * 256 + column).ok().filter(|_| row < 256 && column < 256);
                    if let Some(owner) = cell.and_then(|cell| owners.get_mut(cell)) {
                        other = if *owner == 0 { other } else { *owner };
                        *owner = number;
                    }
                }
            }
            if other != 0 {
                let first = usize::try_from(other - 1).ok().and_then(|at| index.get(at));
                self.overlap(file, entry, first);
            }
        }
    }

    fn overlap(&mut self, file: &str, entry: Entry, other: Option<Entry>) {
        let name = entry.file_name();
        let twin = other.map_or_else(|| "another entry".to_owned(), |other| other.file_name());
        let text = format!(
            "Areas overlap in the index: {name} and {twin} both cover a part of {}, so its objects may come twice.",
            entry.place()
        );
        let next = "Compare with an older layer; built pieces may stand doubled in the game.";
        let mut finding = Finding::warning(Code::OverlappingChunks, text, next).in_file(file).chunk(name);
        finding.place.square = entry.area().map(|area| area.first_zone());
        self.report.push(finding);
    }

    fn chunk(&mut self, listing: &Listing, index: &Index<'_>, entry: Entry, sum: &mut Sum) {
        let name = entry.file_name();
        let path = listing.path(&name);
        if listing.kind(&name).is_none() {
            self.missing_chunk(&path, &name, entry);
            sum.whole = false;
            return;
        }
        let since = self.report.moment();
        if self.full() {
            self.whole_chunk(&path, &name, index, entry, sum);
        } else {
            self.size_of_chunk(&path, &name, entry);
        }
        self.report.in_chunk_since(since, &name);
        sum.whole &= !self.report.errors_since(since);
    }

    fn missing_chunk(&mut self, path: &Path, name: &str, entry: Entry) {
        self.vanished = true;
        let text =
            format!("The chunk file {name} is missing: {} objects are lost ({}).", entry.objects.max(0), entry.place());
        let mut finding = Finding::error(Code::MissingFile, text, "Look for it in an older layer of the same world.")
            .in_file(shown_path(path))
            .chunk(name);
        finding.place.square = entry.area().map(|area| area.first_zone());
        self.report.push(finding);
    }

    /// The fewest bytes that a chunk file of an entry can have.
    fn least_bytes(entry: Entry) -> u64 {
        CHUNK_HEAD as u64 + u64::try_from(entry.objects).unwrap_or(0) * Encoding::Chunked.least_bytes() as u64
    }

    fn size_of_chunk(&mut self, path: &Path, name: &str, entry: Entry) {
        let stat = self.store.stat(path);
        if stat.as_ref().is_err_and(crate::store::StoreError::is_not_found) {
            self.missing_chunk(path, name, entry);
            return;
        }
        let Some(stat) = self.take(stat) else { return };
        if stat.kind != EntryKind::File {
            let error = crate::store::StoreError::new(path, crate::store::StoreErrorKind::NotAFile);
            self.report.push(error.finding().chunk(name));
        } else if stat.size == 0 {
            self.report.push(report::empty(&shown_path(path), "chunk").chunk(name));
        } else if stat.size < Self::least_bytes(entry) {
            let text = format!(
                "The chunk file {name} has {} bytes, too few for its {} objects ({}).",
                stat.size,
                entry.objects,
                entry.place()
            );
            let finding = Finding::error(Code::Truncated, text, report::OLDER_LAYER);
            self.report.push(finding.in_file(shown_path(path)).chunk(name));
        }
    }

    fn whole_chunk(&mut self, path: &Path, name: &str, index: &Index<'_>, entry: Entry, sum: &mut Sum) {
        let read = self.store.read(path, self.context.ceilings.file);
        if read.as_ref().is_err_and(crate::store::StoreError::is_not_found) {
            self.missing_chunk(path, name, entry);
            return;
        }
        let Some(bytes) = self.take(read) else { return };
        let file = shown_path(path);
        if bytes.is_empty() {
            self.report.push(report::empty(&file, "chunk").chunk(name));
            return;
        }
        sum.census.enter(entry.area());
        let context = self.context;
        let census = &mut sum.census;
        let chunk = Chunk::read(&bytes, &context.ceilings, &context.cancel, &mut |object| census.visit(object));
        if let Some(version) = chunk.version {
            if !self.chunk_version(path, version, index.version) {
                sum.whole = false;
                return;
            }
            sum.older += u64::from(index.version.is_some_and(|index| version < index));
        }
        if let Some(counted) = chunk.counted
            && counted != entry.objects
        {
            let text = format!(
                "The chunk file {name} counts {counted} objects, and the index says {} ({}).",
                entry.objects,
                entry.place()
            );
            let finding = Finding::error(Code::CountMismatch, text, report::OLDER_LAYER);
            self.report.push(finding.in_file(&file).at(2).chunk(name));
        }
        if let Some(fault) = &chunk.fault {
            self.report.fault(&file, fault);
        }
        if let Some(lost) = &chunk.walked.lost {
            self.report.lost(&file, lost, u64::try_from(chunk.counted.unwrap_or(0)).unwrap_or(0));
        }
        self.report.tally(&file, &chunk.walked.odd.texts, "texts");
        self.places_in_chunk(&file, name, &chunk, sum);
    }

    fn places_in_chunk(&mut self, file: &str, name: &str, chunk: &Chunk, sum: &mut Sum) {
        let Census { no_number, far, outside, .. } = &sum.census;
        let (no_number, far, outside) = (*no_number, *far, *outside);
        // Each file tells its own.
        sum.census.no_number = crate::games::valheim::format::census::Spots::default();
        sum.census.far = crate::games::valheim::format::census::Spots::default();
        if !chunk.walked.reached_end() {
            return;
        }
        self.report.positions(file, &no_number, &far);
        if let Some(first) = outside.first {
            let all = outside.count == chunk.walked.objects;
            let text = format!(
                "{} of {} objects lie outside the square of their chunk file; the first, number {}, at x {:.0}, z {:.0}.",
                outside.count, chunk.walked.objects, first.object, first.position[0], first.position[2]
            );
            // A single stray object may be the game's own; a whole file of them is another chunk's.
            let finding = if all {
                Finding::error(Code::WrongChunk, text, report::OLDER_LAYER)
            } else {
                Finding::warning(Code::WrongChunk, text, "")
            };
            self.report.spot(finding.chunk(name), file, &first);
        }
    }

    fn orphans(&mut self, listing: &Listing, index: &Index<'_>) {
        let named: HashSet<String> = index.iter().map(|entry| entry.file_name()).collect();
        let (mut count, mut bytes, mut first) = (0_u64, 0_u64, None);
        for entry in &listing.entries {
            let name = entry.name.to_string_lossy();
            if entry.kind != EntryKind::File || !is_chunk_name(&name) || named.contains(name.as_ref()) {
                continue;
            }
            if self.context.cancel.cancelled() {
                return;
            }
            count += 1;
            let path = listing.dir.join(&entry.name);
            bytes = bytes.saturating_add(self.store.stat(&path).map_or(0, |stat| stat.size));
            first.get_or_insert_with(|| shown_path(&path));
        }
        let Some(first) = first else { return };
        let files = if count == 1 { "1 chunk file is".to_owned() } else { format!("{count} chunk files are") };
        let text = format!(
            "{files} not in the index ({}); the game deletes such files at its next load.",
            crate::model::human::size(bytes)
        );
        let next = "They may belong to a save that is being written, or to one that was never finished.";
        self.report.push(Finding::note(Code::OrphanChunk, text, next).in_file(first));
    }
}
