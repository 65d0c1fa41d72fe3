//! What a board can do beyond the protocol's basic commands.

/// A feature that an app may ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u16)]
pub enum Feature {
    /// Both sides may take moves back.
    Undo = 1 << 0,
    /// The app tells the last move.
    LastMove = 1 << 1,
    /// The app tells which king is in check.
    Check = 1 << 2,
    /// The board says when a move of the app's is carried out.
    Moved = 1 << 3,
    /// The player may give up at the board.
    Resign = 1 << 4,
    /// Both sides may offer a draw.
    DrawOffer = 1 << 5,
    /// The app says why a game was drawn.
    DrawReason = 1 << 6,
    /// The app says which color is played at the board.
    Side = 1 << 7,
    /// The app may ask what stands on the board.
    GetState = 1 << 8,
    /// The board tells each change.
    StateStream = 1 << 9,
}

impl Feature {
    /// Every feature.
    pub const ALL: [Feature; 10] = [
        Feature::Undo,
        Feature::LastMove,
        Feature::Check,
        Feature::Moved,
        Feature::Resign,
        Feature::DrawOffer,
        Feature::DrawReason,
        Feature::Side,
        Feature::GetState,
        Feature::StateStream,
    ];

    /// Its name in the protocol.
    pub const fn name(self) -> &'static str {
        match self {
            Feature::Undo => "undo",
            Feature::LastMove => "last_move",
            Feature::Check => "check",
            Feature::Moved => "moved",
            Feature::Resign => "resign",
            Feature::DrawOffer => "draw_offer",
            Feature::DrawReason => "draw_reason",
            Feature::Side => "side",
            Feature::GetState => "get_state",
            Feature::StateStream => "state_stream",
        }
    }

    /// The feature of a name.
    pub(super) fn from_name(name: &[u8]) -> Option<Self> {
        Feature::ALL.into_iter().find(|feature| feature.name().as_bytes() == name)
    }
}

/// A set of features.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Features(u16);

impl Features {
    /// None.
    pub const NONE: Features = Features(0);
    /// All that are known here.
    pub const ALL: Features = Features((1 << Feature::ALL.len()) - 1);

    /// With one more.
    pub const fn with(self, feature: Feature) -> Self {
        Features(self.0 | feature as u16)
    }

    /// With one less.
    pub const fn without(self, feature: Feature) -> Self {
        Features(self.0 & !(feature as u16))
    }

    /// Whether it is among them.
    pub const fn contains(self, feature: Feature) -> bool {
        self.0 & feature as u16 != 0
    }
}
