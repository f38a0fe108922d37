//! What a world to be written holds, in the game's own terms.

use super::super::format::hash::stable_hash;

/// Edge of a zone in metres.
const ZONE: f32 = 64.0;

/// How an object is turned, in degrees.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Rotation {
    /// Not at all, and nothing is stored.
    #[default]
    None,
    /// About the upright axis only. Chunk files keep half degrees.
    Yaw(f32),
    /// About x, y and z. Chunk files keep half degrees.
    Euler([f32; 3]),
}

/// One object of a world, always a persistent one.
///
/// Keys and prefabs are hashes ([`stable_hash`]), since the files keep nothing else.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Object {
    /// Hash of the prefab's name.
    pub prefab: i32,
    /// East, up, north in metres.
    pub position: [f32; 3],
    /// How it is turned.
    pub rotation: Rotation,
    /// 0 default, 1 prioritized, 2 solid, 3 terrain; higher bits are cut.
    pub kind: u8,
    /// Seen from afar.
    pub distant: bool,
    /// Kind and hash of a connection to another object; not written before version 31.
    pub connection: Option<(u8, i32)>,
    /// Numbers with a fraction.
    pub floats: Vec<(i32, f32)>,
    /// Vectors.
    pub vectors: Vec<(i32, [f32; 3])>,
    /// Rotations.
    pub quats: Vec<(i32, [f32; 4])>,
    /// Whole numbers.
    pub ints: Vec<(i32, i32)>,
    /// Large whole numbers, such as who built it.
    pub longs: Vec<(i32, i64)>,
    /// Texts.
    pub texts: Vec<(i32, String)>,
    /// Byte arrays; not written before version 27.
    pub arrays: Vec<(i32, Vec<u8>)>,
}

impl Object {
    /// An object of a prefab at a place.
    pub fn new(prefab: &str, position: [f32; 3]) -> Self {
        Self { prefab: stable_hash(prefab), position, ..Self::default() }
    }

    /// The same, turned about the upright axis.
    #[must_use]
    pub fn yaw(mut self, degrees: f32) -> Self {
        self.rotation = Rotation::Yaw(degrees);
        self
    }

    /// The same, turned about all axes.
    #[must_use]
    pub fn euler(mut self, degrees: [f32; 3]) -> Self {
        self.rotation = Rotation::Euler(degrees);
        self
    }

    /// The same, of another kind.
    #[must_use]
    pub fn of_kind(mut self, kind: u8) -> Self {
        self.kind = kind;
        self
    }

    /// The same, with a number.
    #[must_use]
    pub fn float(mut self, key: &str, value: f32) -> Self {
        self.floats.push((stable_hash(key), value));
        self
    }

    /// The same, with a whole number.
    #[must_use]
    pub fn int(mut self, key: &str, value: i32) -> Self {
        self.ints.push((stable_hash(key), value));
        self
    }

    /// The same, with a large whole number.
    #[must_use]
    pub fn long(mut self, key: &str, value: i64) -> Self {
        self.longs.push((stable_hash(key), value));
        self
    }

    /// The same, with a text.
    #[must_use]
    pub fn text(mut self, key: &str, value: &str) -> Self {
        self.texts.push((stable_hash(key), value.to_owned()));
        self
    }

    /// The same, with a byte array.
    #[must_use]
    pub fn array(mut self, key: &str, value: Vec<u8>) -> Self {
        self.arrays.push((stable_hash(key), value));
        self
    }

    /// The same, connected to another object.
    #[must_use]
    pub fn connected(mut self, kind: u8, hash: i32) -> Self {
        self.connection = Some((kind, hash));
        self
    }

    /// The same, built by a player.
    #[must_use]
    pub fn built_by(self, player: i64) -> Self {
        self.long("creator", player)
    }

    /// The zone it lies in.
    pub fn zone(&self) -> (i32, i32) {
        let [x, _, z] = self.position;
        (zone_of(x), zone_of(z))
    }

    /// True for the prefabs that a 1.0 folder keeps in a chunk of their own.
    pub fn is_portal(&self) -> bool {
        ["portal_wood", "portal_stone", "portal"].iter().any(|name| stable_hash(name) == self.prefab)
    }
}

/// The zone of one coordinate in metres; a number that is none counts as 0, and one outside is the outermost.
#[expect(clippy::cast_possible_truncation, reason = "`as` saturates, which is what is wanted")]
pub fn zone_of(metres: f32) -> i32 {
    ((metres + ZONE / 2.0) / ZONE).floor() as i32
}

