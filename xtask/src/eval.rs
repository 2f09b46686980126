//! `cargo xtask eval [DIR] [--model DIR]`: search measured on every labelled set below a folder,
//! written to `docs/evaluation.md` beside the reference figures the folder's own README has.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::run::{Failure, Result, Step, capture, cargo, show};

const PAGE: &str = "docs/evaluation.md";
/// Where the sets are unless told.
const SETS: &str = "../shared/data";
/// What a set is measured by, as `ambit eval --json` has it, and how it is headed.
const MEASURES: [(&str, &str); 4] = [
    ("recall@1", "R@1"),
    ("recall@5", "R@5"),
    ("recall@10", "R@10"),
    ("ndcg@10", "NDCG@10"),
];

/// One figure per measure, in percent.
type Figures = [f64; MEASURES.len()];

/// One way of searching, measured on sets.
struct Column {
    name: String,
    /// One per set, in the order of the sets.
    figures: Vec<Option<Figures>>,
    /// How exactly they are known.
    decimals: usize,
}

struct Set {
    name: String,
    folder: PathBuf,
}

pub(crate) fn run(root: &Path, arguments: &[&str]) -> Result {
    let (dir, model) = match arguments {
        [] => (SETS, None),
        [dir] => (*dir, None),
        ["--model", model] => (SETS, Some(*model)),
        [dir, "--model", model] => (*dir, Some(*model)),
        _ => {
            let usage = "usage: cargo xtask eval [DIR] [--model DIR]";
            return Err(Failure::Found(usage.to_owned()));
        }
    };
    let dir = root.join(dir);
    let model = model.map(|it| root.join(it));
    let sets = labelled_sets(&dir)?;

    let mut build = cargo(root);
    build.args(["build", "--release", "--package", "ambit"]);
    show(build)?;
    let (sizes, lexical) = measure(root, &sets, None)?;
    let mut columns = vec![Column {
        name: "Ambit".to_owned(),
        figures: lexical,
        decimals: 1,
    }];
    if let Some(model) = &model {
        columns.push(Column {
            name: format!("Ambit + `{}`", name_of(model)),
            figures: measure(root, &sets, Some(model))?.1,
            decimals: 1,
        });
    }
    let ours = columns.len();
    columns.extend(references(&dir, &sets));

    let path = root.join(PAGE);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(Failure::file(parent))?;
    }
    let text = page(&sets, &sizes, &columns, ours, model.as_deref());
    fs::write(&path, text).map_err(Failure::file(&path))?;
    println!("wrote {PAGE}");
    Ok(())
}

/// The folders that have requests, by name.
fn labelled_sets(dir: &Path) -> Result<Vec<Set>> {
    let entries = fs::read_dir(dir).map_err(Failure::file(dir))?;
    let mut sets = Vec::new();
    for entry in entries {
        let folder = entry.map_err(Failure::file(dir))?.path();
        if folder.join("queries.jsonl").is_file() {
            sets.push(Set {
                name: name_of(&folder),
                folder,
            });
        }
    }
    sets.sort_by(|a, b| a.name.cmp(&b.name));
    if sets.is_empty() {
        let what = format!("`{}` has no labelled sets", dir.display());
        return Err(Failure::Found(what));
    }
    Ok(sets)
}

fn name_of(path: &Path) -> String {
    path.file_name()
        .map(|it| it.to_string_lossy().into_owned())
        .unwrap_or_default()
}

/// How many tools and queries each set has, and the figures.
type Measured = (Vec<(u64, u64)>, Vec<Option<Figures>>);

