//! Lines of text from a serial port.
use embedded_io::Read;
use heapless::Vec;
use kibitzer_core::board::MAX_LINE;

/// Ends the conversation, as Ctrl-D does on a terminal.
const END_OF_TRANSMISSION: u8 = 4;

/// Collects bytes up to a line's end.
pub struct Lines<R> {
    port: R,
    /// One byte more than a line may have: enough to tell that it is too long.
    line: Vec<u8, { MAX_LINE + 1 }>,
    ended: bool,
}

impl<R: Read> Lines<R> {
    /// Lines that arrive at `port`.
    pub fn new(port: R) -> Self {
        Self { port, line: Vec::new(), ended: false }
    }

    /// Where the lines come from.
    pub const fn port(&self) -> &R {
        &self.port
    }

    /// The next line without its end, cut after [`MAX_LINE`] and one byte; `None` once the other
    /// side has ended the transmission.
    pub fn next_line(&mut self) -> Result<Option<&[u8]>, R::Error> {
        self.line.clear();
        while !self.ended {
            let mut byte = [0];
            self.port.read(&mut byte)?;
            match byte[0] {
                b'\n' => return Ok(Some(&self.line)),
                END_OF_TRANSMISSION => self.ended = true,
                // A full buffer already says all there is to say: the line is too long.
                other => drop(self.line.push(other)),
            }
        }
        Ok((!self.line.is_empty()).then_some(&self.line))
    }
}
