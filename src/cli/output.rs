use std::io::{self, BufWriter, Write};

use super::Exit;
use super::failure::Failure;

/// Standard output, buffered, that takes a closed pipe quietly.
///
/// When the reader has gone (`worldkeep list | head -1`), what is left is thrown away and the command ends as it
/// would have ended; any other error, such as a full disk, is told.
pub(super) struct Output<W: Write> {
    inner: BufWriter<Quiet<W>>,
}

struct Quiet<W: Write> {
    inner: W,
    closed: bool,
}

impl<W: Write> Write for Quiet<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.closed {
            return Ok(bytes.len());
        }
        match self.inner.write(bytes) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(bytes.len())
            }
            other => other,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.inner.flush() {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            other => other,
        }
    }
}

impl<W: Write> Write for Output<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.inner.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl<W: Write> Output<W> {
    pub(super) fn new(inner: W) -> Self {
        Self { inner: BufWriter::with_capacity(64 * 1024, Quiet { inner, closed: false }) }
    }

    /// True once the reader has gone.
    pub(super) fn is_closed(&self) -> bool {
        self.inner.get_ref().closed
    }
}

/// Lets `write` fill standard output, and turns a failure into a message.
pub(super) fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    let mut out = Output::new(io::stdout().lock());
    write(&mut out).and_then(|()| out.flush()).map_err(|error| unwritten(&error))
}

/// What to say when standard output takes nothing more.
pub(super) fn unwritten(error: &io::Error) -> Failure {
    Failure::new(Exit::Damaged, format!("Standard output could not be written: {error}."))
        .hint("Look for a full disk or a closed file; nothing else was changed.")
}

/// Writes to standard error; when that is closed nobody could be told.
pub(super) fn complain(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use std::io::{self, Write};

    use super::Output;

    struct Fails(io::ErrorKind);

    impl Write for Fails {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Err(self.0.into())
        }
    }

    #[test]
    fn it_is_known_that_the_reader_has_gone() {
        let mut out = Output::new(Fails(io::ErrorKind::BrokenPipe));
        assert!(!out.is_closed());
        out.write_all(b"x").and_then(|()| out.flush()).unwrap();
        assert!(out.is_closed());
    }

    fn outcome(kind: io::ErrorKind) -> io::Result<()> {
        let mut out = Output::new(Fails(kind));
        out.write_all(&vec![b'x'; 200_000])?;
        out.flush()
    }

    #[test]
    fn a_closed_pipe_is_quiet_and_a_full_disk_is_not() {
        assert!(outcome(io::ErrorKind::BrokenPipe).is_ok());
        assert_eq!(outcome(io::ErrorKind::StorageFull).unwrap_err().kind(), io::ErrorKind::StorageFull);
    }
}
