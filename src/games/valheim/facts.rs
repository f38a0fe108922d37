//! What lets a person tell two Valheim layers apart.

use super::format::day_and_minute;
use super::keys;
use crate::model::{Facts, Hallmarks, Value};

/// Where a seed was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SeedFrom {
    /// In the metadata file.
    Metadata,
    /// Worked out from what location proxies store.
    Recovered,
}

/// What is known of a layer; `None` is not known at this depth, or nowhere in the save.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ValheimFacts {
    /// The name inside; untrusted.
    pub name: Option<String>,
    /// The seed as typed; untrusted.
    pub seed: Option<String>,
    /// The seed as a number.
    pub seed_number: Option<i32>,
    /// Where the number was read.
    pub seed_from: Option<SeedFrom>,
    /// The world's own number.
    pub uid: Option<i64>,
    /// The version of the world's format: of its data, or else of its metadata.
    pub world_version: Option<i32>,
    /// The version of the world's generator.
    pub world_gen: Option<i32>,
    /// The metadata says that the world was saved at least once.
    pub needs_db: Option<bool>,
    /// Settings; untrusted.
    pub start_keys: Option<Vec<String>>,
    /// Players on record.
    pub players: Option<u64>,
    /// There is world data, readable or not; without it, facts about it do not apply.
    pub has_data: bool,
    /// The world's age in seconds.
    pub net_time: Option<f64>,
    /// Objects, as the save counts them.
    pub objects: Option<u64>,
    /// Objects that players built.
    pub pieces: Option<u64>,
    /// Portals.
    pub portals: Option<u64>,
    /// Beds.
    pub beds: Option<u64>,
    /// Distinct prefabs.
    pub prefabs: Option<u64>,
    /// Generated zones without the idle point's.
    pub zones: Option<u64>,
    /// Generated zones around a server's idle point.
    pub zones_idle: Option<u64>,
    /// Locations, placed and to be placed.
    pub locations: Option<u64>,
    /// Locations that stand in the world.
    pub locations_placed: Option<u64>,
    /// Keys set by progress; untrusted.
    pub global_keys: Option<Vec<String>>,
    /// The random event, empty when there is none; untrusted.
    pub event: Option<String>,
    /// Bytes that nothing explains, once everything was reached.
    pub bytes_left: Option<u64>,
}

/// Keys of a list that are kept; real worlds have some dozens.
pub(super) const MOST_KEYS: usize = 1000;

impl ValheimFacts {
    /// The facts as a person or a script reads them, in reading order.
    pub(super) fn to_facts(&self) -> Facts {
        let mut facts = Facts::default();
        facts.push("seed", "Seed", text(self.seed.as_ref()));
        facts.push("seed_number", "Seed number", number(self.seed_number));
        let from = self.seed_from.map(|from| match from {
            SeedFrom::Metadata => "metadata",
            SeedFrom::Recovered => "recovered",
        });
        facts.push("seed_from", "Seed from", text(from));
        facts.push("uid", "World id", text(self.uid.map(|uid| uid.to_string())));
        facts.push("world_version", "World version", number(self.world_version));
        facts.push("world_gen", "Generator version", number(self.world_gen));
        if self.has_data {
            self.push_data(&mut facts);
        }
        facts.push("name", "Name inside", text(self.name.as_ref()));
        if let Some(needs) = self.needs_db {
            facts.push("needs_db", "Was saved", Value::Bool(needs));
        }
        if let Some(keys) = &self.start_keys {
            facts.push("start_keys", "Settings", Value::List(keys.clone()));
        }
        if let Some(players) = self.players {
            facts.push("players", "Players on record", count(Some(players)));
        }
        facts
    }

    fn push_data(&self, facts: &mut Facts) {
        let time = self.net_time.and_then(day_and_minute);
        facts.push("day", "Day", number(time.map(|(day, _)| day)));
        let clock = time.map(|(_, minute)| format!("{:02}:{:02}", minute / 60, minute % 60));
        facts.push(keys::TIME_OF_DAY, "Time of day", text(clock));
        facts.push("objects", "Objects", count(self.objects));
        facts.push("pieces", "Built by players", count(self.pieces));
        facts.push("portals", "Portals", count(self.portals));
        facts.push("beds", "Beds", count(self.beds));
        facts.push("zones", "Zones", count(self.zones));
        facts.push("zones_idle", "Zones of the idle point", count(self.zones_idle));
        facts.push("locations", "Locations", count(self.locations));
        facts.push("locations_placed", "Locations found", count(self.locations_placed));
        facts.push("global_keys", "World keys", self.global_keys.clone().map_or(Value::Unknown, Value::List));
        let event = self.event.as_deref().map(|name| if name.is_empty() { "none" } else { name });
        facts.push("event", "Event", text(event));
        facts.push("bytes_left", "Bytes left over", count(self.bytes_left));
        facts.push("prefabs", "Kinds of objects", count(self.prefabs));
    }
}

