//! What a walk over objects counts.

use std::collections::{HashMap, HashSet};

use super::chunked::Area;
use super::object::Object;
use super::prefab::Interest;
use super::zone_of;

/// Where something was met first, and how often.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spots {
    /// How often.
    pub count: u64,
    /// The first.
    pub first: Option<Spot>,
}

/// An object that something is wrong with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spot {
    /// Its number in its file.
    pub object: u64,
    /// Where it begins.
    pub offset: u64,
    /// Its prefab.
    pub prefab: i32,
    /// The zone that it says to lie in, where the format stores it.
    pub sector: Option<(i32, i32)>,
    /// East, up and north in metres.
    pub position: [f32; 3],
}

impl Spots {
    #[cold]
    fn add(&mut self, object: &Object<'_>) {
        let &Object { number, offset, prefab, sector, position, .. } = object;
        self.count += 1;
        self.first.get_or_insert(Spot { object: number, offset, prefab, sector, position });
    }
}

/// Objects lie within the range of a sector of 16 bits at most; a world ends at 10.5 km, an idle server's point lies
/// at 1000 km.
const FARTHEST: f32 = 2_097_184.0;

/// Distinct values that are counted; a real world has some hundred prefabs and some thousand locations.
const MOST_DISTINCT: usize = 1 << 18;

/// Distinct prefabs, with a small table before the set, since one prefab comes thousands of times.
#[derive(Clone, Debug)]
struct Prefabs {
    recent: Box<[i32; 1024]>,
    // Hashed with the standard hasher: a file may choose its prefabs so that a cheap one degrades.
    all: HashSet<i32>,
}

impl Default for Prefabs {
    fn default() -> Self {
        Self { recent: Box::new([0; 1024]), all: HashSet::new() }
    }
}

impl Prefabs {
    #[inline]
    fn add(&mut self, prefab: i32) {
        let slot = (prefab.cast_unsigned().wrapping_mul(0x9e37_79b1) >> 22) as usize & 1023;
        // The mask keeps the slot inside; zero is no prefab.
        if let Some(recent) = self.recent.get_mut(slot)
            && *recent != prefab
        {
            *recent = prefab;
            if self.all.len() < MOST_DISTINCT {
                self.all.insert(prefab);
            }
        }
    }
}

/// Counts over the objects of a save, and what is wrong with their places.
#[derive(Clone, Debug, Default)]
pub struct Census {
    /// Objects that players built.
    pub pieces: u64,
    /// Portals.
    pub portals: u64,
    /// Beds.
    pub beds: u64,
    /// Objects whose sector is not where their position lies.
    pub sectors: Spots,
    /// Objects whose position is no number.
    pub no_number: Spots,
    /// Objects further out than any sector.
    pub far: Spots,
    /// Objects outside the area of their chunk file, since [`Census::enter`].
    pub outside: Spots,
    area: Option<Area>,
    prefabs: Prefabs,
    votes: HashMap<i32, u32>,
}

impl Census {
    /// Begins with a chunk file that covers an area, or with a file that may hold objects of anywhere.
    pub fn enter(&mut self, area: Option<Area>) {
        self.area = area;
        self.outside = Spots::default();
    }

    /// Counts one object; false when it does not lie where it can lie.
    #[inline]
    pub fn visit(&mut self, object: &Object<'_>) -> bool {
        if object.prefab == 0 {
            // The block could not be read, which the walk tells.
            return true;
        }
        self.prefabs.add(object.prefab);
        self.pieces += u64::from(object.built);
        match Interest::of(object.prefab) {
            Interest::None => {}
            Interest::Portal => self.portals += 1,
            Interest::Bed => self.beds += 1,
            Interest::LocationProxy => self.vote(object),
        }
        self.is_placed_well(object)
    }

    /// True for a place within the range of any sector; false for one that is no number.
    #[inline]
    pub fn is_within_reach(position: [f32; 3]) -> bool {
        // Comparisons with no number are false.
        position.iter().all(|p| p.abs() < FARTHEST)
    }

    #[inline]
    fn is_placed_well(&mut self, object: &Object<'_>) -> bool {
        let [x, y, z] = object.position;
        if !Self::is_within_reach(object.position) {
            let finite = x.is_finite() && y.is_finite() && z.is_finite();
            if finite {
                self.far.add(object);
            } else {
                self.no_number.add(object);
            }
            return false;
        }
        if object.sector.is_some_and(|sector| sector != (zone_of(x), zone_of(z))) {
            self.sectors.add(object);
            return false;
        }
        if self.area.is_some_and(|area| !area.holds(object.position)) {
            self.outside.add(object);
            return false;
        }
        true
    }

    fn vote(&mut self, object: &Object<'_>) {
        let Some(value) = object.seed else { return };
        let [x, _, z] = object.position;
        // The game adds these to the world's seed for each location.
        let seed = value.wrapping_sub(zone_of(x).wrapping_mul(4271)).wrapping_sub(zone_of(z).wrapping_mul(9187));
        if self.votes.len() < MOST_DISTINCT || self.votes.contains_key(&seed) {
            let votes = self.votes.entry(seed).or_default();
            *votes = votes.saturating_add(1);
        }
    }

    /// How many prefabs there are; none when there are too many to count.
    pub fn prefabs(&self) -> Option<u64> {
        let n = self.prefabs.all.len();
        (n < MOST_DISTINCT).then_some(n as u64)
    }

    /// The distinct prefabs.
    pub fn prefab_hashes(&self) -> impl Iterator<Item = i32> + '_ {
        self.prefabs.all.iter().copied()
    }

    /// The seed that more than half of the location proxies tell, with its votes and all votes.
    pub fn seed(&self) -> Option<(i32, u64, u64)> {
        let all: u64 = self.votes.values().map(|&votes| u64::from(votes)).sum();
        let (&seed, &votes) = self.votes.iter().max_by_key(|&(_, &votes)| votes)?;
        (u64::from(votes) * 2 > all).then_some((seed, votes.into(), all))
    }
}
