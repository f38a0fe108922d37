//! Facts and findings that pairs and folders share.

use super::Look;
use crate::games::valheim::facts::{MOST_KEYS, SeedFrom};
use crate::games::valheim::format::census::Census;
use crate::games::valheim::format::zones::{Event, ZoneSection};
use crate::model::{Code, Finding};

impl Look<'_> {
    /// The facts of the zone section, as far as it was read.
    pub(super) fn take_zones(&mut self, section: &ZoneSection<'_>) {
        let facts = &mut self.facts;
        if let Some(zones) = section.zones {
            let idle = zones.idle();
            facts.zones = Some((zones.len() - idle) as u64);
            facts.zones_idle = Some(idle as u64);
        }
        facts.global_keys = section.global_keys.as_ref().map(|keys| keys.first(MOST_KEYS));
        facts.locations = section.locations.as_ref().map(|locations| locations.len() as u64);
        facts.locations_placed = section.locations.as_ref().map(|locations| locations.placed() as u64);
    }

    /// The fact of the random event.
    pub(super) fn take_event(&mut self, event: Option<Event<'_>>) {
        self.facts.event = event.map(|event| event.name.to_owned());
    }

    /// What the objects say, once all were seen.
    pub(super) fn take_census(&mut self, census: &Census) {
        let facts = &mut self.facts;
        facts.pieces = Some(census.pieces);
        facts.portals = Some(census.portals);
        facts.beds = Some(census.beds);
        facts.prefabs = census.prefabs();
    }

    /// The seed that the objects tell: a replacement where no metadata gives one, a cross-check where it does.
    pub(super) fn take_seed(&mut self, census: &Census) {
        let Some((seed, votes, all)) = census.seed() else { return };
        match self.facts.seed_number {
            None => {
                self.facts.seed_number = Some(seed);
                self.facts.seed_from = Some(SeedFrom::Recovered);
                let text =
                    format!("No metadata gives the seed; it is {seed}, as {votes} of {all} placed locations say.");
                let next = "A new world made with this number's text would have the same ground.";
                self.report.push(Finding::note(Code::SeedRecovered, text, next));
            }
            // Few votes may come from a mod's own locations.
            Some(own) if own != seed && votes >= 3 => {
                let text = format!(
                    "The metadata says seed {own}, and {votes} of {all} placed locations say {seed}: \
                     the files may belong to two worlds."
                );
                let next = "Compare with the other layers before starting a server on it.";
                self.report.push(Finding::warning(Code::OtherWorld, text, next));
            }
            Some(_) => {}
        }
    }

    /// Takes over the world's time, or says that it is none.
    pub(super) fn take_time(&mut self, file: &str, net_time: f64) {
        self.facts.net_time = Some(net_time);
        if crate::games::valheim::format::day_and_minute(net_time).is_none() {
            let text = format!("The world's time is {net_time:e} seconds, which no world can have.");
            let finding = Finding::error(Code::BadValue, text, super::report::OLDER_LAYER);
            self.report.push(finding.in_file(file).at(4));
        }
    }
}
