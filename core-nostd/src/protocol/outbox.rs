//! Where messages go: whole or not at all.
use heapless::Deque;

/// There is no room for a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Full;

/// Takes messages.
pub trait Sink {
    /// Takes a whole message.
    ///
    /// # Errors
    /// There is no room for all of it; nothing was taken.
    fn send(&mut self, message: &[u8]) -> Result<(), Full>;
}

/// Messages on their way, `N` bytes at most, from which a serial line is fed byte by byte.
#[derive(Debug, Clone, Default)]
pub struct Outbox<const N: usize> {
    bytes: Deque<u8, N>,
}

impl<const N: usize> Outbox<N> {
    /// An empty one.
    pub const fn new() -> Self {
        Outbox { bytes: Deque::new() }
    }

    /// The next byte, taken out.
    pub fn take(&mut self) -> Option<u8> {
        self.bytes.pop_front()
    }

    /// The next byte, left in: for a line that may not take it yet.
    pub fn next(&self) -> Option<u8> {
        self.bytes.front().copied()
    }

    /// Whether everything is sent.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
}

impl<const N: usize> Sink for Outbox<N> {
    fn send(&mut self, message: &[u8]) -> Result<(), Full> {
        if message.len() > N.saturating_sub(self.bytes.len()) {
            return Err(Full);
        }
        message.iter().try_for_each(|&byte| self.bytes.push_back(byte).map_err(|_| Full))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_taken_whole_or_not_at_all() {
        let mut out = Outbox::<5>::new();
        assert_eq!(out.send(b"abc"), Ok(()));
        assert_eq!(out.send(b"def"), Err(Full));
        assert_eq!(out.send(b"de"), Ok(()));
        assert_eq!((out.next(), out.take()), (Some(b'a'), Some(b'a')));
        assert_eq!(out.send(b"fg"), Err(Full));
        assert_eq!(out.send(b"f"), Ok(()), "the ring turns");
        let rest: heapless::Vec<u8, 8> = core::iter::from_fn(|| out.take()).collect();
        assert_eq!((rest.as_slice(), out.is_empty()), (&b"bcdef"[..], true));
    }
}