/// A place that the world's generator chose.
#[derive(Clone, Debug, PartialEq)]
pub struct Location {
    /// The prefab's name; a 1.0 folder keeps its hash only.
    pub prefab: String,
    /// East, up, north in metres.
    pub position: [f32; 3],
    /// It was spawned, because a player came near.
    pub placed: bool,
}

impl Location {
    /// A location.
    pub fn new(prefab: &str, position: [f32; 3], placed: bool) -> Self {
        Self { prefab: prefab.to_owned(), position, placed }
    }
}

/// The random event of a world; idle when its name is empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RandomEvent {
    /// Seconds since the last one was tried.
    pub timer: f32,
    /// Its name.
    pub name: String,
    /// Seconds that it has run.
    pub time: f32,
    /// Where.
    pub position: [f32; 3],
}

/// One player in the history of a 1.0 world's metadata.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Player {
    /// Such as `Steam_` and a number.
    pub platform_id: String,
    /// The name shown.
    pub name: String,
    /// The name that the server gave.
    pub server_name: String,
    /// An id of the game's network.
    pub network_id: String,
}

/// Everything that the files of one state of a world hold.
#[derive(Clone, Debug, PartialEq)]
pub struct WorldPlan {
    /// The name inside.
    pub name: String,
    /// The seed as typed.
    pub seed_text: String,
    /// The seed as stored.
    pub seed: i32,
    /// The world's id.
    pub uid: i64,
    /// Version of the world's generator: 1 up to file version 28, 2 since.
    pub world_gen: i32,
    /// It was saved at least once; not written before version 30.
    pub saved: bool,
    /// Modifiers chosen at the start; not written before version 32.
    pub starting_keys: Vec<String>,
    /// Who played; not written before version 41.
    pub players: Vec<Player>,
    /// Seconds of world time; a day has 1800.
    pub net_time: f64,
    /// The session that saved it; pairs only.
    pub session: i64,
    /// The objects, in the order of the file.
    pub objects: Vec<Object>,
    /// Generated zones.
    pub zones: Vec<(i32, i32)>,
    /// Version of the locations' list; none: what that version of the game is known to write.
    pub location_version: Option<i32>,
    /// Progress of the world.
    pub global_keys: Vec<String>,
    /// Places that the generator chose.
    pub locations: Vec<Location>,
    /// The random event.
    pub event: RandomEvent,
    /// Persistent events as JSON; 1.0 folders only.
    pub persistent_events: String,
    /// What follows the random event of a pair since version 35, byte for byte; usually nothing.
    pub pair_tail: Vec<u8>,
    /// How far base chunks are merged in a folder: a chunk file covers `2^n` by `2^n` of them. 0 to 4; a fresh world
    /// has 1.
    pub chunk_size: u8,
}

impl WorldPlan {
    /// A fresh world without any object, as the game makes it: its clock stands at 2040 seconds.
    pub fn new(name: &str, seed_text: &str) -> Self {
        Self {
            name: name.to_owned(),
            seed_text: seed_text.to_owned(),
            seed: if seed_text.is_empty() { 0 } else { stable_hash(seed_text) },
            uid: i64::from(stable_hash(name)),
            world_gen: 2,
            saved: true,
            starting_keys: Vec::new(),
            players: Vec::new(),
            net_time: 2040.0,
            session: 1,
            objects: Vec::new(),
            zones: Vec::new(),
            location_version: None,
            global_keys: Vec::new(),
            locations: Vec::new(),
            event: RandomEvent::default(),
            persistent_events: r#"{"list":[]}"#.to_owned(),
            pair_tail: Vec::new(),
            chunk_size: 1,
        }
    }

    /// Makes the list of generated zones the zones of its objects, sorted.
    pub fn zones_from_objects(&mut self) {
        self.zones = self.objects.iter().map(Object::zone).collect();
        self.zones.sort_unstable();
        self.zones.dedup();
    }
}

#[cfg(test)]
mod tests {
    use super::zone_of;

    #[test]
    fn a_zone_reaches_half_its_edge_to_both_sides_of_its_centre() {
        assert_eq!([-32.1, -32.0, 0.0, 31.9, 32.0, 96.0, f32::NAN].map(zone_of), [-1, 0, 0, 0, 1, 2, 0]);
    }
}
