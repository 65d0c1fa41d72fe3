//! Writing a model file.
use kibitzer_core::net::{
    Config, Precision, hash,
    kbz::{
        ALIGNMENT, Element, Entry, Header, MAGIC, PREFIX, Section, VERSION, align, checksum,
        sections,
    },
};

/// The integers of a section.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Signed bytes.
    I8(Vec<i8>),
    /// Halfwords.
    I16(Vec<i16>),
    /// Words.
    I32(Vec<i32>),
}

impl Values {
    fn shape(&self) -> (Element, usize) {
        match self {
            Values::I8(values) => (Element::I8, values.len()),
            Values::I16(values) => (Element::I16, values.len()),
            Values::I32(values) => (Element::I32, values.len()),
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Values::I8(values) => out.extend(values.iter().map(|&x| x as u8)),
            Values::I16(values) => out.extend(values.iter().flat_map(|x| x.to_le_bytes())),
            Values::I32(values) => out.extend(values.iter().flat_map(|x| x.to_le_bytes())),
        }
    }
}

/// The bytes of the file whose sections, in the order of the core's table for this precision,
/// hold `contents`.
///
/// # Panics
/// If a section's integers are not of the kind and number that the table says.
pub fn write(config: &Config, precision: Precision, contents: &[Values]) -> Vec<u8> {
    let table: Vec<Section> = sections(config, precision.weights).collect();
    assert_eq!(table.len(), contents.len(), "number of sections");
    for (section, values) in table.iter().zip(contents) {
        assert_eq!((section.element, section.count), values.shape(), "{:?}", section.part);
    }
    let head = header(config, precision, &table);
    let mut file = Vec::new();
    file.extend(MAGIC);
    file.extend(VERSION.to_le_bytes());
    file.extend([0; 2]);
    file.extend([0; 4]); // the length, known at the end
    file.extend((head.len() as u32).to_le_bytes());
    assert_eq!(file.len(), PREFIX);
    file.extend(head);
    for values in contents {
        file.resize(align(file.len()), 0);
        values.write(&mut file);
    }
    file.resize(align(file.len()), 0);
    let length = u32::try_from(file.len() + 4).expect("a model file is smaller than 4 GiB");
    file[8..12].copy_from_slice(&length.to_le_bytes());
    file.extend(checksum(&file).to_le_bytes());
    file
}

/// The header and the sections' entries. The entries' offsets depend on the header's length,
/// which depends on how many bytes the offsets take: repeated until it no longer changes.
fn header(config: &Config, precision: Precision, table: &[Section]) -> Vec<u8> {
    let sections = table.len() as u32;
    let header = Header { config: config.clone(), hash: hash(config), precision, sections };
    let start = encode(&header);
    let mut offset = ALIGNMENT;
    loop {
        let mut bytes = start.clone();
        let mut at = offset;
        for section in table {
            let length = section.bytes();
            bytes.extend(encode(&Entry { offset: at as u32, length: length as u32 }));
            at += align(length);
        }
        let needed = align(PREFIX + bytes.len());
        if needed == offset {
            return bytes;
        }
        offset = needed;
    }
}

fn encode(value: &impl serde::Serialize) -> Vec<u8> {
    let mut buffer = [0; 512];
    let bytes = postcard::to_slice(value, &mut buffer).expect("headers are shorter than 512 bytes");
    bytes.to_vec()
}

#[cfg(test)]
mod tests {
    use kibitzer_core::net::{Model, WeightBits};

    use super::*;

    /// Numbers of every kind, small ones where a shift may stand.
    fn contents(config: &Config, precision: Precision) -> Vec<Values> {
        let of = |section: Section| {
            let numbers = (0..section.count as i32).map(|i| 1 + (i * 7919) % 1013);
            match section.element {
                Element::I8 => Values::I8(numbers.map(|n| n as i8).collect()),
                Element::I16 => Values::I16(numbers.map(|n| (n * 31) as i16).collect()),
                Element::I32 => Values::I32(numbers.collect()),
            }
        };
        sections(config, precision.weights).map(of).collect()
    }

    #[test]
    fn every_section_comes_back() {
        let small = Config { width: 10, heads: 2, encoder_blocks: 1, ..Config::default() };
        let config = Config { trunk: "AS".try_into().unwrap(), attention_bias: true, ..small };
        for weights in [WeightBits::Eight, WeightBits::Four] {
            let precision = Precision { weights, ..Precision::default() };
            let contents = contents(&config, precision);
            let file = write(&config, precision, &contents);
            let model = Model::parse_as(&file, &config).unwrap();
            assert_eq!((model.config(), model.precision()), (&config, precision));
            holds(&file, &contents);
        }
    }

    /// Whether the file's entries lead to the contents.
    fn holds(file: &[u8], contents: &[Values]) {
        let (header, mut rest) = postcard::take_from_bytes::<Header>(&file[PREFIX..]).unwrap();
        assert_eq!(header.sections as usize, contents.len());
        for values in contents {
            let (entry, after) = postcard::take_from_bytes::<Entry>(rest).unwrap();
            rest = after;
            assert!((entry.offset as usize).is_multiple_of(ALIGNMENT));
            let mut bytes = Vec::new();
            values.write(&mut bytes);
            assert_eq!(file[entry.offset as usize..][..entry.length as usize], bytes);
        }
    }
}
