//! Flat vectors in the network's order as safetensors, under PyTorch's names and shapes.
use std::{borrow::Cow, io::Write, path::Path};

use anyhow::Result;
use kibitzer_core::net::{self, Config, Tensor};
use safetensors::{Dtype, SafeTensors};
use serde_json::json;

use super::{config_from_json, config_to_json, hash_text};
use crate::error::UserError;

const MEND: &str = "name a file that kibitzer or the reference's save has written";

/// Writes the configuration and one or more vectors of all parameters; each vector's prefix
/// stands before its tensors' names.
///
/// The header is written here and not by the library, whose metadata has no fixed order: equal
/// networks are equal files.
///
/// # Errors
/// The system's.
pub fn write_tensors(
    output: &mut (impl Write + ?Sized),
    config: &Config,
    parts: &[(&str, &[f32])],
) -> Result<()> {
    let mut header = serde_json::Map::new();
    let metadata = json!({"config": config_to_json(config), "hash": hash_text(config)});
    header.insert("__metadata__".into(), metadata);
    let mut offset = 0;
    for (prefix, _) in parts {
        for tensor in net::tensors(config) {
            let end = offset + size_of::<f32>() * tensor.shape.len();
            let entry = json!({
                "dtype": "F32", "shape": tensor.shape.dims(), "data_offsets": [offset, end],
            });
            header.insert(format!("{prefix}{tensor}"), entry);
            offset = end;
        }
    }
    let mut header = serde_json::to_vec(&header)?;
    // The data starts on a multiple of eight bytes.
    header.resize(header.len().next_multiple_of(8), b' ');
    output.write_all(&(header.len() as u64).to_le_bytes())?;
    output.write_all(&header)?;
    for (_, values) in parts {
        output.write_all(&little_endian(values))?;
    }
    Ok(())
}

/// Reads what [`write_tensors`] or the reference's `save` wrote; `prefixes` names the vectors.
///
/// # Errors
/// [`UserError`] that names `path` and the tensor or field at fault.
pub fn read_tensors(
    bytes: &[u8],
    path: &Path,
    prefixes: &[&str],
) -> Result<(Config, Vec<Vec<f32>>), UserError> {
    let refuse = |what: String| UserError::new(what, path.display(), MEND);
    let (_, header) = SafeTensors::read_metadata(bytes)
        .map_err(|error| refuse(format!("not a whole safetensors file ({error})")))?;
    let file = SafeTensors::deserialize(bytes)
        .map_err(|error| refuse(format!("not a whole safetensors file ({error})")))?;
    let metadata = header.metadata().as_ref();
    let field = |name: &str| metadata.and_then(|metadata| metadata.get(name));
    let text = field("config").ok_or_else(|| refuse("no config in its metadata".into()))?;
    let config = config_from_json(text).map_err(refuse)?;
    let (found, wanted) = (field("hash"), hash_text(&config));
    if let Some(found) = found.filter(|&found| *found != wanted) {
        return Err(refuse(format!(
            "architecture hash {found} where this program's tables give {wanted}"
        )));
    }
    let tensors = net::tensors(&config).count() * prefixes.len();
    if file.len() != tensors {
        return Err(refuse(format!(
            "{} tensors where its configuration asks for {tensors}",
            file.len()
        )));
    }
    let vector = |prefix: &&str| -> Result<Vec<f32>, UserError> {
        // A configuration may promise more than the file has.
        let there = bytes.len() / size_of::<f32>();
        let mut values = Vec::with_capacity(net::parameter_count(&config).min(there));
        for tensor in net::tensors(&config) {
            append(&mut values, &file, &format!("{prefix}{tensor}"), &tensor).map_err(refuse)?;
        }
        Ok(values)
    };
    let parts = prefixes.iter().map(vector).collect::<Result<_, _>>()?;
    Ok((config, parts))
}

/// Appends the tensor called `name`, which must have the shape of `tensor`.
fn append(
    values: &mut Vec<f32>,
    file: &SafeTensors<'_>,
    name: &str,
    tensor: &Tensor,
) -> Result<(), String> {
    let view = file.tensor(name).map_err(|_| format!("no tensor {name}"))?;
    let found = view.shape();
    let wanted: Vec<usize> = tensor.shape.dims().iter().map(|&d| d as usize).collect();
    if found != wanted {
        return Err(format!(
            "tensor {name} has shape {found:?} where its configuration asks for {wanted:?}"
        ));
    }
    if view.dtype() != Dtype::F32 {
        return Err(format!("tensor {name} is {:?}, not F32", view.dtype()));
    }
    let start = values.len();
    let numbers = view.data().chunks_exact(4);
    values.extend(numbers.map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])));
    match values[start..].iter().find(|x| !x.is_finite()) {
        Some(x) => Err(format!("tensor {name} holds {x}")),
        None => Ok(()),
    }
}

