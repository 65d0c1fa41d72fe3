//! Matrix products, and sums over rows.
use super::{Lowering, Scratch, per_position};
use crate::{
    Error,
    gpu::{
        gemm::{self, Class},
        plan::{Columns, Count, Grid, Kernel, Packing, Slice},
        shader,
    },
    program::{Buffer, Matrix, Param, Rows, View},
};

/// A matrix product `c (+)= a b`, [`Lowering::gemm`]'s argument.
pub(super) struct Gemm {
    a: (Slice, Columns),
    b: (Slice, Columns),
    c: (Slice, Columns),
    a_transposed: bool,
    b_transposed: bool,
    adds: bool,
    /// What m and k count, and the columns n.
    m: Count,
    n: usize,
    k: Count,
    splits: usize,
}

/// How the shader sees the matrices.
#[derive(Debug, Clone, Copy)]
struct Packings {
    a: Packing,
    b: Packing,
    c: Packing,
}

impl Gemm {
    fn class(&self) -> Class {
        let Packings { a, b, c } = self.packings();
        if [a, b, c].contains(&Packing::Elements) {
            return Class::Odd;
        }
        let rows = if self.a_transposed { self.k } else { self.m };
        let short = !matches!(rows, Count::Each(Rows::Square, _));
        Class::new(self.a_transposed, self.b_transposed, short)
    }

    /// A matrix is seen in vectors if its rows are whole vectors, and start where one does.
    fn packings(&self) -> Packings {
        let packing = |(_, columns): (Slice, Columns), stored: Count| match stored {
            Count::Fixed(n) if [columns.pitch, columns.column, n].iter().all(|n| n % 4 == 0) => {
                Packing::Vectors
            }
            _ => Packing::Elements,
        };
        let n = Count::Fixed(self.n);
        Packings {
            a: packing(self.a, if self.a_transposed { self.m } else { self.k }),
            b: packing(self.b, if self.b_transposed { self.k } else { n }),
            c: packing(self.c, n),
        }
    }
}

/// The function that loads four neighbours in a row of an operand.
pub(super) fn row(name: &str, packing: Packing) -> String {
    let source = match packing {
        Packing::Vectors => shader::GEMM_ROW_VECTORS,
        Packing::Elements => shader::GEMM_ROW_ELEMENTS,
    };
    source.text.replace("{x}", name).replace("{X}", &name.to_uppercase())
}

/// The function that stores four neighbours in a row of `name`, which the constants of that name
/// in capitals place.
pub(super) fn store_row(name: &str, constants: &str, packing: Packing) -> String {
    let source = match packing {
        Packing::Vectors => shader::STORE_ROW_VECTORS,
        Packing::Elements => shader::STORE_ROW_ELEMENTS,
    };
    source.text.replace("{x}", name).replace("{X}", constants)
}

