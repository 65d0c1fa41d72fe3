//! Frame, header, hash, and the sections in their order.
use super::numbers::wide;

/// What the header says of the network.
pub struct Shape {
    pub width: usize,
    pub heads: usize,
    pub encoder_blocks: usize,
    pub trunk: Vec<u8>,
    pub ffn_mult: usize,
    pub ssm_expand: usize,
    pub ssm_state: usize,
    pub ssm_rank: usize,
    ssm_conv: usize,
    pub ssm_ffn_mult: usize,
    pub mover: bool,
    pub from_to: bool,
    pub policy_dim: usize,
    pub attention_bias: bool,
    /// Whether the large matrices have weights of 4 bits.
    pub nibbles: bool,
    /// Whether the squares' matrices read 11 bits: after a norm, and else.
    eleven: [bool; 2],
}

impl Shape {
    /// w(D).
    pub fn wide(&self) -> i128 {
        wide(self.width)
    }

    pub fn inner(&self) -> usize {
        self.ssm_expand * self.width
    }

    /// The limit of what a matrix over the squares reads, after a norm or else.
    pub fn squares_input(&self, columns: usize, normed: bool) -> i128 {
        if self.eleven[usize::from(!normed)] { wide(columns).min(1023) } else { 127 }
    }

    /// The text of which the hash is.
    fn text(&self) -> String {
        let mut text = format!("heads {} mover {};", self.heads, self.mover);
        let mut add = |prefix: &str, name: &str, shape: &[usize]| {
            let sizes: Vec<_> = shape.iter().map(usize::to_string).collect();
            text += &format!("{prefix}{name} [{}];", sizes.join(", "));
        };
        let (d, i, r, n, p) =
            (self.width, self.inner(), self.ssm_rank, self.ssm_state, self.policy_dim);
        add("encoder.", "piece.weight", &[13, d]);
        add("encoder.", "square.weight", &[64, d]);
        add("encoder.", "aux.weight", &[d, 7]);
        let encoder = (0..self.encoder_blocks).map(|b| (format!("encoder.blocks.{b}."), b'E'));
        let trunk = self.trunk.iter().enumerate().map(|(b, &kind)| (format!("trunk.{b}."), kind));
        for (prefix, kind) in encoder.chain([(String::new(), 0)]).chain(trunk) {
            if kind == 0 {
                add("encoder.", "norm.weight", &[d]);
                continue;
            }
            add(&prefix, "norm1.weight", &[d]);
            if kind == b'S' {
                add(&prefix, "ssm.a_log", &[i, n]);
                add(&prefix, "ssm.skip", &[i]);
                add(&prefix, "ssm.in_proj.weight", &[2 * i, d]);
                add(&prefix, "ssm.conv.weight", &[i, 1, self.ssm_conv]);
                add(&prefix, "ssm.conv.bias", &[i]);
                add(&prefix, "ssm.x_proj.weight", &[r + 2 * n, i]);
                add(&prefix, "ssm.step_proj.weight", &[i, r]);
                add(&prefix, "ssm.step_proj.bias", &[i]);
                add(&prefix, "ssm.out_proj.weight", &[d, i]);
            } else {
                if kind == b'E' && self.attention_bias {
                    add(&prefix, "attn.bias", &[self.heads, 64, 64]);
                }
                for name in ["attn.q.weight", "attn.k.weight", "attn.v.weight", "attn.o.weight"] {
                    add(&prefix, name, &[d, d]);
                }
            }
            let h = d * if kind == b'S' { self.ssm_ffn_mult } else { self.ffn_mult };
            add(&prefix, "norm2.weight", &[d]);
            add(&prefix, "ffn.gate.weight", &[h, d]);
            add(&prefix, "ffn.up.weight", &[h, d]);
            add(&prefix, "ffn.down.weight", &[d, h]);
        }
        add("", "norm.weight", &[d]);
        if self.from_to {
            add("policy.", "context.weight", &[d, d]);
            for (name, rows) in [("from_square", p), ("to_square", p), ("promotion", 9)] {
                add("policy.", &format!("{name}.weight"), &[rows, d]);
                add("policy.", &format!("{name}.bias"), &[rows]);
            }
        } else {
            add("policy.", "weight", &[4672, d]);
            add("policy.", "bias", &[4672]);
        }
        add("", "value1.weight", &[d / 2, d]);
        add("", "value1.bias", &[d / 2]);
        add("", "value2.weight", &[1, d / 2]);
        add("", "value2.bias", &[1]);
        text
    }
}

