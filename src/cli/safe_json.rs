use std::io;

use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter, Serializer};

use crate::model::shown;

/// Writes a value as indented JSON in which nothing can steer a terminal.
///
/// JSON leaves control characters above 0x7E, invisible ones and turned reading direction as they are; here they are
/// written as `\uXXXX`, so a parser gets exactly the same text back.
pub(super) fn write(out: &mut dyn io::Write, value: &impl Serialize) -> io::Result<()> {
    let formatter = Safe(PrettyFormatter::with_indent(b"  "));
    value.serialize(&mut Serializer::with_formatter(&mut *out, formatter))?;
    out.write_all(b"\n")
}

/// The same on one line, for a stream of documents.
pub(super) fn write_line(out: &mut dyn io::Write, value: &impl Serialize) -> io::Result<()> {
    value.serialize(&mut Serializer::with_formatter(&mut *out, Safe(CompactFormatter)))?;
    out.write_all(b"\n")
}

/// A formatter whose strings are safe to print.
struct Safe<F>(F);

impl<F: Formatter> Formatter for Safe<F> {
    fn write_string_fragment<W: ?Sized + io::Write>(&mut self, out: &mut W, fragment: &str) -> io::Result<()> {
        let mut done = 0;
        for (at, c) in fragment.char_indices() {
            if (c as u32) < 0x7f || shown(c.encode_utf8(&mut [0; 4])).chars().eq([c]) {
                continue;
            }
            out.write_all(fragment.get(done..at).unwrap_or_default().as_bytes())?;
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(out, "\\u{unit:04x}")?;
            }
            done = at + c.len_utf8();
        }
        out.write_all(fragment.get(done..).unwrap_or_default().as_bytes())
    }

    fn begin_array<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.begin_array(out)
    }

    fn end_array<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_array(out)
    }

    fn begin_array_value<W: ?Sized + io::Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_array_value(out, first)
    }

    fn end_array_value<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_array_value(out)
    }

    fn begin_object<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.begin_object(out)
    }

    fn end_object<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_object(out)
    }

    fn begin_object_key<W: ?Sized + io::Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_object_key(out, first)
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.begin_object_value(out)
    }

    fn end_object_value<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_object_value(out)
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn text_comes_back_exactly_and_nothing_steers_a_terminal() {
        let texts = ["plain", "Über 世界 🌍", "\u{1b}[2J", "\u{9b}31m\u{7f}", "a\u{202e}b\u{e0041}c\u{200b}", "\"\\\n"];
        let mut bytes = Vec::new();
        super::write(&mut bytes, &texts).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        assert_eq!(serde_json::from_str::<Vec<String>>(&text).unwrap(), texts);
        assert_eq!(crate::model::shown(&text.replace('\n', "")), text.replace('\n', ""));
        assert!(text.contains("Über 世界 🌍") && text.contains("\\udb40\\udc41"), "{text}");
    }

    #[test]
    fn a_document_of_a_stream_is_one_line_whatever_is_in_it() {
        let value = serde_json::json!({ "text": "a\nb\u{1b}[2J\u{85}", "list": [1, {}] });
        let mut bytes = Vec::new();
        super::write_line(&mut bytes, &value).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        assert_eq!((text.lines().count(), text.ends_with('\n')), (1, true));
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
        assert_eq!(crate::model::shown(text.trim_end()), text.trim_end());
    }
}