/// What tells a state from others: the seed and the world's own number, which no save of the game changes, its clock, the
/// objects and the number of the save.
pub(super) fn hallmarks(facts: &Facts, generation: Option<u64>) -> Hallmarks {
    let seed = facts.int(keys::SEED_NUMBER).map(|seed| ("seed number".to_owned(), seed.to_string()));
    let uid = facts.text(keys::UID).map(|uid| ("world id".to_owned(), uid.to_owned()));
    let minute = facts.text(keys::TIME_OF_DAY).and_then(minute_of);
    let clock = facts.int(keys::DAY).zip(minute).and_then(|(day, minute)| day.checked_mul(1440)?.checked_add(minute));
    let objects = facts.int(keys::OBJECTS).and_then(|objects| u64::try_from(objects).ok());
    Hallmarks { identity: seed.into_iter().chain(uid).collect(), clock, objects, generation }
}

/// The minute of the day of a time as [`ValheimFacts::to_facts`] writes it.
fn minute_of(clock: &str) -> Option<i64> {
    let (hour, minute) = clock.split_once(':')?;
    Some(hour.parse::<i64>().ok()? * 60 + minute.parse::<i64>().ok()?)
}

fn text(value: Option<impl Into<String> + Clone>) -> Value {
    value.map_or(Value::Unknown, |value| Value::Text(value.into()))
}

fn number(value: Option<impl Into<i64>>) -> Value {
    value.map_or(Value::Unknown, |value| Value::Number(value.into()))
}

fn count(value: Option<u64>) -> Value {
    value.and_then(|value| i64::try_from(value).ok()).map_or(Value::Unknown, Value::Int)
}

#[cfg(test)]
mod tests {
    use super::{SeedFrom, ValheimFacts};
    use crate::model::{Hallmarks, Value};

    #[test]
    fn facts_come_in_the_order_of_the_documentation() {
        let facts = ValheimFacts { has_data: true, ..ValheimFacts::default() }.to_facts();
        let keys: Vec<_> = facts.0.iter().map(|fact| fact.key).collect();
        assert_eq!(
            keys,
            [
                "seed",
                "seed_number",
                "seed_from",
                "uid",
                "world_version",
                "world_gen",
                "day",
                "time_of_day",
                "objects",
                "pieces",
                "portals",
                "beds",
                "zones",
                "zones_idle",
                "locations",
                "locations_placed",
                "global_keys",
                "event",
                "bytes_left",
                "prefabs",
                "name",
            ]
        );
        assert!(facts.0.iter().all(|fact| fact.value == Value::Unknown));
    }

    #[test]
    fn facts_about_data_do_not_apply_without_data() {
        let facts = ValheimFacts {
            seed_number: Some(-5),
            seed_from: Some(SeedFrom::Metadata),
            uid: Some(-972_157_741),
            needs_db: Some(false),
            ..ValheimFacts::default()
        }
        .to_facts();
        assert_eq!((facts.int("seed_number"), facts.text("seed_from")), (Some(-5), Some("metadata")));
        assert_eq!((facts.text("uid"), facts.get("day")), (Some("-972157741"), None));
        assert_eq!(facts.get("needs_db"), Some(&Value::Bool(false)));
    }

    #[test]
    fn time_is_a_day_and_a_clock() {
        let at =
            |net_time| ValheimFacts { has_data: true, net_time: Some(net_time), ..ValheimFacts::default() }.to_facts();
        assert_eq!((at(29_592.9).int("day"), at(29_592.9).text("time_of_day")), (Some(16), Some("10:34")));
        assert_eq!(at(f64::NAN).get("day"), Some(&Value::Unknown));
    }

    #[test]
    fn hallmarks_come_from_the_facts_and_what_is_unknown_is_none() {
        let facts = ValheimFacts {
            seed_number: Some(-5),
            uid: Some(7),
            has_data: true,
            net_time: Some(29_592.9),
            objects: Some(77_504),
            ..ValheimFacts::default()
        };
        let marks = super::hallmarks(&facts.to_facts(), Some(17));
        let identity =
            [("seed number", "-5"), ("world id", "7")].map(|(label, value)| (label.to_owned(), value.to_owned()));
        assert_eq!(marks.identity, identity);
        assert_eq!((marks.clock, marks.objects, marks.generation), (Some(16 * 1440 + 634), Some(77_504), Some(17)));
        let unknown = ValheimFacts { has_data: true, ..ValheimFacts::default() }.to_facts();
        assert_eq!(super::hallmarks(&unknown, None), Hallmarks::default());
    }
}
