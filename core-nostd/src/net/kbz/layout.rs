//! How a matrix's 8-bit weights lie in the file, which is how the inner loops read them.
//!
//! Rows lie in pairs and columns in groups of four. A group of a pair is eight bytes, four of the
//! first row and four of the second, so that one double load serves two rows. The four are in the
//! order of columns 0, 2, 1, 3: Arm's `sxtb16` extends the bytes 0 and 2 of a word, or rotated 1
//! and 3, and so gives columns 0 and 1, then 2 and 3, as activations lie in memory.
use super::WeightBits;

/// Columns of a group.
pub const GROUP: usize = 4;
/// Bytes of a group of both rows of a pair.
pub const PAIR_GROUP: usize = 2 * GROUP;
/// Place of a group's byte for each of its columns.
const PLACES: [usize; GROUP] = [0, 2, 1, 3];

/// Groups of columns that share a scale where weights have 4 bits: 16 columns.
pub const BLOCK_GROUPS: usize = 4;

/// Where the weights of a matrix `[rows, columns]` lie. Absent rows and columns, up to a whole
/// pair and group, are zero; what stands there changes no sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    rows: usize,
    groups: usize,
    bits: WeightBits,
}

impl Layout {
    /// The layout of a matrix whose weights are bytes.
    pub const fn new(rows: usize, columns: usize) -> Layout {
        Layout { rows, groups: columns.div_ceil(GROUP), bits: WeightBits::Eight }
    }

    /// The same matrix with weights of so many bits.
    pub const fn with_bits(self, bits: WeightBits) -> Layout {
        Layout { bits, ..self }
    }

    /// Groups of columns.
    pub const fn groups(&self) -> usize {
        self.groups
    }

    /// Bytes of a pair of rows.
    pub const fn pair_bytes(&self) -> usize {
        match self.bits {
            WeightBits::Eight => self.groups * PAIR_GROUP,
            WeightBits::Four => {
                let scales = self.groups.div_ceil(BLOCK_GROUPS);
                self.groups * GROUP + scales.next_multiple_of(GROUP)
            }
        }
    }

    /// Bytes of the matrix.
    pub const fn bytes(&self) -> usize {
        self.rows.div_ceil(2) * self.pair_bytes()
    }

    /// The column whose weight byte `byte` of a row holds, groups of the other row left out.
    pub const fn column(byte: usize) -> usize {
        // The order is its own inverse.
        byte / GROUP * GROUP + place(byte)
    }

    /// The byte that holds a weight of 8 bits; of a matrix with 4, the byte that it has once its
    /// pair of rows is [expanded](super::expand).
    pub const fn index(&self, row: usize, column: usize) -> usize {
        let group = column / GROUP * PAIR_GROUP + row % 2 * GROUP;
        row / 2 * self.groups * PAIR_GROUP + group + place(column % GROUP)
    }
}

/// The place of a group's column among the group's bytes of a row.
pub const fn place(column: usize) -> usize {
    PLACES[column % GROUP]
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::vec;

    #[test]
    fn every_weight_has_its_own_byte() {
        for rows in 1..6 {
            for columns in 1..14 {
                let layout = Layout::new(rows, columns);
                let mut seen = vec![false; layout.bytes()];
                for row in 0..rows {
                    for column in 0..columns {
                        let byte = &mut seen[layout.index(row, column)];
                        assert!(!*byte, "[{rows}, {columns}]: {row}, {column}");
                        *byte = true;
                    }
                }
                let padded = rows.next_multiple_of(2) * columns.next_multiple_of(GROUP);
                assert_eq!(layout.bytes(), padded);
            }
        }
    }

    #[test]
    fn bytes_lie_as_documented() {
        let layout = Layout::new(4, 8);
        let first = [0, 2, 1, 3].map(|column| layout.index(0, column));
        assert_eq!(first, [0, 1, 2, 3]);
        assert_eq!([layout.index(1, 0), layout.index(0, 4), layout.index(2, 0)], [4, 8, 16]);
    }
}
