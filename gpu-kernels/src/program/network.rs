//! From the core's table of layers to a program.
use kibitzer_core::net::{Config, Layer, Place, PolicyHead, Role, Tensor, layers, tensors};

use super::{
    Buffer, Builder, Matrix, Op, Over, Param, Pointwise, Product, Program, Rows, Signal, View,
};

/// The program of a whole network.
pub(super) fn program(config: &Config, parameters: usize) -> Program {
    let mut network = Network::new(config);
    for layer in layers(config) {
        network.layer(layer);
    }
    let (logits, values) = (network.logits(), network.values());
    let logits = network.builder.all(logits);
    let values = network.builder.all(values);
    network.builder.push(Op::Loss { logits, values });
    network.builder.finish(parameters)
}

/// A network under construction.
struct Network<'a> {
    config: &'a Config,
    tensors: Vec<Tensor>,
    builder: Builder,
    /// The residual stream, once there is one.
    stream: Option<Buffer>,
    /// The encoder's squares, once they are final.
    squares: Option<Buffer>,
    logits: Option<Buffer>,
    values: Option<Buffer>,
}

impl<'a> Network<'a> {
    fn new(config: &'a Config) -> Network<'a> {
        Network {
            config,
            tensors: tensors(config).collect(),
            builder: Builder::default(),
            stream: None,
            squares: None,
            logits: None,
            values: None,
        }
    }

    fn layer(&mut self, layer: Layer) {
        self.builder.layer = layer;
        match layer {
            Layer::Embedding => self.embedding(),
            Layer::Attention(place) => self.attention(place),
            Layer::Ssm(_) => self.ssm(),
            Layer::FeedForward(_, hidden) => self.feed_forward(hidden as usize),
            Layer::EncoderNorm => {
                let squares = self.norm(Role::FinalNorm, Signal::Output);
                self.stream = Some(squares);
                self.squares = Some(squares);
            }
            Layer::Pool => self.pool(),
            Layer::TrunkNorm => self.stream = Some(self.norm(Role::FinalNorm, Signal::Output)),
            Layer::Policy(PolicyHead::Pooled) => self.pooled_policy(),
            Layer::Policy(PolicyHead::FromTo) => self.squares_policy(),
            Layer::Value => self.value(),
        }
    }

    fn width(&self) -> usize {
        self.config.width as usize
    }

    fn stream(&self) -> Buffer {
        self.stream.expect("the embedding comes first")
    }

    fn logits(&self) -> Buffer {
        self.logits.expect("every network has a policy")
    }

    fn values(&self) -> Buffer {
        self.values.expect("every network has a value")
    }

    fn rows(&self, buffer: Buffer) -> Rows {
        self.builder.buffers[buffer.index()].rows
    }

    fn tensor(&self, role: Role) -> Tensor {
        let layer = self.builder.layer;
        let found = self.tensors.iter().find(|t| t.layer == layer && t.role == role);
        *found.unwrap_or_else(|| panic!("{layer:?} has no {role:?}"))
    }

    fn param(&self, role: Role) -> Param {
        self.tensor(role).into()
    }

    /// One matrix of tensors that lie one after the other.
    fn matrix(&self, roles: &[Role]) -> Matrix {
        let first = self.tensor(roles[0]);
        let mut matrix = Matrix { offset: first.offset, outputs: 0, inputs: first.shape.columns() };
        for &role in roles {
            let tensor = self.tensor(role);
            assert_eq!(tensor.offset, matrix.range().end, "{tensor} does not follow its neighbour");
            assert_eq!(tensor.shape.columns(), matrix.inputs, "{tensor} has another input");
            matrix.outputs += tensor.shape.rows();
        }
        matrix
    }

    /// `input · Wᵀ (+ bias) (+ residual)` into a new buffer.
    fn linear(
        &mut self,
        input: View,
        roles: &[Role],
        bias: Option<Role>,
        residual: Option<Buffer>,
        signal: Signal,
    ) -> Buffer {
        let weight = self.matrix(roles);
        let bias = bias.map(|role| self.param(role));
        let rows = self.rows(input.buffer);
        let output = self.builder.buffer(signal, rows, weight.outputs);
        let layer = self.builder.layer;
        self.builder.products.extend(roles.iter().map(|&role| Product { layer, role, input }));
        self.builder.push(Op::Linear { input, output, weight, bias, residual });
        output
    }

    /// RMSNorm of the stream into a new buffer.
    fn norm(&mut self, role: Role, signal: Signal) -> Buffer {
        let input = self.builder.all(self.stream());
        let weight = self.param(role);
        let output = self.builder.buffer(signal, self.rows(input.buffer), self.width());
        self.builder.push(Op::RmsNorm { input, output, weight });
        output
    }

    fn embedding(&mut self) {
        let output = self.builder.buffer(Signal::Output, Rows::Square, self.width());
        self.builder.push(Op::Embed {
            output,
            piece: self.param(Role::Piece),
            square: self.param(Role::Square),
            aux: self.param(Role::Aux),
        });
        self.stream = Some(output);
    }

    fn attention(&mut self, place: Place) {
        let over = match place {
            Place::EncoderBlock(_) => Over::Squares,
            Place::Encoder | Place::TrunkBlock(_) | Place::Head => Over::Sequence,
        };
        let has_bias = over == Over::Squares && self.config.attention_bias;
        let bias = has_bias.then(|| self.param(Role::AttentionBias));
        let heads = self.config.heads as usize;
        let normed = self.norm(Role::Norm1, Signal::Normed);
        let input = self.builder.all(normed);
        let roles = [Role::Query, Role::Key, Role::AttentionValue];
        let qkv = self.linear(input, &roles, None, None, Signal::Qkv);
        let rows = self.rows(qkv);
        let output = self.builder.buffer(Signal::Attended, rows, self.width());
        let log_sum = self.builder.buffer(Signal::LogSum, rows, heads);
        let qkv = self.builder.all(qkv);
        self.builder.push(Op::Attention { qkv, output, log_sum, heads, over, bias });
        self.add_to_stream(output, Role::Output);
    }

    fn feed_forward(&mut self, hidden: usize) {
        let normed = self.norm(Role::Norm2, Signal::Normed);
        let input = self.builder.all(normed);
        let gate_up = self.linear(input, &[Role::Gate, Role::Up], None, None, Signal::GateUp);
        let output = self.builder.buffer(Signal::Hidden, self.rows(gate_up), hidden);
        let input = self.builder.all(gate_up);
        self.builder.push(Op::SwiGlu { input, output });
        self.add_to_stream(output, Role::Down);
    }

    fn ssm(&mut self) {
        let inner = self.config.ssm_inner() as usize;
        let states = self.config.ssm_state as usize;
        let rank = self.config.ssm_rank as usize;
        let normed = self.norm(Role::Norm1, Signal::Normed);
        let input = self.builder.all(normed);
        let in_proj = self.linear(input, &[Role::InProj], None, None, Signal::InProj);
        let convolved = self.builder.buffer(Signal::Convolved, Rows::Position, inner);
        let input = self.builder.columns(in_proj, 0, inner);
        self.builder.push(Op::Conv {
            input,
            output: convolved,
            weight: self.param(Role::ConvWeight),
            bias: self.param(Role::ConvBias),
            taps: self.config.ssm_conv as usize,
        });
        let u = self.builder.all(convolved);
        let x_proj = self.linear(u, &[Role::XProj], None, None, Signal::XProj);
        let low = self.builder.columns(x_proj, 0, rank);
        let step = self.linear(low, &[Role::StepWeight], Some(Role::StepBias), None, Signal::Step);
        let output = self.builder.buffer(Signal::Scanned, Rows::Position, inner);
        self.builder.push(Op::Scan {
            u,
            step: self.builder.all(step),
            bc: self.builder.columns(x_proj, rank, 2 * states),
            z: self.builder.columns(in_proj, inner, inner),
            output,
            decay_log: self.param(Role::DecayLog),
            skip: self.param(Role::Skip),
            states,
        });
        self.add_to_stream(output, Role::OutProj);
    }

    /// `stream += buffer · Wᵀ`.
    fn add_to_stream(&mut self, buffer: Buffer, role: Role) {
        let input = self.builder.all(buffer);
        let sum = self.linear(input, &[role], None, self.stream, Signal::Output);
        self.stream = Some(sum);
    }

    fn pool(&mut self) {
        let input = self.builder.all(self.stream());
        let output = self.builder.buffer(Signal::Output, Rows::Position, self.width());
        self.builder.push(Op::Pool { input, output });
        self.stream = Some(output);
    }

    fn pooled_policy(&mut self) {
        let input = self.builder.all(self.stream());
        let output = self.builder.buffer(Signal::Output, Rows::Legal, 1);
        let (layer, role) = (self.builder.layer, Role::PolicyWeight);
        self.builder.products.push(Product { layer, role, input });
        let (weight, bias) = (self.matrix(&[role]), self.param(Role::PolicyBias));
        self.builder.push(Op::LegalLinear { input, output, weight, bias });
        self.logits = Some(output);
    }

    fn squares_policy(&mut self) {
        let input = self.builder.all(self.stream());
        let context = self.linear(input, &[Role::Context], None, None, Signal::Context);
        let squares = self.squares.expect("the encoder comes before the heads");
        let output = self.builder.buffer(Signal::Squares, Rows::Square, self.width());
        let context = self.builder.all(context);
        self.builder.push(Op::AddContext { squares, context, output });
        let x = self.builder.all(output);
        let (from, to, promotion) = (
            self.linear(x, &[Role::FromWeight], Some(Role::FromBias), None, Signal::From),
            self.linear(x, &[Role::ToWeight], Some(Role::ToBias), None, Signal::To),
            self.linear(
                x,
                &[Role::PromotionWeight],
                Some(Role::PromotionBias),
                None,
                Signal::Promotion,
            ),
        );
        let output = self.builder.buffer(Signal::Output, Rows::Legal, 1);
        let (from, to) = (self.builder.all(from), self.builder.all(to));
        let promotion = self.builder.all(promotion);
        self.builder.push(Op::FromTo { from, to, promotion, output });
        self.logits = Some(output);
    }

    fn value(&mut self) {
        let input = self.builder.all(self.stream());
        let (weight, bias) = (Role::Value1Weight, Role::Value1Bias);
        let hidden = self.linear(input, &[weight], Some(bias), None, Signal::Preactivation);
        let hidden = self.pointwise(Pointwise::Gelu, hidden, Signal::Hidden);
        let input = self.builder.all(hidden);
        let (weight, bias) = (Role::Value2Weight, Role::Value2Bias);
        let value = self.linear(input, &[weight], Some(bias), None, Signal::Value2);
        self.values = Some(self.pointwise(Pointwise::Tanh, value, Signal::Output));
    }

    fn pointwise(&mut self, function: Pointwise, buffer: Buffer, signal: Signal) -> Buffer {
        let input = self.builder.all(buffer);
        let output = self.builder.buffer(signal, self.rows(buffer), input.width);
        self.builder.push(Op::Pointwise { function, input, output });
        output
    }
}
