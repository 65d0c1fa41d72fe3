//! Which checkpoints of a run stay, and removing what a kill has left behind.
use std::{
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
};

use anyhow::Result;

use super::PREFIX;
use crate::{error::UserError, files};

/// The file that a running process holds locked.
const LOCK: &str = "lock";

/// A run's folder in the hands of this process alone, until it is dropped or the process ends,
/// however it ends.
#[derive(Debug)]
pub struct Hold {
    _lock: File,
    /// The folder, if it was made for this run.
    made: Option<PathBuf>,
}

impl Hold {
    /// Makes the folder `run` with its parents, if it is not there, and takes it. If it holds
    /// nothing when this is dropped, as where no device is found, it goes again.
    ///
    /// # Errors
    /// As [`Hold::take`].
    pub fn make(run: &Path) -> Result<Hold> {
        let is_new = !run.exists();
        files::require_folder(run)?;
        let mut hold = Hold::take(run)?;
        hold.made = is_new.then(|| run.to_owned());
        Ok(hold)
    }

    /// Takes the folder `run`, which must exist, and removes what a killed process has left
    /// half-written there.
    ///
    /// # Errors
    /// [`UserError`] if another process holds it or it cannot be written.
    pub fn take(run: &Path) -> Result<Hold> {
        let path = run.join(LOCK);
        let lock = File::create(&path).map_err(|error| UserError::cannot_write(&path, &error))?;
        match lock.try_lock() {
            Err(TryLockError::WouldBlock) => {
                let mend = "wait for it or choose another folder";
                let what = "another process is training there";
                return Err(UserError::new(what, run.display(), mend).into());
            }
            // Some network file systems have no locks: then it is up to the user.
            Err(TryLockError::Error(_)) | Ok(()) => {}
        }
        sweep(run)?;
        Ok(Hold { _lock: lock, made: None })
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        let Some(run) = &self.made else { return };
        let lock = run.join(LOCK);
        // What cannot be removed does no harm.
        if entries(run).is_ok_and(|names| names == [lock.as_path()])
            && fs::remove_file(lock).is_ok()
        {
            let _ = fs::remove_dir(run);
        }
    }
}

/// Removes temporary files and folders.
fn sweep(run: &Path) -> Result<()> {
    for path in entries(run)? {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if name.starts_with('.') && name.ends_with(".tmp") {
            let removed =
                if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            removed.map_err(|error| UserError::cannot_write(&path, &error))?;
        }
    }
    Ok(())
}

/// The run's checkpoints with their steps, oldest first.
pub(super) fn all(run: &Path) -> Result<Vec<(u64, PathBuf)>> {
    let step = |path: PathBuf| {
        let name = path.file_name()?.to_str()?;
        Some((name.strip_prefix(PREFIX)?.parse().ok()?, path))
    };
    let mut found: Vec<_> = entries(run)?.into_iter().filter_map(step).collect();
    found.sort();
    Ok(found)
}

/// Removes all checkpoints but the `newest` ones and the one of step `best`.
pub(super) fn prune(run: &Path, newest: usize, best: Option<u64>) -> Result<()> {
    for (step, old) in all(run)?.iter().rev().skip(newest) {
        if Some(*step) != best {
            remove(old)?;
        }
    }
    Ok(())
}

/// Removes a checkpoint so that a kill never leaves a part of it under its name.
fn remove(folder: &Path) -> Result<()> {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let doomed = folder.with_file_name(format!(".{name}.tmp"));
    let removed = fs::rename(folder, &doomed).and_then(|()| fs::remove_dir_all(&doomed));
    Ok(removed.map_err(|error| UserError::cannot_write(folder, &error))?)
}

/// Renames a damaged checkpoint, so that it is no longer one of the run's and the run can save
/// one of the same step; returns its new place.
pub(super) fn put_aside(folder: &Path) -> Result<PathBuf> {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let names = (1..).map(|n| if n == 1 { String::new() } else { format!("-{n}") });
    let mut places = names.map(|n| folder.with_file_name(format!("damaged-{name}{n}")));
    let aside = places.find(|place| !place.exists()).expect("a folder has finitely many names");
    let moved = fs::rename(folder, &aside);
    moved.map_err(|error| UserError::cannot_write(folder, &error))?;
    Ok(aside)
}

fn entries(run: &Path) -> Result<Vec<PathBuf>> {
    let read = || -> io::Result<Vec<PathBuf>> {
        fs::read_dir(run)?.map(|entry| Ok(entry?.path())).collect()
    };
    read().map_err(|error| UserError::cannot_read(run, &error).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder_with(names: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in names {
            fs::create_dir(folder.path().join(name)).unwrap();
            fs::write(folder.path().join(name).join("file"), "").unwrap();
        }
        folder
    }

    fn steps(run: &Path) -> Vec<u64> {
        all(run).unwrap().into_iter().map(|(step, _)| step).collect()
    }

    #[test]
    fn the_newest_and_the_best_stay() {
        let names = ["step-00000010", "step-00000020", "step-00000030", "step-00000040"];
        let folder = folder_with(&names);
        prune(folder.path(), 2, Some(10)).unwrap();
        assert_eq!(steps(folder.path()), [10, 30, 40]);
        prune(folder.path(), 1, None).unwrap();
        assert_eq!(steps(folder.path()), [40]);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_folder_that_was_made_for_nothing_goes_again() {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join("run");
        drop(Hold::make(&run).unwrap());
        assert!(!run.exists());
        let hold = Hold::make(&run).unwrap();
        fs::write(run.join("metrics.jsonl"), "").unwrap();
        drop(hold);
        assert!(run.join("metrics.jsonl").exists());
        drop(Hold::make(folder.path()).unwrap());
        assert!(folder.path().exists());
    }

    #[test]
    fn left_overs_are_swept_and_nothing_else() {
        let folder = folder_with(&[".step-abc.tmp", ".hidden", "step-00000001", "notes.tmp"]);
        fs::write(folder.path().join(".metrics.jsonlxyz.tmp"), "").unwrap();
        let hold = Hold::take(folder.path()).unwrap();
        let mut left: Vec<_> = entries(folder.path()).unwrap();
        left.sort();
        let left: Vec<_> = left.iter().map(|path| path.file_name().unwrap()).collect();
        assert_eq!(left, [".hidden", "lock", "notes.tmp", "step-00000001"]);
        let refused = Hold::take(folder.path()).unwrap_err().to_string();
        assert!(refused.starts_with("another process is training there, "), "{refused}");
        drop(hold);
        Hold::take(folder.path()).unwrap();
    }
}
