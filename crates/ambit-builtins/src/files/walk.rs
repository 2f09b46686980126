//! The files below a place, as a search sees them: in order, without what `.gitignore` leaves
//! out and without `.git`, hidden files included, links not followed.
//!
//! Walking goes by path, because that is what reads ignore files. Each file comes back as a
//! [`Place`], and is only ever opened through that: a folder swapped for a link during the walk
//! leads nowhere.

use std::ops::ControlFlow;
use std::path::Path;

use ambit_core::observation::Failure;
use ignore::WalkBuilder;

use super::bounds::{Bounds, Place};
use super::name_pattern::NamePattern;
use crate::stop::Stop;

/// Visits every file and link below `path`, or below every allowed folder, whose name fits.
pub(super) fn visit(
    bounds: &Bounds,
    path: Option<&str>,
    names: Option<&NamePattern>,
    stop: &Stop,
    mut each: impl FnMut(Place<'_>) -> Result<ControlFlow<()>, Failure>,
) -> Result<(), Failure> {
    for start in bounds.starts(path)? {
        let resolved = start.resolved().map_err(|error| start.failure(&error))?;
        let top = start.root.real.join(resolved);
        for entry in walker(&top) {
            stop.check()?;
            // What cannot be read is left out, as if it were not there.
            let Ok(entry) = entry else { continue };
            if entry.file_type().is_none_or(|it| it.is_dir()) {
                continue;
            }
            let below = entry.path().strip_prefix(&top).unwrap_or(entry.path());
            // The start is itself a file, and was named.
            let named = below.as_os_str().is_empty();
            if !named && names.is_some_and(|it| !it.fits(below)) {
                continue;
            }
            let Ok(inside) = entry.path().strip_prefix(&start.root.real) else {
                continue;
            };
            if each(bounds.place(start.root, inside.to_owned()))?.is_break() {
                return Ok(());
            }
        }
    }
    Ok(())
}

fn walker(top: &Path) -> ignore::Walk {
    WalkBuilder::new(top)
        .follow_links(false)
        .hidden(false)
        .require_git(false)
        // Results must not depend on whose home directory this runs in.
        .git_global(false)
        .filter_entry(|it| it.depth() == 0 || it.file_name() != ".git")
        .sort_by_file_name(Ord::cmp)
        .build()
}
