//! Reading bytes front to back without ever running past their end.

use std::fmt;

/// What is wrong at one place of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The bytes end before the field does.
    EndsEarly {
        /// Bytes that the field needs.
        needs: u64,
        /// Bytes that are left.
        left: u64,
    },
    /// A length or count is negative, or more than the bytes that are left can hold.
    BadLength {
        /// What the field says.
        value: i64,
        /// Bytes that are left behind it.
        left: u64,
    },
    /// A length or count is over its ceiling.
    OverCeiling {
        /// What the field says.
        value: u64,
        /// The most that is believed.
        ceiling: u64,
    },
    /// A value that the format does not allow.
    BadValue {
        /// What the field says.
        value: i64,
    },
    /// A text that is not UTF-8.
    BadText,
    /// Bytes are left over behind the end of the content.
    Trailing {
        /// How many.
        left: u64,
    },
}

/// Where a file or a block departs from its format, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Bytes from the start of the file, or of the inflated block; where the field begins.
    pub offset: u64,
    /// How.
    pub kind: FaultKind,
    /// The field, in words.
    pub what: &'static str,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { offset, kind, what } = self;
        match kind {
            FaultKind::EndsEarly { needs, left } => {
                write!(f, "{what} at byte {offset} ends early: it needs {needs} bytes, and {left} are left")
            }
            FaultKind::BadLength { value, left } => {
                write!(f, "{what} at byte {offset} says {value}, which cannot be, with {left} bytes left")
            }
            FaultKind::OverCeiling { value, ceiling } => {
                write!(f, "{what} at byte {offset} says {value}, over the ceiling of {ceiling}")
            }
            FaultKind::BadValue { value } => {
                write!(f, "{what} at byte {offset} is {value}, which the format does not allow")
            }
            FaultKind::BadText => write!(f, "{what} at byte {offset} is not UTF-8"),
            FaultKind::Trailing { left } => write!(f, "{left} bytes are left over behind {what} at byte {offset}"),
        }
    }
}

impl std::error::Error for Fault {}

/// How often something odd that does not stop the reading was met, and where first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// How often.
    pub count: u64,
    /// The first one.
    pub first: Option<Fault>,
}

impl Tally {
    /// Counts one more.
    #[cold]
    pub fn add(&mut self, fault: Fault) {
        self.count += 1;
        self.first.get_or_insert(fault);
    }
}

/// A place in bytes, from which values are read in little-endian order.
///
/// A read that fails leaves the cursor where it was, except for texts that are not UTF-8: those are passed over, so
/// that the caller may go on.
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    rest: &'a [u8],
    at: usize,
}

macro_rules! numbers {
    ($($name:ident $bytes:literal;)*) => {
        $(
            #[doc = concat!("Reads one `", stringify!($name), "`.")]
            #[inline]
            pub fn $name(&mut self, what: &'static str) -> Result<$name, Fault> {
                Ok($name::from_le_bytes(*self.array::<$bytes>(what)?))
            }
        )*
    };
}

