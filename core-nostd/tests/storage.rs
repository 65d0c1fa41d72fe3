//! Games in flash, and the power lost at every byte.
mod flash;
mod random;

use flash::{Failure, Flash};
use kibitzer_core::{
    game::{Game, MAX_PLIES, Maker},
    legal,
    position::parse_fen,
    shakmaty::{Chess, Move},
    storage::{Error, Loaded, MAX_SETTINGS, Storage},
};
use proptest::prelude::*;
use random::Random;

/// What is saved: a game and settings.
#[derive(Clone, Default)]
struct State {
    game: Game,
    settings: Vec<u8>,
}

impl State {
    fn record(&self) -> (Chess, Vec<(Move, Maker)>, &[u8]) {
        (self.game.start().clone(), self.game.moves().collect(), &self.settings)
    }

    fn save<const W: usize, const P: usize>(
        &self,
        storage: &mut Storage<Flash<W, P>>,
    ) -> Result<(), Error<Failure>> {
        storage.save(&self.game, &self.settings)
    }

    /// What is loaded after a reset.
    fn load<const W: usize, const P: usize>(storage: &mut Storage<Flash<W, P>>) -> (Self, Loaded) {
        let mut game = Game::default();
        let loaded = storage.load(&mut game).expect("flash that has power");
        (State { game, settings: storage.settings().to_vec() }, loaded)
    }
}

impl PartialEq for State {
    fn eq(&self, other: &Self) -> bool {
        self.record() == other.record() && self.game.position() == other.game.position()
    }
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let moves = self.game.moves().map(|(mv, maker)| format!("{mv}{maker:?}"));
        let moves: Vec<_> = moves.collect();
        write!(f, "{} moves {moves:?}, settings {:?}", moves.len(), self.settings)
    }
}

/// Games begin with these; moves of every kind follow from them.
const STARTS: [&str; 5] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQq - 3 11",
    "8/2p5/3p4/KP5r/1R2Pp1k/8/6P1/8 b - e3 0 1",
    "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 97 4294967295",
    "4k3/8/8/8/8/8/8/R3K3 w Q - 4294967295 60",
];

/// What happens to a game before it is saved again.
#[derive(Debug, Clone, Copy)]
enum Step {
    Play { which: u64, told: bool },
    TakeBack(usize),
    Begin(usize),
    Set { bytes: usize, with: u8 },
}

impl Step {
    fn random(random: &mut Random) -> Self {
        let number = random.next();
        let which = number >> 8;
        match number % 64 {
            0 => Step::Begin(which as usize % STARTS.len()),
            1..6 => Step::TakeBack(which as usize % 5),
            6 => Step::TakeBack(which as usize % 300),
            7 | 8 => Step::Set { bytes: which as usize % (MAX_SETTINGS + 1), with: number as u8 },
            _ => Step::Play { which, told: which.is_multiple_of(3) },
        }
    }

    fn take(self, state: &mut State) {
        match self {
            Step::Play { which, told } => {
                let moves = legal::moves(state.game.position());
                if !moves.is_empty() {
                    let maker = if told { Maker::Told } else { Maker::Hand };
                    state.game.play(moves[which as usize % moves.len()], maker);
                }
            }
            Step::TakeBack(plies) => state.game.take_back(plies),
            Step::Begin(which) => {
                state.game.restart(parse_fen(STARTS[which]).expect("legal"));
            }
            Step::Set { bytes, with } => state.settings = vec![with; bytes],
        }
    }
}

/// A storage that takes up all of a flash.
fn mount<const W: usize, const P: usize>(flash: Flash<W, P>) -> Storage<Flash<W, P>> {
    let range = 0..flash.bytes.len() as u32;
    Storage::mount(flash, range).expect("room for two pages")
}

/// What is there once the power is back, and that it can be gone on with.
fn after_reset<const W: usize, const P: usize>(storage: Storage<Flash<W, P>>) -> (State, Loaded) {
    let mut storage = mount(storage.into_flash());
    let (state, loaded) = State::load(&mut storage);
    let mut next = state.clone();
    Step::Play { which: 7, told: true }.take(&mut next);
    Step::Set { bytes: 3, with: 5 }.take(&mut next);
    next.save(&mut storage).expect("power");
    let (again, end) = State::load(&mut mount(storage.into_flash()));
    assert_eq!((again, end), (next, Loaded::Whole), "after {loaded:?}");
    (state, loaded)
}