/// The bytes of `values` as the file has them.
fn little_endian(values: &[f32]) -> Cow<'_, [u8]> {
    if cfg!(target_endian = "little") {
        Cow::Borrowed(bytemuck::cast_slice(values))
    } else {
        Cow::Owned(values.iter().flat_map(|x| x.to_le_bytes()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> Config {
        let small = Config { width: 8, heads: 2, encoder_blocks: 1, ..Config::default() };
        Config { trunk: "SA".try_into().unwrap(), ssm_state: 2, ssm_rank: 2, ..small }
    }

    fn written(parts: &[(&str, &[f32])]) -> Vec<u8> {
        let mut bytes = Vec::new();
        write_tensors(&mut bytes, &config(), parts).unwrap();
        bytes
    }

    fn values() -> Vec<f32> {
        (0..net::parameter_count(&config())).map(|i| i as f32 / 7.0).collect()
    }

    /// The refusal of the bytes, which must come with the path and the mend.
    fn refusal(bytes: &[u8]) -> String {
        let error = read_tensors(bytes, Path::new("m"), &[""]).unwrap_err().to_string();
        error.strip_suffix(&format!(", m: {MEND}")).expect("path and mend").to_owned()
    }

    /// The file with a piece of its header replaced by another of the same length.
    fn replaced(from: &str, to: &str) -> Vec<u8> {
        assert_eq!(from.len(), to.len());
        let mut bytes = written(&[("", &values())]);
        let at = bytes.windows(from.len()).position(|w| w == from.as_bytes()).expect("in the file");
        bytes[at..at + from.len()].copy_from_slice(to.as_bytes());
        bytes
    }

    #[test]
    fn vectors_come_back() {
        let (a, b) = (values(), values().iter().map(|x| -x).collect::<Vec<_>>());
        let bytes = written(&[("m.", &a), ("v.", &b)]);
        let read = read_tensors(&bytes, Path::new("m"), &["m.", "v."]).unwrap();
        assert_eq!(read, (config(), vec![a, b]));
    }

    #[test]
    fn the_library_reads_it_under_pytorch_s_names() {
        let bytes = written(&[("", &values())]);
        let file = SafeTensors::deserialize(&bytes).unwrap();
        let conv = file.tensor("trunk.0.ssm.conv.weight").unwrap();
        assert_eq!(conv.shape(), [16, 1, 4]);
        let first = file.tensor("encoder.piece.weight").unwrap();
        assert_eq!(first.data()[4..8], (1f32 / 7.0).to_le_bytes());
    }

    #[test]
    fn whatever_is_wrong_is_named() {
        let whole = written(&[("", &values())]);
        assert!(refusal(&whole[..whole.len() - 4]).starts_with("not a whole safetensors file ("));
        assert!(refusal(b"PK").starts_with("not a whole safetensors file ("));
        assert_eq!(refusal(&replaced("\"config\"", "\"confix\"")), "no config in its metadata");
        assert_eq!(
            refusal(&replaced("encoder.piece.weight", "encoder.pieces.weigh")),
            "no tensor encoder.piece.weight"
        );
        assert_eq!(
            refusal(&replaced("\"shape\":[13,8]", "\"shape\":[8,13]")),
            "tensor encoder.piece.weight has shape [8, 13] where its configuration asks for [13, 8]"
        );
        let mut infinite = whole.clone();
        let end = infinite.len();
        infinite[end - 4..].copy_from_slice(&f32::INFINITY.to_le_bytes());
        assert_eq!(refusal(&infinite), "tensor value2.bias holds inf");
    }

    #[test]
    fn another_architecture_is_refused_with_both_hashes() {
        let own = hash_text(&config());
        let other = "0123456789abcdef";
        assert_eq!(
            refusal(&replaced(&own, other)),
            format!("architecture hash {other} where this program's tables give {own}")
        );
    }
}
