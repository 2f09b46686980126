//! Tools and requests to measure with.

use std::error::Error;
use std::fs;
use std::path::Path;

use ambit::core::search::SearchDocument;
use ambit::core::search::labelled::LabelledSet;

use crate::made_up;

/// Documents and requests, to be taken again and again.
pub(crate) struct Corpus {
    pub(crate) documents: Vec<SearchDocument>,
    pub(crate) requests: Vec<String>,
}

impl Corpus {
    /// Every labelled set below a folder; requests are made up if no set has any.
    pub(crate) fn read(dir: &Path) -> Result<Corpus, Box<dyn Error>> {
        let mut folders: Vec<_> = fs::read_dir(dir)?
            .map(|it| it.map(|it| it.path()))
            .collect::<Result<_, _>>()?;
        folders.sort();
        let mut documents = Vec::new();
        let mut requests = Vec::new();
        for folder in folders {
            let Ok(tools) = fs::read_to_string(folder.join("tools.jsonl")) else {
                continue;
            };
            let queries = fs::read_to_string(folder.join("queries.jsonl")).unwrap_or_default();
            let set = LabelledSet::parse(&tools, &queries)?;
            documents.extend(set.documents);
            requests.extend(set.queries.into_iter().map(|it| it.query));
        }
        if documents.is_empty() {
            return Err(format!("`{}` has no sets", dir.display()).into());
        }
        if requests.is_empty() {
            requests = Corpus::made_up().requests;
        }
        Ok(Corpus {
            documents,
            requests,
        })
    }

    /// Made up from word lists, always the same.
    pub(crate) fn made_up() -> Corpus {
        let (documents, requests) = made_up::made_up();
        Corpus {
            documents,
            requests,
        }
    }
}
