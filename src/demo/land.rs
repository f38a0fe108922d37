//! The shape of a made-up land: which zones were seen, in which order, and what grows there.

use std::f32::consts::TAU;

/// The farthest that a coast can lie from its middle, in sizes of its land.
const HIGHEST: f32 = 0.8 + 0.16 + 0.13 + 0.09 + 0.05;
/// The second land's size in sizes of the first.
const SMALLER: f32 = 0.35;

/// A small generator of numbers that are the same on every machine and in every run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Random(u64);

impl Random {
    /// A generator for one purpose.
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A generator for one zone.
    pub(super) fn at(seed: u64, (x, z): (i32, i32)) -> Self {
        let place = u64::from(x.cast_unsigned()) << 32 | u64::from(z.cast_unsigned());
        let mut random = Self(seed ^ place.wrapping_mul(0xd6e8_feb8_6659_fd93));
        random.next();
        random
    }

    /// The next 64 bits (splitmix64).
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut n = self.0;
        n = (n ^ n >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        n = (n ^ n >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        n ^ n >> 31
    }

    /// A number from 0 to `below - 1`; 0 when `below` is 0.
    pub(super) fn below(&mut self, below: u32) -> u32 {
        u32::try_from((self.next() >> 32).wrapping_mul(u64::from(below)) >> 32).unwrap_or_default()
    }

    /// A number from 0 to 1.
    pub(super) fn unit(&mut self) -> f32 {
        self.below(1 << 24) as f32 / (1 << 24) as f32
    }

    /// A number between two others.
    pub(super) fn between(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.unit()
    }
}

/// A land around the start, and a second one over the sea.
pub(super) struct Land {
    /// Half the width of the first land, in zones.
    size: f32,
    /// The waves of its coast: how many, how high, where they begin.
    waves: [(f32, f32, f32); 4],
    /// Where the second land lies, in zones.
    overseas: (f32, f32),
}

impl Land {
    /// The land of a seed; `size` is half its width in zones.
    pub(super) fn new(seed: u64, size: f32) -> Self {
        let mut random = Random::new(seed);
        let mut wave = |count: f32, height: f32| (count, height, random.between(0.0, TAU));
        let waves = [wave(2.0, 0.16), wave(3.0, 0.13), wave(5.0, 0.09), wave(9.0, 0.05)];
        let away = random.between(0.0, TAU);
        Self { size, waves, overseas: (away.cos() * size * 2.3, away.sin() * size * 2.3) }
    }

    /// How far the coast is from the start in a direction, in zones.
    fn coast(&self, angle: f32) -> f32 {
        let waves: f32 = self.waves.iter().map(|(count, height, start)| height * (count * angle + start).sin()).sum();
        self.size * (0.8 + waves)
    }

    /// When in a saga a zone was first seen, from 0 at its beginning to 1 at its end; none: never.
    fn seen(&self, (x, z): (i32, i32)) -> Option<f32> {
        let (x, z) = (x as f32, z as f32);
        let distance = x.hypot(z);
        // Most of the sea is far from every coast; the waves need not be worked out there.
        if distance < self.size * (HIGHEST + 0.25) {
            let angle = z.atan2(x);
            let inland = distance / self.coast(angle);
            if inland <= 1.0 {
                return Some(inland * 0.55);
            }
            // A road along a third of the coast.
            let turn = (angle - self.waves[0].2).rem_euclid(TAU);
            if turn < TAU / 3.0 && (1.12..1.12 + 3.0 / self.size).contains(&inland) {
                return Some(0.5 + turn / TAU);
            }
        }
        let (far_x, far_z) = self.overseas;
        let (east, north) = (x - far_x, z - far_z);
        let far = east.hypot(north);
        if far < self.size * HIGHEST * SMALLER {
            let shore = self.coast(north.atan2(east)) * SMALLER;
            if far <= shore {
                return Some(0.85 + 0.15 * far / shore);
            }
        }
        // The ship's way there.
        let length = far_x.hypot(far_z);
        let along = (x * far_x + z * far_z) / length;
        let aside = (x * far_z - z * far_x).abs() / length;
        (along > 0.0 && along < length && aside <= 1.6 + (along / 6.0).sin()).then(|| 0.7 + 0.15 * along / length)
    }

    /// The zones that were seen up to a point of a saga, sorted.
    #[expect(clippy::cast_possible_truncation, reason = "a land has some dozens of zones")]
    pub(super) fn zones(&self, reach: f32) -> Vec<(i32, i32)> {
        let edge = (self.size * 3.2).ceil() as i32;
        (-edge..=edge)
            .flat_map(|x| (-edge..=edge).map(move |z| (x, z)))
            .filter(|zone| self.seen(*zone).is_some_and(|at| at <= reach))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Land;

    #[test]
    fn what_was_seen_only_grows() {
        let land = Land::new(7, 20.0);
        let (early, late) = (land.zones(0.3), land.zones(1.0));
        assert!(early.len() > 100 && late.len() > 2 * early.len(), "{} {}", early.len(), late.len());
        assert!(early.iter().all(|zone| late.binary_search(zone).is_ok()));
        assert!(early.contains(&(0, 0)));
    }
}