impl Lowering<'_> {
    pub(super) fn linear(
        &mut self,
        input: View,
        output: Buffer,
        weight: Matrix,
        bias: Option<Param>,
        residual: Option<Buffer>,
    ) -> Result<(), Error> {
        let (rows, width) = self.info(output);
        let product = Gemm {
            a: (self.activation(input.buffer), self.columns(input)),
            b: (self.parameter(&weight.range())?, Columns::dense(weight.inputs)),
            c: (self.activation(output), Columns::dense(width)),
            a_transposed: false,
            b_transposed: true,
            adds: false,
            m: Count::Each(rows, 1),
            n: weight.outputs,
            k: Count::Fixed(weight.inputs),
            splits: 1,
        };
        let bias = bias.map(|bias| self.parameter(&bias.range())).transpose()?;
        let residual = residual.map(|residual| self.activation(residual));
        self.gemm(&product, bias, residual)
    }

    pub(super) fn linear_grad(
        &mut self,
        input: View,
        output: Buffer,
        weight: Matrix,
        bias: Option<Param>,
    ) -> Result<(), Error> {
        let (rows, width) = self.info(output);
        let dy = (self.gradient(output)?, Columns::dense(width));
        let columns = self.columns(input);
        let product = Gemm {
            a: dy,
            b: (self.parameter(&weight.range())?, Columns::dense(weight.inputs)),
            c: (self.gradient(input.buffer)?, columns),
            a_transposed: false,
            b_transposed: false,
            adds: input.accumulate,
            m: Count::Each(rows, 1),
            n: weight.inputs,
            k: Count::Fixed(weight.outputs),
            splits: 1,
        };
        self.gemm(&product, None, None)?;
        self.outer(dy, (self.activation(input.buffer), columns), rows, weight)?;
        if let Some(bias) = bias {
            self.column_sum(dy, rows, self.parameter_gradient(&bias.range())?)?;
        }
        Ok(())
    }

    /// Appends a matrix product.
    pub(super) fn gemm(
        &mut self,
        product: &Gemm,
        bias: Option<Slice>,
        residual: Option<Slice>,
    ) -> Result<(), Error> {
        let ((m, m_scales), (k, k_scales)) = (scaled(product.m)?, scaled(product.k)?);
        let shape = self.choices.get(product.class());
        let lanes = self.choices.lanes();
        let packings = product.packings();
        let (bias_source, residual_source, store) = match packings.c {
            Packing::Vectors => {
                (shader::BIAS_VECTORS, shader::RESIDUAL_VECTORS, shader::GEMM_STORE_VECTORS)
            }
            Packing::Elements => {
                (shader::BIAS_SOME, shader::RESIDUAL_SOME, shader::GEMM_STORE_ELEMENTS)
            }
        };
        let mut kernel = Kernel::new(shader::GEMM)
            .with(if bias.is_some() { bias_source } else { shader::BIAS_NONE })
            .with(if residual.is_some() { residual_source } else { shader::RESIDUAL_NONE })
            .with(store)
            .with_text(&row("a", packings.a))
            .with_text(&row("b", packings.b))
            .with_text(&gemm::expand(shape.source().text, &shape.counts()))
            .set("M", m)
            .set("N", product.n)
            .set("K", k)
            .set("M_SCALES", m_scales)
            .set("K_SCALES", k_scales)
            .set("A_TRANSPOSED", product.a_transposed)
            .set("B_TRANSPOSED", product.b_transposed)
            .set("C_ADDS", product.adds)
            .set("SPLITS", product.splits)
            .view("A", product.a.1)
            .view("B", product.b.1)
            .view("C", product.c.1)
            .read_packed("a", product.a.0, packings.a)
            .read_packed("b", product.b.0, packings.b)
            .write_packed("c", product.c.0, packings.c);
        for (name, value) in shape.constants(lanes) {
            kernel = kernel.set(name, value);
        }
        if let Some(bias) = bias {
            kernel = kernel.read_packed("bias", bias, packings.c);
        }
        if let Some(residual) = residual {
            kernel = kernel.read_packed("residual", residual, packings.c);
        }
        self.push(
            kernel,
            Grid::Tiles {
                rows: product.m,
                columns: product.n,
                tile: shape.tile(lanes),
                splits: product.splits,
            },
        );
        Ok(())
    }

    /// The gradient of a matrix: `W' += Σ_rows yᵀ x`.
    pub(super) fn outer(
        &mut self,
        y: (Slice, Columns),
        x: (Slice, Columns),
        rows: Rows,
        weight: Matrix,
    ) -> Result<(), Error> {
        let Matrix { outputs, inputs, .. } = weight;
        let gradient = self.parameter_gradient(&weight.range())?;
        let mut product = Gemm {
            a: y,
            b: x,
            c: (gradient, Columns::dense(inputs)),
            a_transposed: true,
            b_transposed: false,
            adds: true,
            m: Count::Fixed(outputs),
            n: inputs,
            k: Count::Each(rows, 1),
            splits: 1,
        };
        let (tile_m, tile_n) = self.choices.get(product.class()).tile(self.choices.lanes());
        let tiles = outputs.div_ceil(tile_m) * inputs.div_ceil(tile_n);
        let splits = self.splits(rows, tiles, gradient.len);
        let partial = self.scratch(Scratch::Partial, splits * gradient.len);
        if splits > 1 {
            let c = (partial, Columns::dense(inputs));
            product = Gemm { c, adds: false, splits, ..product };
        }
        self.gemm(&product, None, None)?;
        if splits > 1 {
            self.reduce(partial, gradient, splits);
        }
        Ok(())
    }

    /// `y += Σ_rows x[row]`.
    pub(super) fn column_sum(
        &mut self,
        x: (Slice, Columns),
        rows: Rows,
        y: Slice,
    ) -> Result<(), Error> {
        self.sum_rows(Kernel::new(shader::COLUMN_SUM).view("X", x.1).read("x", x.0), rows, y)
    }
}

/// A count as a constant and whether it is multiplied by the positions.
fn scaled(count: Count) -> Result<(usize, bool), Error> {
    match count {
        Count::Fixed(count) => Ok((count, false)),
        Count::Each(rows, count) => Ok((per_position(rows)? * count, true)),
        Count::Sequences(_) => Err(Error::Device("no matrix has a row a sequence".to_owned())),
    }
}
