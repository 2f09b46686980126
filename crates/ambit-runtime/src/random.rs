//! Short random words for ids that only have to be unique.

const ALPHABET: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";

/// So many characters of an alphabet without look-alikes.
pub fn random_word(length: usize) -> String {
    let mut bytes = vec![0u8; length];
    if getrandom::fill(&mut bytes).is_err() {
        // No entropy source: time and address still keep two words apart, and nothing secret hangs on it.
        let seed = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .map_or(0, |it| it.as_nanos());
        for (n, byte) in bytes.iter_mut().enumerate() {
            *byte = (seed >> (n % 16)) as u8;
        }
    }
    bytes
        .iter()
        .filter_map(|byte| ALPHABET.get(usize::from(byte % 32)))
        .map(|c| char::from(*c))
        .collect()
}
