//! What a capability costs a model's context, by a real tokenizer.
//!
//! Building the tokenizer takes a tenth of a second and tens of megabytes, so it is built on
//! first use, and counts are kept with the descriptor cache: a warm start counts nothing.

use std::sync::OnceLock;

use ambit_core::descriptor::TokenCosts;
use ambit_core::id::Kind;
use ambit_core::manifest::CapabilityManifest;
use ambit_core::projection::{ToolFormat, card, index_line, tool};
use ambit_core::wire::wire_name;
use tiktoken_rs::CoreBPE;

/// Texts longer than this are counted in part and scaled: a tokenizer is no faster for being fed
/// a 50,000-character description whole, and nobody needs its last digit.
const COUNTED_WHOLE: usize = 64 << 10;

fn tokenizer() -> Option<&'static CoreBPE> {
    static TOKENIZER: OnceLock<Option<CoreBPE>> = OnceLock::new();
    TOKENIZER
        .get_or_init(|| tiktoken_rs::o200k_base().ok())
        .as_ref()
}

/// How many tokens a text has.
pub fn count(text: &str) -> u32 {
    let part = text
        .get(..text.floor_char_boundary(COUNTED_WHOLE))
        .unwrap_or(text);
    let counted = match tokenizer() {
        Some(tokenizer) => tokenizer.encode_ordinary(part).len(),
        None => part.len().div_ceil(4),
    };
    let scaled = if part.is_empty() {
        0
    } else {
        counted * text.len() / part.len()
    };
    u32::try_from(scaled).unwrap_or(u32::MAX)
}

/// What stands between two entries of a list.
const SEPARATOR: u32 = 1;

/// What a manifest costs, per layer, in the wordiest format: no projection costs more.
pub fn costs(manifest: &CapabilityManifest) -> TokenCosts {
    let name = wire_name(&manifest.id);
    TokenCosts {
        index: count(&index_line(manifest, &name)) + SEPARATOR,
        card: count(&card(manifest, &name)) + SEPARATOR,
        full: match manifest.id.kind() {
            Kind::Skill => count(&manifest.search_text),
            _ => count(&tool(manifest, &name, ToolFormat::OpenAi).to_string()) + SEPARATOR,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counting_is_real_and_bounded() {
        assert_eq!(count(""), 0);
        assert_eq!(count("hello world"), 2);
        let long = "word ".repeat(100_000);
        assert!(
            (90_000..110_000).contains(&count(&long)),
            "{}",
            count(&long)
        );
    }
}
