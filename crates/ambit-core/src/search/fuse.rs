//! How meaning joins words: by convex fusion, half each, not by ranks.

/// The scale of meaning where no word matched anything.
const ALONE: u32 = 1 << 16;

/// What each document's nearness adds, by document. The nearest gets as much as the best by words, the
/// farthest nothing: both scales from zero to the same top, added, which orders exactly like
/// their mean. Integers throughout.
pub(crate) fn fuse(best_by_words: u32, nearness: &[(u32, i32)]) -> Vec<(u32, u32)> {
    let top = if best_by_words == 0 {
        ALONE
    } else {
        best_by_words
    };
    let near = nearness.iter().map(|it| i64::from(it.1));
    let (Some(min), Some(max)) = (near.clone().min(), near.max()) else {
        return Vec::new();
    };
    let range = (max - min).max(1);
    let added = nearness.iter().map(|(document, near)| {
        let share = (i64::from(*near) - min) * i64::from(top) / range;
        (*document, share as u32)
    });
    added.filter(|(_, share)| *share > 0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_scales_end_at_the_same_top() {
        assert_eq!(fuse(1000, &[]), []);
        assert_eq!(
            fuse(1000, &[(0, -50), (1, 50), (2, 0)]),
            [(1, 1000), (2, 500)]
        );
        assert_eq!(fuse(0, &[(0, 1), (1, 3)]), [(1, ALONE)]);
        assert_eq!(fuse(1000, &[(0, 7), (1, 7)]), []);
    }
}