impl<'a> Cursor<'a> {
    /// A cursor at the start of some bytes.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes, at: 0 }
    }

    /// Bytes from the start.
    #[inline]
    pub fn offset(&self) -> u64 {
        self.at as u64
    }

    /// Bytes that are left.
    #[inline]
    pub fn left(&self) -> usize {
        self.rest.len()
    }

    /// The bytes that are left.
    #[inline]
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// A fault of a field that begins here.
    #[cold]
    pub fn fault(&self, kind: FaultKind, what: &'static str) -> Fault {
        Fault { offset: self.offset(), kind, what }
    }

    #[cold]
    fn ends_early(&self, needs: usize, what: &'static str) -> Fault {
        self.fault(FaultKind::EndsEarly { needs: needs as u64, left: self.left() as u64 }, what)
    }

    /// The next `n` bytes.
    #[inline]
    pub fn take(&mut self, n: usize, what: &'static str) -> Result<&'a [u8], Fault> {
        let Some((head, rest)) = self.rest.split_at_checked(n) else { return Err(self.ends_early(n, what)) };
        self.rest = rest;
        self.at += n;
        Ok(head)
    }

    /// The next `N` bytes as an array.
    #[inline]
    pub fn array<const N: usize>(&mut self, what: &'static str) -> Result<&'a [u8; N], Fault> {
        let Some((head, rest)) = self.rest.split_first_chunk::<N>() else { return Err(self.ends_early(N, what)) };
        self.rest = rest;
        self.at += N;
        Ok(head)
    }

    /// A cursor over the next `n` bytes alone, with the offsets of the whole; this one moves behind them.
    pub fn block(&mut self, n: usize, what: &'static str) -> Result<Self, Fault> {
        let at = self.at;
        Ok(Self { rest: self.take(n, what)?, at })
    }

    numbers! { u8 1; u16 2; i16 2; u32 4; i32 4; i64 8; f32 4; f64 8; }

    /// Three numbers, east, up and north.
    #[inline]
    pub fn vec3(&mut self, what: &'static str) -> Result<[f32; 3], Fault> {
        let [x0, x1, x2, x3, y0, y1, y2, y3, z0, z1, z2, z3] = *self.array::<12>(what)?;
        Ok([[x0, x1, x2, x3], [y0, y1, y2, y3], [z0, z1, z2, z3]].map(f32::from_le_bytes))
    }

    /// A byte that is 0 or 1.
    pub fn flag(&mut self, what: &'static str) -> Result<bool, Fault> {
        match self.rest.first() {
            Some(0 | 1) | None => Ok(self.u8(what)? == 1),
            Some(&other) => Err(self.fault(FaultKind::BadValue { value: i64::from(other) }, what)),
        }
    }

    /// A length or count of four bytes for items that take at least `least` bytes each.
    pub fn count(&mut self, least: usize, ceiling: u64, what: &'static str) -> Result<usize, Fault> {
        let mut ahead = self.clone();
        let value = ahead.i32(what)?;
        let bad = || self.fault(FaultKind::BadLength { value: i64::from(value), left: ahead.left() as u64 }, what);
        let count = usize::try_from(value).map_err(|_| bad())?;
        if count as u64 > ceiling {
            return Err(self.fault(FaultKind::OverCeiling { value: count as u64, ceiling }, what));
        }
        if count.checked_mul(least).is_none_or(|bytes| bytes > ahead.left()) {
            return Err(bad());
        }
        *self = ahead;
        Ok(count)
    }

    /// Bytes behind their length of four bytes.
    pub fn counted(&mut self, ceiling: u64, what: &'static str) -> Result<&'a [u8], Fault> {
        let n = self.count(1, ceiling, what)?;
        self.take(n, what)
    }

    /// The bytes of a text behind their length, which is written in groups of seven bits, the low group first.
    #[inline]
    pub fn text_bytes(&mut self, ceiling: u64, what: &'static str) -> Result<&'a [u8], Fault> {
        if let Some((&short @ 0..=0x7f, rest)) = self.rest.split_first()
            && u64::from(short) <= ceiling
            && let Some((text, rest)) = rest.split_at_checked(usize::from(short))
        {
            self.rest = rest;
            self.at += 1 + usize::from(short);
            return Ok(text);
        }
        self.long_text_bytes(ceiling, what)
    }

    fn long_text_bytes(&mut self, ceiling: u64, what: &'static str) -> Result<&'a [u8], Fault> {
        let mut ahead = self.clone();
        let mut length = 0_u64;
        for group in 0..5 {
            let byte = ahead.u8(what)?;
            length |= u64::from(byte & 0x7f) << (7 * group);
            if byte < 0x80 {
                if length > ceiling {
                    return Err(self.fault(FaultKind::OverCeiling { value: length, ceiling }, what));
                }
                let left = ahead.left() as u64;
                if length > left {
                    let value = i64::try_from(length).unwrap_or(i64::MAX);
                    return Err(self.fault(FaultKind::BadLength { value, left }, what));
                }
                let text = ahead.take(usize::try_from(length).unwrap_or(usize::MAX), what)?;
                *self = ahead;
                return Ok(text);
            }
        }
        // The game's own reader gives up after five groups as well.
        Err(self.fault(FaultKind::BadLength { value: i64::MAX, left: ahead.left() as u64 }, what))
    }

    /// A text; one that is not UTF-8 is passed over and reported.
    pub fn text(&mut self, ceiling: u64, what: &'static str) -> Result<&'a str, Fault> {
        let start = self.offset();
        let bytes = self.text_bytes(ceiling, what)?;
        std::str::from_utf8(bytes).map_err(|_| Fault { offset: start, kind: FaultKind::BadText, what })
    }

    /// A fault when bytes are left.
    pub fn finish(&self, what: &'static str) -> Result<(), Fault> {
        match self.left() {
            0 => Ok(()),
            left => Err(self.fault(FaultKind::Trailing { left: left as u64 }, what)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Cursor, FaultKind};

    #[test]
    fn numbers_are_little_endian_and_end_early_with_a_place() {
        let mut c = Cursor::new(&[1, 0, 0xff, 0xff, 0, 0, 0x80, 0x3f, 9]);
        assert_eq!(c.u16("a"), Ok(1));
        assert_eq!(c.i16("b"), Ok(-1));
        assert_eq!(c.f32("c"), Ok(1.0));
        let fault = c.i32("d").unwrap_err();
        assert_eq!((fault.offset, fault.kind), (8, FaultKind::EndsEarly { needs: 4, left: 1 }));
        assert_eq!(fault.to_string(), "d at byte 8 ends early: it needs 4 bytes, and 1 are left");
        assert_eq!(c.u8("e"), Ok(9));
        assert!(c.finish("all").is_ok());
    }

    #[test]
    fn a_flag_is_nothing_but_0_or_1() {
        let mut c = Cursor::new(&[0, 1, 2]);
        assert_eq!((c.flag("f"), c.flag("f")), (Ok(false), Ok(true)));
        assert_eq!(c.flag("f").unwrap_err().kind, FaultKind::BadValue { value: 2 });
    }

    #[test]
    fn text_lengths_are_groups_of_seven_bits() {
        let mut long = vec![0xc8, 0x01];
        long.extend(vec![b'x'; 200]);
        assert_eq!(Cursor::new(&long).text(1000, "t").map(str::len), Ok(200));
        assert_eq!(Cursor::new(&[2, 0xc3, 0xa9]).text(9, "t"), Ok("\u{e9}"));
        let mut bad = Cursor::new(&[1, 0xff, 7]);
        assert_eq!(bad.text(9, "t").unwrap_err().kind, FaultKind::BadText);
        assert_eq!(bad.u8("the byte behind"), Ok(7));
    }

    #[test]
    fn impossible_text_lengths_are_refused() {
        let kinds = [&[5, b'a'][..], &[0xff, 0xff, 0xff, 0xff, 0x0f], &[0x80; 9], &[0x80]]
            .map(|bytes| Cursor::new(bytes).text(1 << 40, "t").unwrap_err().kind);
        assert_eq!(
            kinds,
            [
                FaultKind::BadLength { value: 5, left: 1 },
                FaultKind::BadLength { value: 0xffff_ffff, left: 0 },
                FaultKind::BadLength { value: i64::MAX, left: 4 },
                FaultKind::EndsEarly { needs: 1, left: 0 },
            ]
        );
        assert_eq!(
            Cursor::new(&[5, 1, 2, 3, 4, 5]).text(4, "t").unwrap_err().kind,
            FaultKind::OverCeiling { value: 5, ceiling: 4 }
        );
    }

    #[test]
    fn counts_are_held_against_bytes_and_ceiling() {
        let count = |bytes: &[u8], least, ceiling| Cursor::new(bytes).count(least, ceiling, "n").map_err(|f| f.kind);
        assert_eq!(count(&[2, 0, 0, 0, 9, 9], 1, 10), Ok(2));
        assert_eq!(count(&[2, 0, 0, 0, 9, 9], 2, 10), Err(FaultKind::BadLength { value: 2, left: 2 }));
        assert_eq!(count(&[0xff; 4], 1, 10), Err(FaultKind::BadLength { value: -1, left: 0 }));
        assert_eq!(count(&[11, 0, 0, 0], 1, 10), Err(FaultKind::OverCeiling { value: 11, ceiling: 10 }));
        assert_eq!(
            count(&[0xff, 0xff, 0xff, 0x7f], usize::MAX, u64::MAX).unwrap_err(),
            FaultKind::BadLength { value: i64::from(i32::MAX), left: 0 }
        );
    }
}
