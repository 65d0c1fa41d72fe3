//! burn's layers, filled from the flat vector of parameters that Kibitzer's backends take.
use std::collections::HashMap;

use burn::{
    module::Param,
    nn::{Linear, RmsNorm},
    tensor::{Device, Tensor, TensorData},
};
use kibitzer_core::net::{self, Config, tensors};

/// As everywhere in the network.
const EPSILON: f64 = 1e-6;

/// The parameters by their names in the reference network.
pub struct Parameters<'a> {
    flat: &'a [f32],
    tensors: HashMap<String, net::Tensor>,
    device: &'a Device,
}

impl<'a> Parameters<'a> {
    /// Names the parts of a flat vector.
    pub fn new(config: &Config, flat: &'a [f32], device: &'a Device) -> Parameters<'a> {
        let tensors = tensors(config).map(|tensor| (tensor.to_string(), tensor)).collect();
        Parameters { flat, tensors, device }
    }

    /// Whether the network has this parameter.
    pub fn has(&self, name: &str) -> bool {
        self.tensors.contains_key(name)
    }

    /// A parameter's values and its shape as a matrix.
    fn find(&self, name: &str) -> (&'a [f32], [usize; 2]) {
        let tensor = self.tensors.get(name).unwrap_or_else(|| panic!("no parameter {name}"));
        (&self.flat[tensor.range()], [tensor.shape.rows(), tensor.shape.columns()])
    }

    /// A parameter in any shape of as many elements.
    pub fn tensor<const D: usize>(&self, name: &str, shape: [usize; D]) -> Param<Tensor<D>> {
        let (values, _) = self.find(name);
        Param::from_data(TensorData::new(values.to_vec(), shape), self.device)
    }

    /// A matrix as it is.
    pub fn matrix(&self, name: &str) -> Param<Tensor<2>> {
        self.tensor(name, self.find(name).1)
    }

    /// A parameter as a vector.
    pub fn vector(&self, name: &str) -> Param<Tensor<1>> {
        self.tensor(name, [self.find(name).0.len()])
    }

    /// The last column of a matrix.
    pub fn last_column(&self, name: &str) -> Param<Tensor<1>> {
        let (values, [rows, columns]) = self.find(name);
        let column: Vec<f32> = values.chunks(columns).map(|row| row[columns - 1]).collect();
        Param::from_data(TensorData::new(column, [rows]), self.device)
    }

    /// A linear layer; burn keeps its matrix as `[inputs, outputs]`.
    pub fn linear(&self, name: &str) -> Linear {
        let weight = format!("{name}.weight");
        let (values, [outputs, inputs]) = self.find(&weight);
        let transposed: Vec<f32> =
            (0..inputs).flat_map(|i| (0..outputs).map(move |o| values[o * inputs + i])).collect();
        let data = TensorData::new(transposed, [inputs, outputs]);
        let bias = format!("{name}.bias");
        Linear {
            weight: Param::from_data(data, self.device),
            bias: self.has(&bias).then(|| self.vector(&bias)),
        }
    }

    /// An RMSNorm.
    pub fn norm(&self, name: &str) -> RmsNorm {
        RmsNorm { gamma: self.vector(&format!("{name}.weight")), epsilon: EPSILON }
    }
}
