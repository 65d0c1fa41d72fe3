//! Material, captures and trades.
use shakmaty::Role;

use crate::{
    exchange::{immediate_gain, piece_points},
    viveka::glance::{Glance, pawns},
};

pub(super) fn exchange(g: &Glance) -> i32 {
    pawns(g.x_q)
}

/// Victim and promotion, less the captor where they defend the square.
pub(super) fn capture(g: &Glance) -> i32 {
    let defended = g.facts.them.attacks.contains(g.to);
    let risk = if defended { piece_points(g.role) } else { 0 };
    pawns((immediate_gain(g.mv) - risk).max(0))
}

pub(super) fn takes(g: &Glance) -> i32 {
    i32::from(g.mv.is_capture())
}

pub(super) fn promotes(g: &Glance) -> i32 {
    i32::from(g.mv.promotion() == Some(Role::Queen))
}

pub(super) fn simplify(g: &Glance) -> i32 {
    let even_trade = g.mv.capture().is_some_and(|r| r != Role::Pawn) && g.x_q == 0;
    if even_trade { pawns(g.before.balance).clamp(-3, 3) } else { 0 }
}

pub(super) fn draws(g: &Glance) -> i32 {
    if !g.gives_check() && g.replies.legal == 0 { -pawns(g.before.balance) } else { 0 }
}