fn measure(root: &Path, sets: &[Set], model: Option<&Path>) -> Result<Measured> {
    let mut sizes = Vec::new();
    let mut figures = Vec::new();
    for set in sets {
        let step = Step::start(&match model {
            None => set.name.clone(),
            Some(model) => format!("{} with {}", set.name, name_of(model)),
        });
        let mut eval = cargo(root);
        eval.args(["run", "--quiet", "--release", "--package", "ambit", "--"])
            .args(["eval", "--json"])
            .arg(&set.folder);
        if let Some(model) = model {
            eval.arg("--model").arg(model);
        }
        let printed = capture(eval)?;
        let document: Value = serde_json::from_str(&printed)
            .map_err(|error| Failure::Found(format!("`ambit eval --json`: {error}")))?;
        let number = |name: &str| {
            let missing = || Failure::Found(format!("`ambit eval --json` has no `{name}`"));
            document
                .get(name)
                .and_then(Value::as_f64)
                .ok_or_else(missing)
        };
        let mut measured = Figures::default();
        for (figure, (name, _)) in measured.iter_mut().zip(MEASURES) {
            *figure = number(name)? * 100.0;
        }
        sizes.push((number("tools")? as u64, number("queries")? as u64));
        step.end(&slashed(&measured, 1));
        figures.push(Some(measured));
    }
    Ok((sizes, figures))
}

/// The table of the sets' README with one row per set and `R@1/R@5/R@10/NDCG@10` in its cells.
fn references(dir: &Path, sets: &[Set]) -> Vec<Column> {
    let readme = fs::read_to_string(dir.join("README.md")).unwrap_or_default();
    let rows: Vec<Vec<&str>> = readme.lines().filter_map(cells).collect();
    let is_figures = |row: &Vec<&str>| row.get(1).is_some_and(|it| figures(it).is_some());
    let Some(first) = rows.iter().position(is_figures) else {
        return Vec::new();
    };
    // The heading, and the line of dashes below it.
    let heading = first.checked_sub(2).and_then(|at| rows.get(at));
    let names = heading.into_iter().flatten().enumerate().skip(1);
    names
        .map(|(at, name)| {
            let cell = |set: &Set| {
                let row = rows.iter().skip(first);
                let row = row
                    .clone()
                    .find(|it| it.first() == Some(&set.name.as_str()));
                figures(row?.get(at)?)
            };
            Column {
                name: (*name).to_owned(),
                figures: sets.iter().map(cell).collect(),
                decimals: 0,
            }
        })
        .collect()
}

fn cells(line: &str) -> Option<Vec<&str>> {
    let inner = line.trim().strip_prefix('|')?.strip_suffix('|')?;
    Some(inner.split('|').map(str::trim).collect())
}

fn figures(cell: &str) -> Option<Figures> {
    let parsed: Vec<f64> = cell
        .split('/')
        .map(|it| it.trim().parse().ok())
        .collect::<Option<_>>()?;
    parsed.try_into().ok()
}

/// The mean over the sets, where every set has figures.
fn macro_average(column: &Column) -> Option<Figures> {
    let mut sum = Figures::default();
    for figures in &column.figures {
        for (sum, figure) in sum.iter_mut().zip(figures.as_ref()?) {
            *sum += figure;
        }
    }
    Some(sum.map(|it| it / column.figures.len() as f64))
}

fn slashed(figures: &Figures, decimals: usize) -> String {
    let shown: Vec<String> = figures
        .iter()
        .map(|it| format!("{it:.decimals$}"))
        .collect();
    shown.join(" / ")
}

