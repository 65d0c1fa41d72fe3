use super::{SHAPES, Shape, Sharing};

/// Kinds of matrix products that differ in how they read their operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// A layer's output, rows by the hundred thousand: `x Wᵀ`.
    Output,
    /// The same where each position is one row.
    ShortOutput,
    /// The gradient of a layer's input: `dy W`.
    InputGradient,
    /// The same where each position is one row.
    ShortInputGradient,
    /// The gradient of a layer's matrix: `dyᵀ x`.
    WeightGradient,
    /// The same where each position is one row.
    ShortWeightGradient,
    /// Any of these where some size is no multiple of four: rare, and small.
    Odd,
}

impl Class {
    /// All classes, in the order of their numbers.
    pub const ALL: [Class; 7] = [
        Class::Output,
        Class::ShortOutput,
        Class::InputGradient,
        Class::ShortInputGradient,
        Class::WeightGradient,
        Class::ShortWeightGradient,
        Class::Odd,
    ];

    /// Its name in the file of choices.
    pub const fn name(self) -> &'static str {
        match self {
            Class::Output => "output",
            Class::ShortOutput => "short output",
            Class::InputGradient => "input gradient",
            Class::ShortInputGradient => "short input gradient",
            Class::WeightGradient => "weight gradient",
            Class::ShortWeightGradient => "short weight gradient",
            Class::Odd => "odd sizes",
        }
    }

    pub(in crate::gpu) const fn new(a_transposed: bool, b_transposed: bool, short: bool) -> Class {
        match (a_transposed, b_transposed, short) {
            (true, _, false) => Class::WeightGradient,
            (true, _, true) => Class::ShortWeightGradient,
            (false, true, false) => Class::Output,
            (false, true, true) => Class::ShortOutput,
            (false, false, false) => Class::InputGradient,
            (false, false, true) => Class::ShortInputGradient,
        }
    }
}

/// Workgroups that sums over rows are split for, where tiles alone are too few to keep all of an
/// adapter at work. A software adapter has as many as its processor has cores, and its splits cost
/// memory.
const GROUPS: usize = 256;
const SOFTWARE_GROUPS: usize = 16;

/// Which shape each class of matrix products takes, and how fast they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choices {
    lanes: Option<usize>,
    groups: usize,
    shapes: [&'static Shape; Class::ALL.len()],
    /// 10⁶ operations a second of the slowest class of long products, where they were timed. It
    /// bounds how much a dispatch is given to do.
    pub mflops: Option<u64>,
}

impl Choices {
    /// One shape for all; `None` if it needs subgroups and there are none.
    pub fn all(self, shape: &'static Shape) -> Option<Choices> {
        let runs = shape.runs_with(self.lanes);
        runs.then_some(Choices { shapes: [shape; Class::ALL.len()], ..self })
    }

    /// What is taken where nothing was timed, on an adapter whose subgroups all have `lanes`
    /// invocations, if it has subgroups. On a software adapter loads cost more than arithmetic,
    /// and workgroup memory is memory.
    pub fn untimed(software: bool, lanes: Option<usize>) -> Choices {
        let (name, odd) = match (software, lanes) {
            (false, _) => ("tile 64x64, 4x4", "tile 32x32, 4x4"),
            (true, Some(_)) => ("subgroup 16x4", "direct 4x4"),
            (true, None) => ("direct 4x4", "direct 4x4"),
        };
        let named = |name| Shape::named(name).unwrap_or(&SHAPES[0]);
        let mut shapes = [named(name); Class::ALL.len()];
        shapes[Class::Odd as usize] = named(odd);
        let groups = if software { SOFTWARE_GROUPS } else { GROUPS };
        Choices { lanes, groups, shapes, mflops: None }
    }

    /// The shape of a class.
    pub fn get(&self, class: Class) -> &'static Shape {
        self.shapes[class as usize]
    }

    /// Sets the shape of a class; `false`, and nothing is changed, if the adapter cannot run it.
    pub fn set(&mut self, class: Class, shape: &'static Shape) -> bool {
        let runs = shape.runs_with(self.lanes);
        if runs {
            self.shapes[class as usize] = shape;
        }
        runs
    }

    /// Workgroups that keep all of the adapter at work.
    pub(in crate::gpu) const fn groups(&self) -> usize {
        self.groups
    }

    /// Invocations of every subgroup, where subgroups are of use.
    pub const fn lanes(&self) -> Option<usize> {
        self.lanes
    }

    /// Invocations of a subgroup, where other kernels too should share by its registers rather
    /// than by workgroup memory: where a layer's output is made so.
    pub(in crate::gpu) fn sharing_lanes(&self) -> Option<usize> {
        self.lanes.filter(|_| self.get(Class::Output).sharing == Sharing::Subgroup)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_of_subgroups_is_not_taken_without_them() {
        let subgroup = Shape::named("subgroup 8x4").unwrap();
        assert!(Choices::untimed(true, None).all(subgroup).is_none());
        let mut choices = Choices::untimed(true, None);
        let before = choices.clone();
        assert!(!choices.set(Class::Output, subgroup));
        assert_eq!(choices, before);
        assert_eq!(choices.sharing_lanes(), None);
        assert_eq!(Choices::untimed(true, Some(8)).sharing_lanes(), Some(8));
        let mut choices = Choices::untimed(false, Some(32));
        assert_eq!(choices.sharing_lanes(), None);
        assert!(choices.set(Class::WeightGradient, subgroup));
        for (i, class) in Class::ALL.into_iter().enumerate() {
            assert_eq!(class as usize, i);
            assert_eq!(choices.get(class) == subgroup, class == Class::WeightGradient);
        }
    }
}
