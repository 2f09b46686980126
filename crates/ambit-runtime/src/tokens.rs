//! What a capability costs a model's context, by a real tokenizer.
//!
//! Building the tokenizer takes a tenth of a second and tens of megabytes, so it is built on
//! first use, and counts are kept with the descriptor cache: a warm start counts nothing.

use std::sync::OnceLock;

use ambit_core::descriptor::TokenCosts;
use ambit_core::id::Kind;
use ambit_core::manifest::CapabilityManifest;
use ambit_core::projection::{ToolFormat, card, index_line, resource_line, tool};
use ambit_core::wire::{Naming, wire_name};
use serde_json::Value;
use tiktoken_rs::CoreBPE;

/// Texts are counted in pieces of this size, so that one of a single endless word takes no longer
/// than any other.
const PIECE: usize = 64 << 10;
/// How much of a text is counted. The rest is taken for a token per byte, the most it can be:
/// nothing fits into a budget by being too long to be counted.
const COUNTED: usize = 1 << 20;

fn tokenizer() -> Option<&'static CoreBPE> {
    static TOKENIZER: OnceLock<Option<CoreBPE>> = OnceLock::new();
    TOKENIZER
        .get_or_init(|| tiktoken_rs::o200k_base().ok())
        .as_ref()
}

/// How many tokens a text has, or a few more.
pub fn count(text: &str) -> u32 {
    let (mut rest, uncounted) = text.split_at(text.floor_char_boundary(COUNTED));
    let mut tokens = uncounted.len();
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.floor_char_boundary(PIECE));
        tokens += match tokenizer() {
            Some(tokenizer) => tokenizer.encode_ordinary(piece).len(),
            None => piece.len().div_ceil(4),
        };
        rest = after;
    }
    u32::try_from(tokens).unwrap_or(u32::MAX)
}

/// What stands between two entries of a list.
const SEPARATOR: u32 = 1;

/// What a manifest costs, per layer, as it is written down in the wordiest format: no projection
/// costs more.
pub fn costs(manifest: &CapabilityManifest) -> TokenCosts {
    let name = longest_name(manifest);
    if manifest.id.kind() == Kind::Prompt {
        // For a person to choose; no model reads it.
        return TokenCosts::default();
    }
    let written = |text: Value| count(&text.to_string()).saturating_add(SEPARATOR);
    if manifest.id.kind() == Kind::Resource {
        // Its content is paid for when it is read.
        let handle = written(resource_line(manifest).into());
        return TokenCosts {
            index: handle,
            card: handle,
            full: handle,
        };
    }
    TokenCosts {
        index: written(index_line(manifest, &name).into()),
        card: written(card(manifest, &name).into()),
        full: match manifest.id.kind() {
            Kind::Skill => count(&manifest.search_text),
            // Messages are never wordier than function tools.
            _ => [ToolFormat::OpenAi, ToolFormat::Mcp]
                .map(|format| written(tool(manifest, &name, format)))
                .into_iter()
                .fold(0, u32::max),
        },
    }
}

/// A bare name may have to give way, so it counts only where it is the longer.
fn longest_name(manifest: &CapabilityManifest) -> String {
    let (prefixed, bare) = (wire_name(&manifest.id), manifest.id.name());
    match manifest.naming {
        Naming::Bare if bare.len() > prefixed.len() => bare.to_owned(),
        _ => prefixed,
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
        // What begins cheap and goes on dear is not taken for cheap.
        let sly = format!("{}{}", " ".repeat(80_000), "\u{6578}".repeat(20_000));
        assert!(count(&sly) >= 20_000, "{}", count(&sly));
        assert!(count(&"\u{e9}".repeat(2 << 20)) > 3 << 20);
    }
}
