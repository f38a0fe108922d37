//! The primitives of every Valheim file: little-endian numbers, texts with a varint length, vectors.

/// Bytes in the making. Nothing here can fail: a length over `i32::MAX` would need more memory than the caller has
/// already spent on the content.
#[derive(Clone, Debug, Default)]
pub(super) struct Out(pub(super) Vec<u8>);

impl Out {
    pub(super) fn u8(&mut self, n: u8) {
        self.0.push(n);
    }

    pub(super) fn bool(&mut self, b: bool) {
        self.0.push(u8::from(b));
    }

    pub(super) fn i16(&mut self, n: i16) {
        self.0.extend_from_slice(&n.to_le_bytes());
    }

    pub(super) fn u16(&mut self, n: u16) {
        self.0.extend_from_slice(&n.to_le_bytes());
    }

    pub(super) fn i32(&mut self, n: i32) {
        self.0.extend_from_slice(&n.to_le_bytes());
    }

    pub(super) fn u32(&mut self, n: u32) {
        self.0.extend_from_slice(&n.to_le_bytes());
    }

    pub(super) fn i64(&mut self, n: i64) {
        self.0.extend_from_slice(&n.to_le_bytes());
    }

    pub(super) fn f32(&mut self, n: f32) {
        self.0.extend_from_slice(&n.to_le_bytes());
    }

    pub(super) fn f64(&mut self, n: f64) {
        self.0.extend_from_slice(&n.to_le_bytes());
    }

    pub(super) fn floats(&mut self, numbers: &[f32]) {
        for n in numbers {
            self.f32(*n);
        }
    }

    /// A count or a length as the game's signed 32-bit number.
    pub(super) fn len(&mut self, n: usize) {
        self.i32(i32::try_from(n).unwrap_or(i32::MAX));
    }

    /// A text: its length in bytes as a varint of seven bits a byte, low group first, then UTF-8.
    pub(super) fn text(&mut self, text: &str) {
        let mut rest = text.len();
        while rest >= 0x80 {
            self.0.push(low(rest) | 0x80);
            rest >>= 7;
        }
        self.0.push(low(rest));
        self.0.extend_from_slice(text.as_bytes());
    }

    pub(super) fn texts<'a>(&mut self, texts: impl ExactSizeIterator<Item = &'a str>) {
        self.len(texts.len());
        for text in texts {
            self.text(text);
        }
    }

    /// A block: its length, then its bytes.
    pub(super) fn block(&mut self, bytes: &[u8]) {
        self.len(bytes.len());
        self.0.extend_from_slice(bytes);
    }
}

/// The lowest eight bits.
pub(super) fn low(n: usize) -> u8 {
    let [low, ..] = n.to_le_bytes();
    low
}

#[cfg(test)]
mod tests {
    use super::Out;

    #[test]
    fn a_text_of_128_bytes_has_a_length_of_two() {
        let mut out = Out::default();
        out.text(&"x".repeat(127));
        assert_eq!((out.0.len(), out.0.first()), (128, Some(&127)));
        let mut out = Out::default();
        out.text(&"å".repeat(64));
        assert_eq!((out.0.len(), out.0.get(..2)), (130, Some(&[0x80, 0x01][..])));
    }
}
