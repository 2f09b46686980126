//! Texts of strangers, made fit to be looked at.

/// Whether a character makes text read in another order than it stands.
pub fn is_bidirectional(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' | '\u{061c}')
}

/// One line of a text somebody else wrote: nothing in it may move the cursor, turn words around or
/// hide what will run.
pub fn printable(line: &str) -> String {
    let shown = |c: char| match c {
        c if c.is_control() || is_bidirectional(c) => char::REPLACEMENT_CHARACTER,
        c => c,
    };
    line.chars().map(shown).collect()
}
