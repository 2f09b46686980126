//! The one tensor needed of a safetensors file: a length, a JSON header, raw numbers.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::static_model::ModelError;

/// The name of the tensor with one row per piece.
const EMBEDDINGS: &str = "embeddings";

/// Rows of numbers.
#[derive(Debug)]
pub(crate) struct Table {
    numbers: Vec<f32>,
    rows: usize,
    width: usize,
}

impl Table {
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// One row; empty if there is no such row.
    pub(crate) fn row(&self, row: u32) -> &[f32] {
        let from = row as usize * self.width;
        let range = from..from + self.width;
        self.numbers.get(range).unwrap_or_default()
    }
}

#[derive(Deserialize)]
struct Tensor {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: (usize, usize),
}

/// Reads the embeddings of a file.
pub(crate) fn embeddings(file: &[u8]) -> Result<Table, ModelError> {
    let bad = |what: &str| ModelError::Tensors(what.to_owned());
    let (length, rest) = file
        .split_first_chunk::<8>()
        .ok_or_else(|| bad("there is no header"))?;
    let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
    let (header, data) = rest
        .split_at_checked(length)
        .ok_or_else(|| bad("the header is cut short"))?;
    let header: BTreeMap<String, serde_json::Value> =
        serde_json::from_slice(header).map_err(|it| bad(&format!("bad header, {it}")))?;
    let tensor = header.get(EMBEDDINGS).ok_or_else(|| {
        let names: Vec<String> = header.keys().map(|it| format!("`{it}`")).collect();
        ModelError::NoEmbeddings(names.join(", "))
    })?;
    let tensor = Tensor::deserialize(tensor).map_err(|it| bad(&format!("bad header, {it}")))?;
    let [rows, width] = tensor.shape[..] else {
        return Err(bad("the embeddings are not rows and columns"));
    };
    let (from, to) = tensor.data_offsets;
    let data = data
        .get(from..to)
        .ok_or_else(|| bad("the embeddings are cut short"))?;
    let numbers = numbers(&tensor.dtype, data).ok_or_else(|| {
        bad(&format!(
            "numbers of type `{}` are not supported",
            tensor.dtype
        ))
    })?;
    if rows.checked_mul(width) != Some(numbers.len()) {
        return Err(bad("the embeddings do not have the size their shape says"));
    }
    Ok(Table {
        numbers,
        rows,
        width,
    })
}

fn numbers(dtype: &str, data: &[u8]) -> Option<Vec<f32>> {
    let two = || data.as_chunks::<2>().0.iter();
    Some(match dtype {
        "F32" => {
            let four = data.as_chunks::<4>().0.iter();
            four.map(|it| f32::from_le_bytes(*it)).collect()
        }
        "F16" => two().map(|it| half(u16::from_le_bytes(*it))).collect(),
        "BF16" => two()
            .map(|it| f32::from_bits(u32::from(u16::from_le_bytes(*it)) << 16))
            .collect(),
        "I8" => data.iter().map(|it| f32::from(it.cast_signed())).collect(),
        _ => return None,
    })
}

/// A number of sixteen bits: a sign, five bits of exponent, ten of fraction.
fn half(bits: u16) -> f32 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let exponent = i32::from(bits >> 10 & 0x1f);
    let fraction = f32::from(bits & 0x3ff) / 1024.0;
    sign * match exponent {
        0 => fraction * 2_f32.powi(-14),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        _ => (1.0 + fraction) * 2_f32.powi(exponent - 15),
    }
}
