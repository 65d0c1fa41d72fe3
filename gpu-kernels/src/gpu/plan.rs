//! What runs on a device, planned without one: buffers, and dispatches that bind them.
use super::shader::{Constant, Constants, Source};
use crate::{
    Error,
    program::{Rows, Sizes},
};

/// Elements between which a binding may start: 256 bytes, wgpu's default alignment.
pub(super) const ALIGNMENT: usize = 64;
/// Most workgroups in the first dimension of a dispatch; `FOLD` in `common.wgsl`.
const FOLD: u32 = 32_768;
/// Most workgroups in the second dimension, by wgpu's default limits.
const MAX_FOLDS: u32 = 65_535;

/// A buffer of 32-bit elements, by its number in the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct BufferId(pub usize);

/// Some elements of a buffer, from a multiple of [`ALIGNMENT`] on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Slice {
    pub buffer: BufferId,
    pub first: usize,
    pub len: usize,
}

/// A slice as one shader sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Binding {
    /// The shader's `@binding`.
    pub number: u32,
    pub slice: Slice,
    pub writable: bool,
}

/// A number of things, most of them known only with the batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Count {
    Fixed(usize),
    /// So many for each row.
    Each(Rows, usize),
}

impl Count {
    fn of(self, sizes: Sizes) -> usize {
        match self {
            Count::Fixed(count) => count,
            Count::Each(rows, count) => sizes.rows(rows) * count,
        }
    }
}

/// How many workgroups a dispatch has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Grid {
    /// One for every so many items.
    Items(Count, usize),
    /// One for each tile of 64 × 64 of a matrix of these rows and columns, times the splits.
    Tiles(Count, usize, usize),
}

impl Grid {
    /// Workgroups, folded into two dimensions.
    pub fn workgroups(self, sizes: Sizes) -> Result<(u32, u32), Error> {
        let groups = match self {
            Grid::Items(items, share) => items.of(sizes).div_ceil(share),
            Grid::Tiles(rows, columns, splits) => {
                rows.of(sizes).div_ceil(64) * columns.div_ceil(64) * splits
            }
        };
        let folds = u32::try_from(groups.div_ceil(FOLD as usize)).unwrap_or(u32::MAX);
        if folds > MAX_FOLDS {
            return Err(Error::Device(format!("a dispatch of {groups} workgroups is too large")));
        }
        Ok(if folds <= 1 { (groups as u32, folds) } else { (FOLD, folds) })
    }
}

/// One run of a shader over bound slices.
#[derive(Debug, Clone)]
pub(super) struct Dispatch {
    pub name: &'static str,
    pub text: String,
    pub bindings: Vec<Binding>,
    pub grid: Grid,
}

/// A dispatch in the making. Slices are bound in the order of the shader's bindings, from 1.
#[derive(Debug)]
pub(super) struct Kernel {
    sources: Vec<Source>,
    constants: Constants,
    bindings: Vec<Binding>,
}

impl Kernel {
    pub fn new(source: Source) -> Kernel {
        Kernel { sources: vec![source], constants: Constants::default(), bindings: vec![] }
    }

    /// Adds a file that the kernel draws on.
    pub fn with(mut self, source: Source) -> Kernel {
        self.sources.push(source);
        self
    }

    pub fn set(mut self, name: &str, value: impl Into<Constant>) -> Kernel {
        self.constants.set(name, value);
        self
    }

    /// The pitch and first column of a matrix.
    pub fn view(mut self, name: &str, view: Columns) -> Kernel {
        self.constants.set(&format!("{name}_PITCH"), view.pitch);
        self.constants.set(&format!("{name}_COLUMN"), view.column);
        self
    }

    pub fn read(self, slice: Slice) -> Kernel {
        let number = self.bindings.len() as u32 + 1;
        self.bind(number, slice, false)
    }

    pub fn write(self, slice: Slice) -> Kernel {
        let number = self.bindings.len() as u32 + 1;
        self.bind(number, slice, true)
    }

    /// Binds a slice that a file of the kernel expects at this number.
    pub fn read_at(self, number: u32, slice: Slice) -> Kernel {
        self.bind(number, slice, false)
    }

    fn bind(mut self, number: u32, slice: Slice, writable: bool) -> Kernel {
        self.bindings.push(Binding { number, slice, writable });
        self
    }

    pub fn dispatch(self, grid: Grid) -> Dispatch {
        let name = self.sources[0].name;
        let text = self.constants.render(&self.sources);
        Dispatch { name, text, bindings: self.bindings, grid }
    }
}

/// Where the columns of a matrix lie in its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Columns {
    pub pitch: usize,
    pub column: usize,
}

impl Columns {
    /// All columns of a matrix of this width.
    pub const fn dense(pitch: usize) -> Columns {
        Columns { pitch, column: 0 }
    }
}
