//! Outputs that appear whole or not at all.
use std::{
    env,
    fs::{self, File},
    io::{self, BufWriter, Write as _},
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};
use tempfile::NamedTempFile;

use crate::error::UserError;

/// Writes `path` through a temporary name in the same folder, which is synced and renamed once
/// `write` has succeeded; a kill at any moment leaves the old file or the new one.
///
/// # Errors
/// [`UserError`] if the folder cannot be written; whatever `write` fails with.
pub fn atomic_write<T>(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<&File>) -> Result<T>,
) -> Result<T> {
    let temporary = temporary_beside(path)?;
    let value = fill(temporary.as_file(), path, write)?;
    temporary.persist(path).map_err(|error| UserError::cannot_write(path, &error.error))?;
    sync_folder(folder_of(path))?;
    Ok(value)
}

/// Writes the new file `path` and syncs it; errors name `place`, of which it is a part.
///
/// # Errors
/// [`UserError`] if it cannot be written; whatever `write` fails with.
pub fn synced_write<T>(
    path: &Path,
    place: &Path,
    write: impl FnOnce(&mut BufWriter<&File>) -> Result<T>,
) -> Result<T> {
    let file = File::create_new(path).map_err(|error| UserError::cannot_write(place, &error))?;
    fill(&file, place, write)
}

/// Writes a new file and syncs it; errors name `place`.
fn fill<T>(
    file: &File,
    place: &Path,
    write: impl FnOnce(&mut BufWriter<&File>) -> Result<T>,
) -> Result<T> {
    let refuse = |error| UserError::cannot_write(place, &error);
    let mut writer = BufWriter::with_capacity(1 << 20, file);
    let value = write(&mut writer).map_err(|error| match error.downcast::<io::Error>() {
        Ok(error) => refuse(error).into(),
        Err(error) => error,
    })?;
    writer.flush().and_then(|()| file.sync_all()).map_err(refuse)?;
    Ok(value)
}

/// `kibitzer` in the user's cache folder; `None` if this system says of none.
pub fn cache_folder() -> Option<PathBuf> {
    let variable = |name| env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let home = |below: &str| variable("HOME").map(|home| home.join(below));
    let folder = variable("XDG_CACHE_HOME").or_else(|| {
        if cfg!(windows) {
            variable("LOCALAPPDATA")
        } else if cfg!(target_os = "macos") {
            home("Library/Caches")
        } else {
            home(".cache")
        }
    });
    folder.map(|folder| folder.join("kibitzer"))
}

/// Finds out before the work starts whether `path` can be written.
///
/// # Errors
/// [`UserError`] if its folder is missing or cannot be written, or if `path` is something other
/// than an ordinary file.
pub fn require_writable(path: &Path) -> Result<()> {
    if path.is_dir() {
        let mend = "name a file in it";
        return Err(UserError::new("the output is a folder", path.display(), mend).into());
    }
    if path.exists() && !path.is_file() {
        let mend = "name an ordinary file";
        return Err(UserError::new("the output is a device or a pipe", path.display(), mend).into());
    }
    temporary_beside(path).map(drop)
}

/// Makes the folder `path` with its parents, and finds out whether files can be made in it.
///
/// # Errors
/// [`UserError`] if it cannot be made or written.
pub fn require_folder(path: &Path) -> Result<()> {
    fs::create_dir_all(path).map_err(|error| UserError::cannot_write(path, &error))?;
    temporary_beside(&path.join("probe")).map(drop)
}

/// Finds out whether `path` is a folder that files can be made in, or can become one; makes nothing.
///
/// # Errors
/// [`UserError`] if it cannot.
pub fn require_room_for_folder(path: &Path) -> Result<()> {
    let there = path.ancestors().find(|folder| folder.exists()).unwrap_or(Path::new(""));
    temporary_beside(&there.join("probe")).map(drop)
}

/// Makes the names in `folder` outlive a power cut; a no-op where folders cannot be opened.
///
/// # Errors
/// The system's, if the sync fails.
pub fn sync_folder(folder: &Path) -> Result<()> {
    if cfg!(unix) {
        let handle = File::open(folder).with_context(|| format!("opening {}", folder.display()))?;
        handle.sync_all().with_context(|| format!("syncing {}", folder.display()))?;
    }
    Ok(())
}

/// The folder in which `path` lies.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A temporary file in the folder of `path`, readable by whom the user's umask says.
fn temporary_beside(path: &Path) -> Result<NamedTempFile> {
    let folder = folder_of(path);
    let mut prefix = std::ffi::OsString::from(".");
    prefix.push(path.file_name().unwrap_or_default());
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(".tmp");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder).map_err(|error| {
        let cause = error.raw_os_error().map_or(error, std::io::Error::from_raw_os_error);
        UserError::cannot_write(&PathBuf::from(folder), &cause).into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_leaves_the_old_file_and_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        atomic_write(&path, |file| Ok(file.write_all(b"old")?)).unwrap();
        let failed = atomic_write(&path, |file| -> Result<()> {
            file.write_all(b"half")?;
            anyhow::bail!("no more")
        });
        assert_eq!(failed.unwrap_err().to_string(), "no more");
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_folder_under_a_file_cannot_be_written() {
        let file = NamedTempFile::new().unwrap();
        let error = require_writable(&file.path().join("out")).unwrap_err();
        assert!(error.is::<UserError>(), "{error}");
        for require in [require_folder, require_room_for_folder] {
            let error = require(&file.path().join("run")).unwrap_err();
            assert!(error.is::<UserError>(), "{error}");
        }
    }
}
