//! Matrix products, and sums over rows.
use super::{Lowering, Scratch, per_position};
use crate::{
    Error,
    gpu::{
        plan::{Columns, Count, Grid, Kernel, Slice},
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
        let mut kernel = Kernel::new(shader::GEMM)
            .with(if bias.is_some() { shader::BIAS_SOME } else { shader::BIAS_NONE })
            .with(if residual.is_some() { shader::RESIDUAL_SOME } else { shader::RESIDUAL_NONE })
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
            .read("a", product.a.0)
            .read("b", product.b.0)
            .write("c", product.c.0);
        if let Some(bias) = bias {
            kernel = kernel.read("bias", bias);
        }
        if let Some(residual) = residual {
            kernel = kernel.read("residual", residual);
        }
        self.push(kernel, Grid::Tiles(product.m, product.n, product.splits));
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
        let tiles = outputs.div_ceil(64) * inputs.div_ceil(64);
        let splits = self.splits(rows, tiles, gradient.len);
        let partial = self.scratch(Scratch::Partial, splits * gradient.len);
        let product = Gemm {
            a: y,
            b: x,
            c: (if splits > 1 { partial } else { gradient }, Columns::dense(inputs)),
            a_transposed: true,
            b_transposed: false,
            adds: splits == 1,
            m: Count::Fixed(outputs),
            n: inputs,
            k: Count::Each(rows, 1),
            splits,
        };
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
