//! What is kept of an output of any length: its beginning and its end.

use std::collections::VecDeque;

use tokio::io::{AsyncRead, AsyncReadExt as _};

/// How much is kept of each end. A program tells what it does first and what went wrong last.
pub(super) const HALF: usize = 256 * 1024;
const READ: usize = 16 * 1024;

/// The kept parts of one stream.
#[derive(Debug, Default)]
pub(super) struct Kept {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    dropped: u64,
}

impl Kept {
    /// Reads a stream to its end, whatever its length: a full pipe would stop the program.
    pub(super) async fn drain(&mut self, stream: Option<impl AsyncRead + Unpin>) {
        let Some(mut stream) = stream else { return };
        let mut buffer = vec![0; READ];
        // A stream that breaks has ended.
        while let Ok(count @ 1..) = stream.read(&mut buffer).await {
            self.push(buffer.get(..count).unwrap_or_default());
        }
    }

    fn push(&mut self, bytes: &[u8]) {
        let room = HALF.saturating_sub(self.head.len()).min(bytes.len());
        let (head, tail) = bytes.split_at(room);
        self.head.extend_from_slice(head);
        self.tail.extend(tail);
        let over = self.tail.len().saturating_sub(HALF);
        self.tail.drain(..over);
        self.dropped += over as u64;
    }

    /// Whether something is missing in the middle.
    pub(super) fn is_cut(&self) -> bool {
        self.dropped > 0
    }

    /// As text, with a line where something is missing.
    pub(super) fn into_text(self) -> String {
        let Kept {
            mut head,
            tail,
            dropped,
        } = self;
        if dropped > 0 {
            let note = format!("\n[… {dropped} bytes dropped here …]\n");
            head.extend_from_slice(note.as_bytes());
        }
        let (a, b) = tail.as_slices();
        head.extend_from_slice(a);
        head.extend_from_slice(b);
        String::from_utf8(head)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn both_ends_are_kept(sizes in prop::collection::vec(1usize..300_000, 0..6)) {
            let whole: Vec<u8> = (0..sizes.iter().sum::<usize>()).map(|it| b'a' + (it % 23) as u8).collect();
            let mut kept = Kept::default();
            let mut rest = whole.as_slice();
            for size in sizes {
                let (now, later) = rest.split_at(size);
                kept.push(now);
                rest = later;
            }
            let dropped = whole.len().saturating_sub(2 * HALF);
            prop_assert_eq!(kept.is_cut(), dropped > 0);
            let text = kept.into_text();
            if dropped == 0 {
                prop_assert!(text.as_bytes() == whole);
            } else {
                let note = format!("\n[… {dropped} bytes dropped here …]\n");
                prop_assert_eq!(text.len(), 2 * HALF + note.len());
                prop_assert!(text.as_bytes().starts_with(&whole[..HALF]));
                prop_assert!(text.as_bytes().ends_with(&whole[whole.len() - HALF..]));
                prop_assert!(text[HALF..].starts_with(&note));
            }
        }
    }
}
