//! A text's lines, in bounded memory.
use std::io;

/// Bytes of a line that are kept; no game in one line has as many.
const LONGEST: usize = 1 << 20;

/// How a line ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// As lines do.
    Break,
    /// With the text.
    Text,
    /// It goes on, but is too long: the rest is passed over.
    TooLong,
}

/// Reads lines, of which each lies in one piece in the buffer.
#[derive(Debug)]
pub(super) struct Lines<R> {
    input: R,
    buffer: Vec<u8>,
    /// What of the buffer is read and not yet handed out.
    start: usize,
    end: usize,
    /// Whether the rest of the line is to be passed over.
    skipping: bool,
}

impl<R: io::Read> Lines<R> {
    pub(super) fn new(input: R) -> Lines<R> {
        Lines { input, buffer: vec![0; LONGEST], start: 0, end: 0, skipping: false }
    }

    /// The next line without its break; `None` after the last.
    ///
    /// # Errors
    /// The input's.
    pub(super) fn next(&mut self) -> io::Result<Option<(&[u8], End)>> {
        if self.skipping && !self.skip()? {
            return Ok(None);
        }
        let mut seen = 0;
        let (length, end) = loop {
            let unseen = &self.buffer[self.start + seen..self.end];
            if let Some(found) = memchr::memchr(b'\n', unseen) {
                break (seen + found, End::Break);
            }
            seen = self.end - self.start;
            if seen == LONGEST {
                self.skipping = true;
                break (seen, End::TooLong);
            }
            if !self.fill()? {
                if seen == 0 {
                    return Ok(None);
                }
                break (seen, End::Text);
            }
        };
        let start = self.start;
        self.start += length + usize::from(end == End::Break);
        Ok(Some((&self.buffer[start..start + length], end)))
    }

    /// Passes over the rest of a line; says whether there is anything after it.
    fn skip(&mut self) -> io::Result<bool> {
        loop {
            match memchr::memchr(b'\n', &self.buffer[self.start..self.end]) {
                Some(found) => {
                    self.start += found + 1;
                    self.skipping = false;
                    return Ok(true);
                }
                None => self.start = self.end,
            }
            if !self.fill()? {
                return Ok(false);
            }
        }
    }

    /// Reads more behind what is there; says whether there was any. The buffer must have room.
    fn fill(&mut self) -> io::Result<bool> {
        self.buffer.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, self.end - self.start);
        loop {
            match self.input.read(&mut self.buffer[self.end..]) {
                Ok(read) => {
                    self.end += read;
                    return Ok(read > 0);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives a few bytes at a time.
    struct Drops<'a>(&'a [u8], usize);

    impl io::Read for Drops<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let (now, later) = self.0.split_at(self.1.min(self.0.len()).min(buffer.len()));
            buffer[..now.len()].copy_from_slice(now);
            self.0 = later;
            Ok(now.len())
        }
    }

    fn lines(text: &[u8], at_a_time: usize) -> Vec<(usize, u8, End)> {
        let mut lines = Lines::new(Drops(text, at_a_time));
        let mut found = Vec::new();
        while let Some((line, end)) = lines.next().unwrap() {
            found.push((line.len(), line.first().copied().unwrap_or(0), end));
        }
        found
    }

    #[test]
    fn lines_are_whole_however_the_text_comes() {
        for at_a_time in [1, 2, 3, 100] {
            let expected = [(2, b'a', End::Break), (0, 0, End::Break), (1, b'c', End::Text)];
            assert_eq!(lines(b"ab\n\nc", at_a_time), expected);
            assert_eq!(lines(b"ab\n", at_a_time), [(2, b'a', End::Break)]);
            assert_eq!(lines(b"", at_a_time), []);
        }
    }

    #[test]
    fn a_line_of_any_length_takes_bounded_memory() {
        let long = [&b"ab\n"[..], &vec![b'x'; 5 * LONGEST + 7], b"\nc\n"].concat();
        let expected =
            [(2, b'a', End::Break), (LONGEST, b'x', End::TooLong), (1, b'c', End::Break)];
        assert_eq!(lines(&long, 100_000), expected);
        let endless = vec![b'x'; LONGEST + 1];
        assert_eq!(lines(&endless, 1000), [(LONGEST, b'x', End::TooLong)]);
        assert_eq!(lines(&endless[1..], 1000), [(LONGEST, b'x', End::TooLong)]);
    }
}