/// FNV-1a.
fn fnv(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The bytes that are left of a header.
struct Header<'a>(&'a [u8]);

impl Header<'_> {
    fn byte(&mut self) -> u8 {
        let (&first, rest) = self.0.split_first().expect("a header that ends later");
        self.0 = rest;
        first
    }

    fn varint(&mut self) -> u64 {
        let byte = self.byte();
        let rest = if byte < 0x80 { 0 } else { self.varint() << 7 };
        rest | u64::from(byte & 0x7f)
    }

    fn size(&mut self) -> usize {
        self.varint() as usize
    }

    fn flag(&mut self) -> bool {
        self.byte() == 1
    }

    fn shape(&mut self) -> (Shape, u64) {
        let [width, heads, encoder_blocks, letters] = [(); 4].map(|()| self.size());
        let trunk = (0..letters).map(|_| self.byte()).collect();
        let [ffn_mult, ssm_expand, ssm_state, ssm_rank, ssm_conv, ssm_ffn_mult] =
            [(); 6].map(|()| self.size());
        let [mover, from_to] = [(); 2].map(|()| self.flag());
        let (policy_dim, attention_bias) = (self.size(), self.flag());
        let (hash, nibbles) = (self.varint(), self.flag());
        let eleven = match self.byte() {
            0 => [false, false],
            1 => [true, true],
            2 => [false, true],
            other => panic!("no bits {other}"),
        };
        let shape = Shape {
            width,
            heads,
            encoder_blocks,
            trunk,
            ffn_mult,
            ssm_expand,
            ssm_state,
            ssm_rank,
            ssm_conv,
            ssm_ffn_mult,
            mover,
            from_to,
            policy_dim,
            attention_bias,
            nibbles,
            eleven,
        };
        (shape, hash)
    }
}

/// A whole and undamaged file.
pub struct File<'a> {
    pub shape: Shape,
    sections: &'a [u8],
}

impl<'a> File<'a> {
    pub fn read(bytes: &'a [u8]) -> File<'a> {
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
        let end = bytes.len() - 4;
        assert_eq!(bytes[..4], [0x4b, 0x42, 0x5a, 0x1a]);
        assert_eq!(
            (word(8), word(end)),
            (bytes.len(), crate::common::crc32(&bytes[..end]) as usize)
        );
        let after = 16 + word(12);
        let mut header = Header(&bytes[16..after]);
        let (shape, hash) = header.shape();
        assert_eq!(hash, fnv(&shape.text()));
        let first = after.next_multiple_of(16);
        let mut place = first;
        for _ in 0..header.varint() {
            let (offset, length) = (header.size(), header.size());
            assert_eq!(offset, place);
            place = (offset + length).next_multiple_of(16);
        }
        assert_eq!((place, header.0.len()), (end, 0));
        File { shape, sections: &bytes[first..end] }
    }

    pub fn sections(&self) -> Sections<'a> {
        Sections { bytes: self.sections, at: 0 }
    }
}

/// Sections, one after another.
pub struct Sections<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Sections<'a> {
    pub fn bytes(&mut self, length: usize) -> &'a [u8] {
        let section = &self.bytes[self.at..self.at + length];
        self.at = (self.at + length).next_multiple_of(16);
        section
    }

    pub fn halves(&mut self, count: usize) -> Vec<i128> {
        let halves = self.bytes(2 * count).chunks(2);
        halves.map(|half| i16::from_le_bytes(half.try_into().unwrap()).into()).collect()
    }

    pub fn words(&mut self, count: usize) -> Vec<i128> {
        let words = self.bytes(4 * count).chunks(4);
        words.map(|word| i32::from_le_bytes(word.try_into().unwrap()).into()).collect()
    }

    pub fn is_at_end(&self) -> bool {
        self.at == self.bytes.len()
    }
}
