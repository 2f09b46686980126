//! Finding notes by their words, as the files are now: an index is made for one search and thrown
//! away, so that it can never be out of date. Hundreds of notes are read in less time than a
//! person notices.

use rusqlite::Connection;

use super::shelves::Note;
use crate::asked::Asked;
use crate::store::StoreError;

/// A note, and the place in it that answers best.
#[derive(Debug)]
pub(super) struct Hit<'a> {
    pub(super) note: &'a Note,
    pub(super) excerpt: String,
}

/// Words of an excerpt.
const EXCERPT_WORDS: u32 = 32;
/// Characters of an excerpt where words cannot be told apart.
const EXCERPT_CHARACTERS: usize = 120;

/// The best matches: those with all the words first; words of a title count more.
pub(super) fn search<'a>(
    notes: &'a [Note],
    asked: &Asked,
    limit: usize,
) -> Result<Vec<Hit<'a>>, StoreError> {
    let index = Connection::open_in_memory()?;
    index.execute_batch(
        "CREATE VIRTUAL TABLE notes USING fts5(title, body, tokenize = 'porter unicode61')",
    )?;
    {
        let mut insert =
            index.prepare("INSERT INTO notes (rowid, title, body) VALUES (?1, ?2, ?3)")?;
        for (note, at) in notes.iter().zip(0_i64..) {
            insert.execute((at, note.file.title(), &note.file.document.body))?;
        }
    }
    let mut matching = index.prepare(&format!(
        "SELECT rowid, snippet(notes, -1, '', '', '…', {EXCERPT_WORDS}) FROM notes
         WHERE notes MATCH ?1 ORDER BY bm25(notes, 5.0, 1.0), rowid"
    ))?;
    let mut found: Vec<(i64, String)> = Vec::new();
    for query in asked.queries() {
        let rows = matching.query_map([query], |row| Ok((row.get(0)?, row.get(1)?)))?;
        for row in rows {
            let (at, excerpt): (i64, String) = row?;
            if !found.iter().any(|(known, _)| *known == at) {
                found.push((at, excerpt));
            }
        }
    }
    let hits = found.into_iter().filter_map(|(at, excerpt)| {
        let note = notes.get(usize::try_from(at).ok()?)?;
        Some(Hit { note, excerpt })
    });
    let mut hits: Vec<Hit<'_>> = hits.collect();
    if hits.is_empty() {
        hits = notes
            .iter()
            .filter_map(|it| containing(it, asked))
            .collect();
    }
    hits.truncate(limit);
    Ok(hits)
}

/// A note that has a word somewhere inside: for languages without spaces, and parts of names.
fn containing<'a>(note: &'a Note, asked: &Asked) -> Option<Hit<'a>> {
    let body = &note.file.document.body;
    let line = body.lines().find(|line| {
        let line = line.to_lowercase();
        asked.words().iter().any(|it| line.contains(it))
    });
    let title = note.file.title();
    let excerpt = line.or_else(|| {
        let lower = title.to_lowercase();
        let is_in = asked.words().iter().any(|it| lower.contains(it));
        is_in.then_some(title.as_str())
    })?;
    Some(Hit {
        note,
        excerpt: excerpt.chars().take(EXCERPT_CHARACTERS).collect(),
    })
}