fn page(
    sets: &[Set],
    sizes: &[(u64, u64)],
    columns: &[Column],
    ours: usize,
    model: Option<&Path>,
) -> String {
    let headings: Vec<&str> = MEASURES.iter().map(|it| it.1).collect();
    let mut out = format!(
        "<!-- written by `cargo xtask eval` -->\n\
        # How well search finds\n\n\
        Each set is a catalog of tools and requests labelled with the tools that would answer \
        them. A request has needs, each met by any of its tools. Recall at k is the share of needs \
        met within the first k, averaged over requests; NDCG@10 gives one gain per need. In percent: \
        {}. The standard error is about two points on a set of 600 requests. The ranking's weights were chosen on these same sets, over about ninety settings, with none held out: expect less of a gain on others.\n\n",
        headings.join(" / ")
    );
    row(
        &mut out,
        ["set", "tools", "queries"]
            .iter()
            .copied()
            .chain(columns.iter().take(ours).map(|it| it.name.as_str())),
    );
    rule(&mut out, 3 + ours);
    for (at, (set, (tools, queries))) in sets.iter().zip(sizes).enumerate() {
        let counts = [set.name.clone(), tools.to_string(), queries.to_string()];
        let figures = columns.iter().take(ours).map(|it| cell(it, at));
        row(&mut out, counts.into_iter().chain(figures));
    }
    let blank = ["mean of the sets", "", ""].map(str::to_owned);
    let means = columns.iter().take(ours).map(mean);
    row(&mut out, blank.into_iter().chain(means));
    match model {
        None => out += "\nWith a model of embeddings: not measured, no model at hand.\n",
        Some(model) => {
            let _ = write!(
                out,
                "\n`{}` is a static embedding model joined by `--model`.",
                name_of(model)
            );
            if let Some(about) = about(model) {
                let _ = write!(out, " {about}");
            }
            out.push('\n');
        }
    }
    if columns.len() > ours {
        out += "\n## Reference\n\nOther rankings on the same sets, as published with them.\n\n";
        let others = || columns.iter().skip(ours);
        row(
            &mut out,
            std::iter::once("set").chain(others().map(|it| it.name.as_str())),
        );
        rule(&mut out, 1 + others().count());
        for (at, set) in sets.iter().enumerate() {
            let figures = others().map(|it| cell(it, at));
            row(&mut out, std::iter::once(set.name.clone()).chain(figures));
        }
        let means = others().map(mean);
        row(
            &mut out,
            std::iter::once("mean of the sets".to_owned()).chain(means),
        );
    }
    out += "\n## Again\n\n\
        `cargo xtask eval DIR` measures every folder of `DIR` that has `tools.jsonl` and \
        `queries.jsonl` and writes this page; `--model DIR` adds a column with a model. `ambit eval \
        FOLDER` measures one and shows, for each need not met, what came first instead and why. \
        What search costs is measured by `cargo xtask bench search`.\n";
    out
}

/// The first paragraph a model's README has after its heading.
fn about(model: &Path) -> Option<String> {
    let readme = fs::read_to_string(model.join("README.md")).ok()?;
    let mut paragraphs = readme.split("\n\n").map(str::trim);
    let first = paragraphs.find(|it| !it.is_empty() && !it.starts_with('#'))?;
    Some(first.replace('\n', " "))
}

fn cell(column: &Column, set: usize) -> String {
    let figures = column.figures.get(set).and_then(Option::as_ref);
    figures.map_or("–".to_owned(), |it| slashed(it, column.decimals))
}

fn mean(column: &Column) -> String {
    macro_average(column).map_or("–".to_owned(), |it| slashed(&it, 1))
}

fn row<T: AsRef<str>>(out: &mut String, cells: impl Iterator<Item = T>) {
    for cell in cells {
        let _ = write!(out, "| {} ", cell.as_ref());
    }
    out.push_str("|\n");
}

fn rule(out: &mut String, columns: usize) {
    let _ = writeln!(out, "{}|", "|---".repeat(columns));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_read_as_the_readme_writes_them() {
        assert_eq!(cells("| a | 1/2/3/4 |"), Some(vec!["a", "1/2/3/4"]));
        assert_eq!(cells("text"), None);
        assert_eq!(figures("1/2.5/3/4"), Some([1.0, 2.5, 3.0, 4.0]));
        for other in ["1/2/3", "600", "a/b/c/d", "---", ""] {
            assert_eq!(figures(other), None, "{other}");
        }
    }

    #[test]
    fn a_mean_needs_every_set() {
        let column = |figures| Column {
            name: String::new(),
            figures,
            decimals: 1,
        };
        let two = vec![Some([0.0, 10.0, 20.0, 30.0]), Some([10.0; 4])];
        assert_eq!(mean(&column(two)), "5.0 / 10.0 / 15.0 / 20.0");
        assert_eq!(mean(&column(vec![Some([0.0; 4]), None])), "–");
    }
}
