//! The matrix, against contacts with diodes that take their time to settle.
use std::{cell::RefCell, rc::Rc};

use embedded_hal::{
    delay::DelayNs,
    digital::{self, InputPin, OutputPin, PinState},
};
use kibitzer_core::{
    drivers::{Matrix, Wiring, matrix::MatrixError},
    shakmaty::{Bitboard, Square},
};

/// Contacts at the crossings of rows and columns, with diodes, and what drives and reads them.
#[derive(Default)]
struct Contacts {
    /// Bit `8 * row + column`.
    closed: u64,
    low_rows: u8,
    /// Whether the rows have settled since the last change.
    is_settled: bool,
    /// The row or column that is broken.
    broken: Option<(char, u8)>,
}

/// A pin of the matrix: of a row `'r'` or of a column `'c'`.
struct Wire(Rc<RefCell<Contacts>>, char, u8);

/// A pin that does not obey.
#[derive(Debug, PartialEq)]
struct Broken;

impl digital::Error for Broken {
    fn kind(&self) -> digital::ErrorKind {
        digital::ErrorKind::Other
    }
}

impl digital::ErrorType for Wire {
    type Error = Broken;
}

impl OutputPin for Wire {
    fn set_low(&mut self) -> Result<(), Broken> {
        self.set_state(PinState::Low)
    }

    fn set_high(&mut self) -> Result<(), Broken> {
        self.set_state(PinState::High)
    }

    fn set_state(&mut self, state: PinState) -> Result<(), Broken> {
        let mut contacts = self.0.borrow_mut();
        let bit = 1 << self.2;
        match state {
            PinState::Low if contacts.broken == Some((self.1, self.2)) => return Err(Broken),
            PinState::Low => contacts.low_rows |= bit,
            PinState::High => contacts.low_rows &= !bit,
        }
        contacts.is_settled = false;
        Ok(())
    }
}

impl InputPin for Wire {
    fn is_high(&mut self) -> Result<bool, Broken> {
        self.is_low().map(|low| !low)
    }

    fn is_low(&mut self) -> Result<bool, Broken> {
        let contacts = self.0.borrow();
        if contacts.broken == Some((self.1, self.2)) {
            return Err(Broken);
        }
        assert!(contacts.is_settled, "a column is read after its row has settled");
        let is_pulled = |row: u32| {
            contacts.low_rows >> row & 1 == 1
                && contacts.closed >> (8 * row + u32::from(self.2)) & 1 == 1
        };
        Ok((0..8).any(is_pulled))
    }
}

/// The time that rows take.
struct Settling(Rc<RefCell<Contacts>>);

impl DelayNs for Settling {
    fn delay_ns(&mut self, ns: u32) {
        self.0.borrow_mut().is_settled |= ns >= 5_000;
    }
}

fn matrix(wiring: Wiring) -> (Rc<RefCell<Contacts>>, Matrix<Wire, Wire, Settling>) {
    let contacts = Rc::new(RefCell::new(Contacts::default()));
    let wires = |kind| [0, 1, 2, 3, 4, 5, 6, 7].map(|number| Wire(contacts.clone(), kind, number));
    let settling = Settling(contacts.clone());
    let matrix = Matrix::new(wires('r'), wires('c'), settling, 5_000, wiring);
    (contacts, matrix)
}

#[test]
fn a_matrix_sees_each_square_and_all_together() {
    for wiring in [Wiring::STRAIGHT, Wiring::SERPENTINE, Wiring::STRAIGHT.transposed().turned()] {
        let (contacts, mut matrix) = matrix(wiring);
        for (number, &square) in wiring.squares().iter().enumerate() {
            contacts.borrow_mut().closed = 1 << number;
            assert_eq!(matrix.scan(), Ok(Bitboard::from(square)), "{number}");
        }
        for closed in [0, u64::MAX, 0xffff_0000_0000_ffff, 0x1234_5678_9abc_def0] {
            contacts.borrow_mut().closed = closed;
            assert_eq!(matrix.scan(), Ok(wiring.occupied(closed)));
        }
        assert_eq!(contacts.borrow().low_rows, 0, "all rows are left high");
    }
}

#[test]
fn a_pin_that_does_not_obey_is_named_and_no_row_stays_low() {
    let (contacts, mut matrix) = matrix(Wiring::STRAIGHT);
    contacts.borrow_mut().broken = Some(('r', 3));
    assert_eq!(matrix.scan(), Err(MatrixError::Row(3, Broken)));
    contacts.borrow_mut().broken = Some(('c', 5));
    assert_eq!(matrix.scan(), Err(MatrixError::Column(5, Broken)));
    assert_eq!(contacts.borrow().low_rows, 0);
    contacts.borrow_mut().broken = None;
    contacts.borrow_mut().closed = 2;
    assert_eq!(matrix.scan(), Ok(Bitboard::from(Square::B1)), "it goes on");
}
