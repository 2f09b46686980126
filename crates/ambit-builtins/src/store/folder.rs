//! Files a capability keeps beside the database, in an export and back: by their paths below the
//! capability's folder. Hidden ones, such as a trash folder, stay where they are.

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::path::{Component, Path};

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use serde_json::Value;

use super::StoreError;
use super::dump::{bytes_of, json_of};

/// The files below a folder. None where there is no folder.
pub(super) fn export(folder: &Path) -> Result<BTreeMap<String, Value>, StoreError> {
    let mut files = BTreeMap::new();
    match Dir::open_ambient_dir(folder, ambient_authority()) {
        Ok(dir) => collect(&dir, "", &mut files).map_err(|error| unusable(folder, &error))?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(unusable(folder, &error)),
    }
    Ok(files)
}

fn collect(dir: &Dir, below: &str, files: &mut BTreeMap<String, Value>) -> io::Result<()> {
    for entry in dir.entries()? {
        let entry = entry?;
        let name = entry.file_name();
        // A name that is no text cannot be a key of an export.
        let Some(name) = name.to_str().filter(|it| !it.starts_with('.')) else {
            continue;
        };
        let kind = entry.file_type()?;
        if kind.is_dir() {
            collect(&dir.open_dir(name)?, &format!("{below}{name}/"), files)?;
        } else if kind.is_file() {
            files.insert(format!("{below}{name}"), json_of(dir.read(name)?));
        }
    }
    Ok(())
}

/// Writes files below a folder, each whole. Those of the same path are replaced.
pub(super) fn import(folder: &Path, files: &BTreeMap<String, Value>) -> Result<usize, StoreError> {
    if files.is_empty() {
        return Ok(0);
    }
    let failed = |error: io::Error| unusable(folder, &error);
    let files: Vec<(&Path, Vec<u8>)> = files
        .iter()
        .map(|(path, content)| Ok((checked(path)?, bytes_of(content)?)))
        .collect::<Result<_, StoreError>>()?;
    Dir::create_ambient_dir_all(folder, ambient_authority()).map_err(failed)?;
    let dir = Dir::open_ambient_dir(folder, ambient_authority()).map_err(failed)?;
    for (path, content) in &files {
        put(&dir, path, content).map_err(failed)?;
    }
    Ok(files.len())
}

fn put(dir: &Dir, path: &Path, content: &[u8]) -> io::Result<()> {
    let within = path.parent().unwrap_or(Path::new(""));
    dir.create_dir_all(within)?;
    let draft = within.join(".import.tmp");
    let mut file = dir.create(&draft)?;
    file.write_all(content)?;
    file.sync_all()?;
    dir.rename(&draft, dir, path)
}

/// A path that leads to a file below, and to nothing that is hidden.
fn checked(path: &str) -> Result<&Path, StoreError> {
    let is_plain = |it: Component<'_>| match it {
        Component::Normal(name) => !name.as_encoded_bytes().starts_with(b"."),
        _ => false,
    };
    let plain = Path::new(path);
    let fits = !path.is_empty() && !path.contains('\0') && !path.ends_with('/');
    match fits && plain.components().all(is_plain) {
        true => Ok(plain),
        false => Err(StoreError::Import(format!(
            "`{}` is not a path a file can be brought back to",
            path.escape_debug()
        ))),
    }
}

fn unusable(folder: &Path, error: &io::Error) -> StoreError {
    StoreError::Unusable {
        path: folder.to_owned(),
        message: error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tempfile::TempDir;

    use super::*;

    #[test]
    fn files_come_back_as_they_were() {
        let (here, there) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        let folder = here.path().join("notes");
        assert!(export(&folder).unwrap().is_empty());
        for (path, content) in [
            ("a/one.md", &b"text"[..]),
            ("a/raw.md", b"\xff"),
            ("b/two.md", b""),
            ("a/.trash/gone.md", b"x"),
        ] {
            let path = folder.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        let files = export(&folder).unwrap();
        let expected = json!({"a/one.md": "text", "a/raw.md": {"base64": "/w=="}, "b/two.md": ""});
        assert_eq!(json!(files), expected);
        let to = there.path().join("deep/notes");
        assert_eq!(import(&to, &files).unwrap(), 3);
        assert_eq!(import(&to, &files).unwrap(), 3);
        assert_eq!(export(&to).unwrap(), files);
    }

    #[test]
    fn no_path_leads_elsewhere() {
        let folder = TempDir::new().unwrap();
        for path in [
            "",
            "/x",
            "../x",
            "a/../../x",
            ".x",
            "a/.trash/x",
            "a/",
            "a\0",
        ] {
            let files = BTreeMap::from([
                ("fine.md".to_owned(), json!("x")),
                (path.to_owned(), json!("x")),
            ]);
            let error = import(&folder.path().join("n"), &files).unwrap_err();
            assert!(error.to_string().contains("is not a path"), "{path}");
        }
        assert!(!folder.path().join("n").exists());
    }
}
