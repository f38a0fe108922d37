//! A generator of numbers that are the same on every machine and in every run (splitmix64).

/// The generator; the seed is the whole state, so a seed in a message is enough to run one case again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// The next 64 bits.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut n = self.0;
        n = (n ^ (n >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        n = (n ^ (n >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        n ^ (n >> 31)
    }

    /// A number from 0 to `below - 1`; 0 when `below` is 0.
    pub(crate) fn below(&mut self, below: usize) -> usize {
        if below == 0 { 0 } else { usize::try_from(self.next() % below as u64).unwrap() }
    }

    /// One of several things.
    pub(crate) fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
}