/// Loses the power after every number of bytes that saving takes, of `parts` parts of flash, until
/// so many bytes were written.
fn lose_power_everywhere<const W: usize, const P: usize>(parts: usize, bytes: u64) {
    let mut random = Random(W as u64);
    let flash = Flash::<W, P>::new(parts, 1);
    let power = flash.power.clone();
    let mut storage = mount(flash);
    let mut saved = State::default();
    let mut cuts = [0; 2];
    let mut is_first = true;
    while cuts[0] + cuts[1] < bytes {
        let mut next = saved.clone();
        // As a rule a move is saved as it is made.
        (0..=random.next() % 8 / 7).for_each(|_| Step::random(&mut random).take(&mut next));
        let before = power.spent();
        let mut whole = storage.clone();
        next.save(&mut whole).expect("power");
        for cut in 0..power.spent() - before {
            let mut storage = storage.clone();
            power.set(cut);
            assert_eq!(next.save(&mut storage), Err(Error::Flash(Failure::PowerLost)), "at {cut}");
            power.set(None);
            let (loaded, end) = after_reset(storage);
            let is_new = loaded == next;
            assert!(is_new || loaded == saved || is_first, "at {cut}: {loaded:?} of {saved:?}");
            assert!(matches!(end, Loaded::Whole | Loaded::Cut | Loaded::Nothing), "{end:?}");
            cuts[usize::from(is_new)] += 1;
        }
        (storage, saved, is_first) = (whole, next, false);
    }
    let erased = storage.into_flash().erased;
    assert!(erased.iter().all(|&times| times > 0), "every page was in use: {erased:?}");
    assert!(cuts[0] > cuts[1], "{cuts:?}");
}

#[test]
fn power_may_be_lost_at_every_byte() {
    lose_power_everywhere::<1, 2048>(2, 8_000);
}

#[test]
fn power_may_be_lost_at_every_byte_of_words() {
    lose_power_everywhere::<8, 512>(12, 8_000);
}

#[test]
fn power_may_be_lost_at_every_byte_of_rows() {
    lose_power_everywhere::<256, 4096>(2, 14_000);
}

#[test]
fn a_move_costs_eight_bytes() {
    let flash = Flash::<4, 4096>::new(2, 0);
    let power = flash.power.clone();
    let mut storage = mount(flash);
    let mut state = State::default();
    state.save(&mut storage).expect("power");
    for which in 0..100 {
        let before = power.spent();
        Step::Play { which, told: false }.take(&mut state);
        state.save(&mut storage).expect("power");
        assert_eq!(power.spent() - before, 8);
        state.save(&mut storage).expect("power");
        assert_eq!(power.spent() - before, 8, "nothing new");
    }
    let before = power.spent();
    state.game.take_back(3);
    state.save(&mut storage).expect("power");
    assert_eq!(power.spent() - before, 8, "a record of two bytes");
}

#[test]
fn all_pages_are_worn_alike() {
    let mut storage = mount(Flash::<1, 4096>::new(5, 0));
    let (mut state, mut random) = (State::default(), Random(3));
    for _ in 0..20_000 {
        Step::random(&mut random).take(&mut state);
        state.save(&mut storage).expect("power");
    }
    let erased = storage.into_flash().erased;
    let (least, most) = (erased.iter().min(), erased.iter().max());
    assert!(*least.expect("five") + 1 >= *most.expect("five"), "{erased:?}");
    assert!(erased[0] < 40, "a page takes hundreds of moves: {erased:?}");
}

