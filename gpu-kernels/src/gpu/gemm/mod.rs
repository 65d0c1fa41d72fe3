//! The shapes that a matrix product can take, and which one runs where.
mod choices;
mod template;

pub use choices::{Choices, Class};
pub(super) use template::expand;

use kibitzer_core::fnv;

use super::shader::{self, Source};

/// How a workgroup shares what it loads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    /// By workgroup memory, in slices of so many elements along k.
    Memory {
        /// Elements of a slice.
        slice: usize,
    },
    /// By the registers of one subgroup.
    Subgroup,
    /// Not at all: every invocation loads what it needs.
    None,
}

/// A shape of the matrix product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Its name, in the file of choices and on the command line.
    pub name: &'static str,
    /// How loads are shared.
    pub sharing: Sharing,
    /// Rows and columns that one invocation makes, multiples of 4.
    pub registers: (usize, usize),
    /// Invocations along the rows and along the columns of a tile. Along the columns of a shape
    /// without workgroup memory there are as many as a subgroup has.
    invocations: (usize, usize),
}

const fn tiled(
    name: &'static str,
    registers: (usize, usize),
    invocations: (usize, usize),
    slice: usize,
) -> Shape {
    Shape { name, sharing: Sharing::Memory { slice }, registers, invocations }
}

const fn lanes(name: &'static str, registers: (usize, usize)) -> Shape {
    Shape { name, sharing: Sharing::Subgroup, registers, invocations: (1, 0) }
}

const fn direct(name: &'static str, registers: (usize, usize)) -> Shape {
    Shape { name, sharing: Sharing::None, registers, invocations: (1, 0) }
}

/// All shapes. Those with workgroup memory take a block of 4 × 4 of a slice an invocation at most
/// and 16 KiB together.
pub const SHAPES: [Shape; 13] = [
    tiled("tile 64x64, 4x4", (4, 4), (16, 16), 16),
    tiled("tile 32x32, 4x4", (4, 4), (8, 8), 16),
    tiled("tile 64x32, 4x8", (4, 8), (16, 4), 8),
    tiled("tile 64x64, 8x4", (8, 4), (8, 16), 16),
    tiled("tile 64x64, 8x8", (8, 8), (8, 8), 8),
    tiled("tile 128x64, 8x8", (8, 8), (16, 8), 8),
    tiled("tile 128x128, 8x8", (8, 8), (16, 16), 8),
    tiled("tile 128x64, 16x4", (16, 4), (8, 16), 8),
    lanes("subgroup 8x4", (8, 4)),
    lanes("subgroup 16x4", (16, 4)),
    lanes("subgroup 16x8", (16, 8)),
    direct("direct 4x4", (4, 4)),
    direct("direct 8x4", (8, 4)),
];

/// Invocations side by side where no subgroup says how many.
const DIRECT_LANES: usize = 8;

impl Shape {
    /// The shape with this name.
    pub fn named(name: &str) -> Option<&'static Shape> {
        SHAPES.iter().find(|shape| shape.name == name)
    }

    /// Whether an adapter whose subgroups all have `lanes` invocations, or whose subgroups are
    /// of no use, can run it.
    pub fn runs_with(&self, lanes: Option<usize>) -> bool {
        self.sharing != Sharing::Subgroup || lanes.is_some()
    }

    /// Rows and columns of a workgroup's tile.
    pub(super) fn tile(&self, lanes: Option<usize>) -> (usize, usize) {
        let (m, n) = self.invocations;
        let n = if n == 0 { lanes.unwrap_or(DIRECT_LANES) } else { n };
        (self.registers.0 * m, self.registers.1 * n)
    }

    /// The file that works on a tile.
    pub(super) fn source(&self) -> Source {
        match self.sharing {
            Sharing::Memory { .. } => shader::GEMM_TILED,
            Sharing::Subgroup => shader::GEMM_LANES,
            Sharing::None => shader::GEMM_DIRECT,
        }
    }

    /// What its file says `each` of.
    pub(super) fn counts(&self) -> [(&'static str, usize); 2] {
        let (rows, columns) = self.registers;
        [("ROW_VECTORS", rows / 4), ("COLUMN_VECTORS", columns / 4)]
    }

    /// The constants of its file.
    pub(super) fn constants(&self, lanes: Option<usize>) -> Vec<(&'static str, usize)> {
        let (tile_m, tile_n) = self.tile(lanes);
        let (rows, columns) = self.registers;
        let mut all = vec![("TILE_M", tile_m), ("TILE_N", tile_n)];
        match self.sharing {
            Sharing::Memory { slice } => {
                all.extend([("SLICE", slice), ("ROWS", rows), ("COLUMNS", columns)]);
            }
            Sharing::Subgroup | Sharing::None => all.push(("LANES", tile_n / columns)),
        }
        all
    }
}

/// A number that changes with the table of shapes or with the text of their kernels: choices
/// made for others do not hold.
pub fn version() -> u64 {
    let texts = [
        shader::GEMM,
        shader::GEMM_TILED,
        shader::GEMM_LANES,
        shader::GEMM_DIRECT,
        shader::GEMM_ROW_ELEMENTS,
        shader::GEMM_ROW_VECTORS,
        shader::GEMM_STORE_ELEMENTS,
        shader::GEMM_STORE_VECTORS,
    ];
    let texts = texts.iter().flat_map(|source| source.text.bytes());
    fnv::bytes(fnv::START, format!("{SHAPES:?}").bytes().chain(texts))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_keeps_to_the_default_limits() {
        for shape in SHAPES {
            let (m, n) = shape.tile(Some(64));
            let (rows, columns) = shape.registers;
            assert!(rows % 4 == 0 && columns % 4 == 0, "{}", shape.name);
            let invocations = m / rows * (n / columns);
            assert!(invocations <= 256, "{}", shape.name);
            if let Sharing::Memory { slice } = shape.sharing {
                assert!((m + n) * slice / 16 <= invocations, "{}: too few loaders", shape.name);
                assert!((m + n + 8) * slice * 4 <= 16 << 10, "{}: too much memory", shape.name);
            }
            assert_eq!(Shape::named(shape.name), Some(&shape), "names differ");
        }
    }
}
