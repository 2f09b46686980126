//! Tools and requests that were never real: words of many lengths and frequencies, always the
//! same, so that two measurements measure the same thing.

use ambit::core::id::{CapabilityId, Source};
use ambit::core::search::{Parameter, SearchDocument};

/// Tools of one source.
pub(crate) const PER_SOURCE: usize = 50;
/// How many different tools are made up; more are these again under other names.
const MADE_UP: usize = 10_000;
const REQUESTS: usize = 1_000;
/// Words of no language, most of them rare: the long tail of names, brands and terms that real
/// descriptions have.
const TAIL: u64 = 20_000;

const VERBS: &str = "get list create update delete search send read write find convert check \
    fetch add remove run start stop export import analyze generate calculate upload download";
const THINGS: &str = "issue file message user project repository table query record event order \
    invoice customer image page document channel calendar task comment branch commit server log \
    metric price stock weather forecast city address route flight hotel booking payment contact \
    email note folder database index node graph model report ticket alert job build test deployment";
const FILLERS: &str = "the a of for in with by and to from all given specific new current using \
    returns based on its details information about";
const SYLLABLES: &str = "ba ce di fo gu ka le mi no pu ra se ti vo xu za che shi tro bla";

/// An id for the tool of that number; `None` only where it has no name.
pub(crate) fn id(at: usize, name: &str) -> Option<CapabilityId> {
    let owner = format!("s{}", at / PER_SOURCE);
    CapabilityId::foreign_tool(Source::Mcp, &owner, &format!("{name}_{at}")).ok()
}

/// Documents, and requests for them.
pub(crate) fn made_up() -> (Vec<SearchDocument>, Vec<String>) {
    let mut words = Words(0x9E37_79B9_7F4A_7C15);
    let documents: Vec<SearchDocument> = (0..MADE_UP).filter_map(|at| words.tool(at)).collect();
    let requests = (0..REQUESTS).map(|_| words.request(&documents)).collect();
    (documents, requests)
}

/// The documents as often as needed, each time under other names.
pub(crate) fn repeated(documents: &[SearchDocument], count: usize) -> Vec<SearchDocument> {
    let documents = documents.iter().cycle().take(count).zip(0_usize..);
    documents
        .filter_map(|(document, at)| {
            Some(SearchDocument {
                id: id(at, &document.name)?,
                ..document.clone()
            })
        })
        .collect()
}

/// A source of words that never says anything else.
struct Words(u64);

impl Words {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end.max(1)
    }

    fn one_of(&mut self, list: &str) -> String {
        let count = list.split_whitespace().count() as u64;
        let at = self.below(count) as usize;
        list.split_whitespace()
            .nth(at)
            .unwrap_or_default()
            .to_owned()
    }

    /// A rare word: the product makes few of them common and most of them rare.
    fn tail(&mut self) -> String {
        let at = self.below(TAIL) * self.below(TAIL) / TAIL;
        let syllables: Vec<&str> = SYLLABLES.split_whitespace().collect();
        let base = syllables.len() as u64;
        let digits = [
            at % base,
            at / base % base,
            at / base / base % base,
            at / 8000,
        ];
        let parts = digits.iter().filter_map(|it| syllables.get(*it as usize));
        parts.copied().collect()
    }

    fn sentence(&mut self, length: u64) -> String {
        let words: Vec<String> = (0..length)
            .map(|_| match self.below(20) {
                0..=11 => self.one_of(FILLERS),
                12 => self.one_of(THINGS),
                13 => self.one_of(VERBS),
                _ => self.tail(),
            })
            .collect();
        words.join(" ")
    }

    fn tool(&mut self, at: usize) -> Option<SearchDocument> {
        let (verb, thing, what) = (self.one_of(VERBS), self.one_of(THINGS), self.tail());
        let length = 6 + self.below(24);
        let parameters = (0..self.below(6))
            .map(|_| Parameter {
                name: format!("{}_{}", self.one_of(THINGS), self.tail()),
                description: self.sentence(6),
            })
            .collect();
        let name = format!("{verb}_{what}_{thing}");
        let id = id(at, &name)?;
        Some(SearchDocument {
            name,
            description: format!("{verb} {thing} {}", self.sentence(length)),
            parameters,
            ..SearchDocument::new(id)
        })
    }

    /// A request for some tool: half of its words among others, about as long as the shorter
    /// requests people make. How words are spread is a guess: `--data` measures real ones.
    fn request(&mut self, documents: &[SearchDocument]) -> String {
        let at = self.below(documents.len() as u64) as usize;
        let said = documents.get(at).map_or("", |it| it.description.as_str());
        let picked: Vec<&str> = said.split(' ').filter(|_| self.below(2) == 0).collect();
        let around = self.sentence(4);
        format!("I want to {} {around}", picked.join(" "))
    }
}