#[test]
fn the_longest_game_goes_on() {
    let flash = Flash::<1, 4096>::new(2, 0);
    let power = flash.power.clone();
    let mut storage = mount(flash);
    let mut state = State::default();
    for ply in 0..MAX_PLIES + 40 {
        let hops = ["g1f3", "g8f6", "f3g1", "f6g8"];
        let uci: kibitzer_core::shakmaty::uci::UciMove = hops[ply % 4].parse().expect("UCI");
        state.game.play(uci.to_move(state.game.position()).expect("legal"), Maker::Hand);
        let before = power.spent();
        state.save(&mut storage).expect("power");
        let spent = power.spent() - before;
        assert!(spent == 8 || spent > 4096, "ply {ply}: {spent}");
        if ply % 100 == 0 || ply > MAX_PLIES {
            let mut again = mount(storage.clone().into_flash());
            assert_eq!(State::load(&mut again), (state.clone(), Loaded::Whole), "ply {ply}");
        }
    }
    assert!(storage.into_flash().erased.iter().sum::<u32>() < 8);
}

#[test]
fn a_page_that_does_not_keep_what_is_written_is_passed_over() {
    let mut flash = Flash::<1, 4096>::new(3, 0);
    flash.stuck = 4096 + 1000..4096 + 1001;
    let mut storage = mount(flash);
    let (mut state, mut random) = (State::default(), Random(9));
    for _ in 0..3000 {
        Step::random(&mut random).take(&mut state);
        state.save(&mut storage).expect("two good pages");
    }
    assert_eq!(State::load(&mut mount(storage.into_flash())).0, state);
    let mut flash = Flash::<1, 4096>::new(2, 0);
    flash.stuck = 0..8192;
    assert_eq!(state.save(&mut mount(flash)), Err(Error::Worn));
}

#[test]
fn a_range_must_fit_the_flash() {
    let mount = |range| Storage::mount(Flash::<1, 4096>::new(4, 0), range).map(|_| ());
    assert_eq!(mount(4096..16384), Ok(()));
    let (end, start) = (4096, 8192);
    for range in [1..8193, 0..8193, 8192..20480, start..end] {
        assert_eq!(mount(range.clone()), Err(Error::Range), "{range:?}");
    }
    assert_eq!(mount(0..4096), Err(Error::TooSmall { needed: 8192 }));
    // Small parts are taken together.
    let small = Storage::mount(Flash::<2, 128>::new(30, 0), 0..3840).map(|_| ());
    assert_eq!(small, Ok(()));
    let mut storage = Storage::mount(Flash::<1, 4096>::new(4, 0), 4096..16384).expect("fits");
    assert_eq!(storage.save(&Game::default(), &[0; 65]), Err(Error::Settings(65)));
    storage.save(&Game::default(), &[1]).expect("power");
    assert!(storage.into_flash().bytes[..4096].iter().all(|&byte| byte == 0xff));
}

#[test]
fn what_is_not_loaded_is_replaced_and_its_page_spared() {
    let (mut state, mut random) = (State::default(), Random(1));
    let mut storage = mount(Flash::<1, 4096>::new(2, 0));
    for _ in 0..20 {
        Step::random(&mut random).take(&mut state);
        state.save(&mut storage).expect("power");
    }
    let flash = storage.into_flash();
    let power = flash.power.clone();
    let mut storage = mount(flash);
    power.set(4500);
    let other = State { settings: vec![8; 64], ..State::default() };
    let all = other.save(&mut storage);
    power.set(None);
    assert_eq!(all, Ok(()));
    assert_eq!(State::load(&mut mount(storage.into_flash())), (other, Loaded::Whole));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn power_is_lost_again_and_again(
        seed: u64,
        cuts in prop::collection::vec(prop_oneof![0u64..40, 0u64..8000], 1..12),
    ) {
        let mut random = Random(seed);
        let flash = Flash::<1, 2048>::new(3, seed);
        let power = flash.power.clone();
        let mut storage = mount(flash);
        let mut saved = State::default();
        saved.save(&mut storage).expect("power");
        for cut in cuts {
            power.set(cut);
            let mut next;
            loop {
                next = saved.clone();
                (0..=random.next() % 3).for_each(|_| Step::random(&mut random).take(&mut next));
                match next.save(&mut storage) {
                    Ok(()) => saved = next,
                    Err(_) => break,
                }
            }
            power.set(None);
            storage = mount(storage.into_flash());
            let (loaded, _) = State::load(&mut storage);
            prop_assert!(loaded == saved || loaded == next, "{loaded:?} of {saved:?}");
            saved = loaded;
        }
    }
}

