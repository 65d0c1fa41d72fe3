//! The driver of 64 lamps, by what goes over its bus.
use embedded_hal_mock::eh1::i2c::{Mock as I2cMock, Transaction as I2cAction};
use kibitzer_core::{
    drivers::{
        Ht16k33, Wiring,
        ht16k33::{ADDRESS, Lamps},
    },
    lamps::{Colour, Frame},
    shakmaty::Square,
};

#[test]
fn the_matrix_driver_is_switched_on_dark_and_shows_rows() {
    let mut frame = Frame::DARK;
    frame.set(Square::A1, Colour::Green);
    frame.set(Square::C1, Colour::Blue);
    frame.set(Square::H3, Colour::Red);
    frame.set(Square::B8, Colour::Orange);
    let message = |rows: [(usize, u8); 4]| {
        let mut message = vec![0; 17];
        rows.iter().for_each(|&(place, bits)| message[1 + place] |= bits);
        message
    };
    // Even places are the first eight outputs of a row, odd ones the last eight.
    for (lamps, rows) in [
        (Lamps::Plain, [(0, 1), (0, 4), (4, 128), (14, 2)]),
        (Lamps::Backpack, [(0, 128), (0, 2), (4, 64), (14, 1)]),
        (Lamps::TwoColors, [(0, 1 | 4), (1, 4), (5, 128), (15, 2)]),
    ] {
        let bus = [
            I2cAction::write(ADDRESS, vec![0x21]),
            I2cAction::write(ADDRESS, vec![0; 17]),
            I2cAction::write(ADDRESS, vec![0xef]),
            I2cAction::write(ADDRESS, vec![0x81]),
            I2cAction::write(ADDRESS, message(rows)),
            I2cAction::write(ADDRESS, vec![0xe2]),
        ];
        let mut driver = Ht16k33::new(I2cMock::new(&bus), ADDRESS, lamps, Wiring::STRAIGHT);
        driver.init(200).expect("no error");
        driver.show(&frame).expect("no error");
        driver.brightness(2).expect("no error");
        driver.release().done();
    }
}
