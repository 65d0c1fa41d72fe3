//! What every backend must pass: `suite!(Subject)` makes the tests of one.
pub mod gradients;
pub mod network;
pub mod reference;

use kibitzer_core::net::Config;
use kibitzer_gpu::{Backend, Probing};

/// A backend under test.
pub trait Subject {
    /// Whether this machine has it; it says so where it has not.
    fn available() -> bool {
        true
    }
    /// A network with these parameters and room for so many positions.
    fn network(config: &Config, parameters: &[f32], capacity: usize) -> Box<dyn Backend>;
    /// What runs single operations.
    fn probing() -> Box<dyn Probing>;
}

/// Asserts `|found − expected| ≤ absolute + relative · |expected|` for all elements.
pub fn assert_close(what: &str, found: &[f32], expected: &[f32], absolute: f32, relative: f32) {
    assert_eq!(found.len(), expected.len(), "{what}: number of elements");
    for (i, (&f, &e)) in found.iter().zip(expected).enumerate() {
        let close = (f - e).abs() <= absolute + relative * e.abs();
        assert!(close, "{what}[{i}]: {f} instead of {e}");
    }
}

/// Makes the tests of one backend.
#[macro_export]
macro_rules! suite {
    ($subject:ty) => {
        #[test]
        fn the_pooled_network_equals_the_reference() {
            if <$subject as $crate::suite::Subject>::available() {
                $crate::suite::reference::check::<$subject>("golden");
            }
        }

        #[test]
        fn the_from_to_network_equals_the_reference() {
            if <$subject as $crate::suite::Subject>::available() {
                $crate::suite::reference::check::<$subject>("golden_mover");
            }
        }

        #[test]
        fn every_gradient_is_that_of_its_operation() {
            if <$subject as $crate::suite::Subject>::available() {
                $crate::suite::gradients::check::<$subject>();
            }
        }

        #[test]
        fn the_same_batch_gives_the_same_bits() {
            if <$subject as $crate::suite::Subject>::available() {
                $crate::suite::network::repeating::<$subject>();
            }
        }

        #[test]
        fn a_batch_in_parts_gives_the_same_gradient() {
            if <$subject as $crate::suite::Subject>::available() {
                $crate::suite::network::parts_add_up::<$subject>();
            }
        }

        #[test]
        fn a_position_does_not_depend_on_its_neighbours() {
            if <$subject as $crate::suite::Subject>::available() {
                $crate::suite::network::positions_are_independent::<$subject>();
            }
        }

        #[test]
        fn a_position_without_moves_gets_its_value() {
            if <$subject as $crate::suite::Subject>::available() {
                $crate::suite::network::no_legal_moves::<$subject>();
            }
        }

        #[test]
        fn clipping_limits_the_step() {
            if <$subject as $crate::suite::Subject>::available() {
                $crate::suite::network::clipping::<$subject>();
            }
        }

        #[test]
        fn training_goes_on_where_it_stopped() {
            if <$subject as $crate::suite::Subject>::available() {
                $crate::suite::network::resuming::<$subject>();
            }
        }

        #[test]
        fn losses_may_be_told_late() {
            if <$subject as $crate::suite::Subject>::available() {
                $crate::suite::network::late_losses::<$subject>();
            }
        }

        #[test]
        fn nothing_follows_a_step_that_diverged() {
            if <$subject as $crate::suite::Subject>::available() {
                $crate::suite::network::divergence::<$subject>();
            }
        }

        #[test]
        fn the_average_follows_the_parameters() {
            if <$subject as $crate::suite::Subject>::available() {
                $crate::suite::network::averaging::<$subject>();
            }
        }

        #[test]
        fn a_malformed_batch_is_refused() {
            if <$subject as $crate::suite::Subject>::available() {
                $crate::suite::network::refusals::<$subject>();
            }
        }
    };
}