/// A record or a header with the checksum that it should have.
fn checked(bytes: &[u8]) -> Vec<u8> {
    let crc = crc::Crc::<u32>::new(&crc::CRC_32_ISO_HDLC).checksum(bytes);
    [bytes, &crc.to_le_bytes()].concat()
}

/// A page that holds whatever records.
fn page(number: u32, records: &[(u8, Vec<u8>)]) -> Vec<u8> {
    let header = [&b"KBLG\x01\0\0\0"[..], &number.to_le_bytes()].concat();
    let mut page = checked(&header);
    for (kind, body) in records {
        let head = (u16::from(*kind) << 13 | body.len() as u16).to_le_bytes();
        page.extend(checked(&[&head[..], body].concat()));
    }
    page.resize(4096, 0xff);
    page
}

/// Flash with these bytes is loaded, whatever comes of it, and can be saved to.
fn bears(bytes: Vec<u8>) {
    let mut storage = mount(Flash::<1, 4096>::holding(bytes, 0));
    let (state, _) = State::load(&mut storage);
    assert!(state.settings.len() <= MAX_SETTINGS);
    let mut next = state.clone();
    Step::Set { bytes: 9, with: 77 }.take(&mut next);
    next.save(&mut storage).expect("power");
    assert_eq!(State::load(&mut mount(storage.into_flash())).0, next);
}

/// Bodies of records: those of a game's first, parts of them, whatever bytes.
fn body() -> impl Strategy<Value = Vec<u8>> {
    let first: Vec<u8> = {
        let mut storage = mount(Flash::<1, 4096>::new(2, 0));
        let mut state = State { settings: vec![1, 2], ..State::default() };
        (0..20).for_each(|which| Step::Play { which, told: false }.take(&mut state));
        state.save(&mut storage).expect("power");
        storage.into_flash().bytes[18..18 + 42 + 3 + 40].to_vec()
    };
    let whole = first.clone();
    prop_oneof![
        2 => Just(first.clone()),
        2 => (any::<prop::sample::Index>(), any::<u8>()).prop_map(move |(place, byte)| {
            let mut body = first.clone();
            let place = place.index(body.len());
            body[place] = byte;
            body
        }),
        1 => (0..whole.len()).prop_map(move |end| whole[..end].to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..80),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn flash_may_hold_any_bytes(bytes in prop::collection::vec(any::<u8>(), 8192)) {
        bears(bytes);
    }

    #[test]
    fn records_may_say_anything(
        numbers: [u32; 2],
        records in prop::collection::vec((prop_oneof![Just(3u8), 0u8..8], body()), 0..6),
        others in prop::collection::vec((prop_oneof![Just(3u8), 0u8..8], body()), 0..3),
    ) {
        // The highest number that there is has none above it, and no chip lives that long.
        let numbers = numbers.map(|number| number >> 1);
        bears([page(numbers[0], &records), page(numbers[1], &others)].concat());
    }
}

#[test]
fn a_record_that_the_rules_forbid_ends_the_game() {
    let mut storage = mount(Flash::<1, 4096>::new(2, 0));
    State::default().save(&mut storage).expect("power");
    let mut bytes = storage.into_flash().bytes;
    let start = bytes[18..60].to_vec();
    // e2e4, e7e5, then the pawn of e4 to e5, which is occupied.
    let moves = [12u16 | 28 << 6, 52 | 36 << 6, 28 | 36 << 6].map(u16::to_le_bytes).concat();
    let whole = [start.clone(), vec![0], moves[..2].to_vec()].concat();
    let newer = page(5, &[(3, whole.clone()), (0, moves[2..].to_vec())]);
    bytes[4096..].copy_from_slice(&newer);
    let (loaded, end) = State::load(&mut mount(Flash::<1, 4096>::holding(bytes.clone(), 0)));
    assert_eq!((loaded.game.len(), end), (2, Loaded::Illegal));
    bears(bytes.clone());
    // A newest page whose game cannot begin leaves the one before it.
    bytes[4096..].copy_from_slice(&page(5, &[(3, vec![0; 60])]));
    let (loaded, end) = State::load(&mut mount(Flash::<1, 4096>::holding(bytes.clone(), 0)));
    assert_eq!((loaded.game.len(), end), (0, Loaded::Older));
    bears(bytes);
}
