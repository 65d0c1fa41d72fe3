//! What is open in a game.
use shakmaty::uci::UciMove;

use crate::protocol::{Asked, Order, Unsent};

/// What a game has open.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Round {
    /// Whether the pieces stand as the game does.
    pub is_synced: bool,
    /// What the central has not yet answered.
    pub asked: Option<Asked>,
    /// Whether the central waits for an answer to its offer of a draw.
    pub owes_draw: bool,
}

impl Round {
    /// Asks the central something, one thing at a time: its `ok` does not say to what.
    pub fn ask(&mut self, asked: Asked) -> Result<(), Unsent> {
        if self.asked.is_some() {
            return Err(Unsent::Unanswered);
        }
        self.asked = Some(asked);
        Ok(())
    }

    /// The central chose the piece of a promotion that it was asked about.
    pub fn promote(&mut self, chosen: UciMove) -> Option<Order> {
        let (Asked::Move(asked) | Asked::Undo(asked)) = self.asked? else { return None };
        let is_the_one = chosen.from() == asked.from()
            && chosen.to() == asked.to()
            && (asked.promotion().is_none() || asked == chosen)
            && chosen.promotion().is_some();
        if !is_the_one {
            return None;
        }
        match self.asked.take()? {
            Asked::Undo(_) => Some(Order::Accepted(Asked::Undo(chosen))),
            _ => Some(Order::Promoted(chosen)),
        }
    }
}
