//! What runs on a device, planned without one: buffers, and dispatches that bind them.
use super::shader::{Constant, Declarations, Source};
use crate::{
    Error,
    program::{Rows, Sizes},
};

/// Elements between which a binding may start: 256 bytes, wgpu's default alignment. Slices of
/// 16-bit elements start where their buffers do.
pub(super) const ALIGNMENT: usize = 64;
/// Words of the two structs in `summary.wgsl`.
pub(super) const SUMMARY: usize = 8;
pub(super) const CONTROL: usize = 4;
/// Most workgroups in the first dimension of a dispatch; `FOLD` in `common.wgsl`.
const FOLD: u32 = 32_768;
/// Most workgroups in the second dimension, by wgpu's default limits.
const MAX_FOLDS: u32 = 65_535;

/// What a buffer holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Element {
    F32,
    F16,
    U32,
    /// `Entry` in `entries.wgsl`.
    Entry,
    /// `Summary` in `summary.wgsl`.
    Summary,
    /// `Control` in `summary.wgsl`.
    Control,
}

impl Element {
    /// Its name in WGSL.
    pub const fn name(self) -> &'static str {
        match self {
            Element::F32 => "f32",
            Element::F16 => "f16",
            Element::U32 => "u32",
            Element::Entry => "Entry",
            Element::Summary => "Summary",
            Element::Control => "Control",
        }
    }

    /// Bytes of one.
    pub const fn bytes(self) -> u64 {
        match self {
            Element::F16 => 2,
            Element::F32 | Element::U32 => 4,
            Element::Entry => 8,
            Element::Summary => 4 * SUMMARY as u64,
            Element::Control => 4 * CONTROL as u64,
        }
    }
}

/// A buffer, by its number in the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct BufferId(pub usize);

/// Some elements of a buffer, from a multiple of [`ALIGNMENT`] on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Slice {
    pub buffer: BufferId,
    pub element: Element,
    pub first: usize,
    pub len: usize,
}

impl Slice {
    /// Where it starts in its buffer, in bytes.
    pub const fn offset(self) -> u64 {
        self.first as u64 * self.element.bytes()
    }

    /// Its length in bytes, rounded up to whole words.
    pub const fn bytes(self) -> u64 {
        (self.len as u64 * self.element.bytes()).next_multiple_of(4)
    }
}

/// Whether a shader sees a slice as an array of elements or of vectors of four.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Packing {
    Elements,
    /// The slice's length is a multiple of four.
    Vectors,
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
    /// So many for each sequence.
    Sequences(usize),
}

impl Count {
    fn of(self, sizes: Sizes) -> usize {
        match self {
            Count::Fixed(count) => count,
            Count::Each(rows, count) => sizes.rows(rows) * count,
            Count::Sequences(count) => sizes.sequences * count,
        }
    }
}

/// How many workgroups a dispatch has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Grid {
    /// One for every so many items.
    Items(Count, usize),
    /// So many for every so many items.
    Blocks(Count, usize, usize),
    /// One for each tile of a matrix, times the splits.
    Tiles {
        rows: Count,
        columns: usize,
        /// Rows and columns of a tile.
        tile: (usize, usize),
        splits: usize,
    },
}

impl Grid {
    /// Workgroups, folded into two dimensions.
    pub fn workgroups(self, sizes: Sizes) -> Result<(u32, u32), Error> {
        let groups = match self {
            Grid::Items(items, share) => items.of(sizes).div_ceil(share),
            Grid::Blocks(items, share, each) => items.of(sizes).div_ceil(share) * each,
            Grid::Tiles { rows, columns, tile: (m, n), splits } => {
                rows.of(sizes).div_ceil(m) * columns.div_ceil(n) * splits
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

/// A dispatch in the making. Slices are bound in order, from 1, and declared in the shader's
/// text by what they hold: see [`Declarations`].
#[derive(Debug)]
pub(super) struct Kernel {
    name: &'static str,
    sources: Vec<Source>,
    declarations: Declarations,
    /// Text after the files', for one kernel alone.
    expanded: String,
    bindings: Vec<Binding>,
}

impl Kernel {
    pub fn new(source: Source) -> Kernel {
        Kernel::named(source.name).with(source)
    }

    /// One whose text is all made for it.
    pub fn named(name: &'static str) -> Kernel {
        Kernel {
            name,
            sources: vec![],
            expanded: String::new(),
            declarations: Declarations::default(),
            bindings: vec![],
        }
    }

    /// Adds a file that the kernel draws on.
    pub fn with(mut self, source: Source) -> Kernel {
        self.sources.push(source);
        self
    }

    /// Adds text that is made for this kernel.
    pub fn with_text(mut self, text: &str) -> Kernel {
        self.expanded.push_str(text);
        self
    }

    pub fn set(mut self, name: &str, value: impl Into<Constant>) -> Kernel {
        self.declarations.set(name, value);
        self
    }

    /// The pitch and first column of a matrix.
    pub fn view(mut self, name: &str, view: Columns) -> Kernel {
        self.declarations.set(&format!("{name}_PITCH"), view.pitch);
        self.declarations.set(&format!("{name}_COLUMN"), view.column);
        self
    }

    /// Binds what the shader reads under this name.
    pub fn read(self, name: &str, slice: Slice) -> Kernel {
        self.read_packed(name, slice, Packing::Elements)
    }

    /// Binds what the shader writes, and may read, under this name.
    pub fn write(self, name: &str, slice: Slice) -> Kernel {
        self.write_packed(name, slice, Packing::Elements)
    }

    /// As [`Kernel::read`], seen in this way.
    pub fn read_packed(self, name: &str, slice: Slice, packing: Packing) -> Kernel {
        self.bind(name, slice, false, packing)
    }

    /// As [`Kernel::write`], seen in this way.
    pub fn write_packed(self, name: &str, slice: Slice, packing: Packing) -> Kernel {
        self.bind(name, slice, true, packing)
    }

    fn bind(mut self, name: &str, slice: Slice, writable: bool, packing: Packing) -> Kernel {
        let number = self.bindings.len() as u32 + 1;
        let binding = Binding { number, slice, writable };
        self.declarations.push(name, binding, packing);
        self.bindings.push(binding);
        self
    }

    pub fn dispatch(self, grid: Grid) -> Dispatch {
        let text = self.declarations.render(&self.sources) + &self.expanded;
        Dispatch { name: self.name, text, bindings: self.bindings, grid }
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
