//! What a run's metrics and its trials say, step by step.
use std::{
    fs, iter,
    path::{Path, PathBuf},
};

use anyhow::Result;
use serde_json::{Value, json};

use crate::{
    error::UserError,
    train::{METRICS, OVERFIT, RANGE},
};

/// Files of a trial, and the key under which their lines are kept: their fields have the names
/// of a run's.
const TRIALS: [(&str, &str); 2] = [(RANGE, "range"), (OVERFIT, "overfit")];

/// The lines of a run's metrics and of its trials.
#[derive(Debug, Clone)]
pub struct History {
    /// The run's name: that of its folder.
    pub name: String,
    lines: Vec<Value>,
}

impl History {
    /// Reads the metrics of the run in the folder `path` and those of its trials, or one file of
    /// them. A last line that a kill has cut short is left out with a warning.
    ///
    /// # Errors
    /// [`UserError`] if there are none, or a line is damaged.
    pub fn read(path: &Path) -> Result<History> {
        let mut lines = vec![];
        if path.is_dir() {
            let names = iter::once(METRICS).chain(TRIALS.map(|(name, _)| name));
            for file in names.map(|name| path.join(name)).filter(|file| file.exists()) {
                lines.extend(read_file(&file)?);
            }
        } else {
            lines = read_file(path)?;
        }
        if lines.is_empty() {
            let mend = "wait for the run's first steps, or name another run";
            return Err(UserError::new("no metrics yet", path.display(), mend).into());
        }
        Ok(History { name: name(path), lines })
    }

    /// The numbers at `pointer` (as in `/validation/top1`) with their steps.
    pub fn series(&self, pointer: &str) -> Vec<(f64, f64)> {
        self.points(|line| line.pointer(pointer)?.as_f64())
    }

    /// What `pick` finds in a line, with its step, where it finds something.
    pub fn points(&self, pick: impl Fn(&Value) -> Option<f64>) -> Vec<(f64, f64)> {
        let point = |line: &Value| Some((line["step"].as_f64()?, pick(line)?));
        self.lines.iter().filter_map(point).collect()
    }

    /// What stands at `pointer` in the last line that has it.
    pub fn last(&self, pointer: &str) -> Option<&Value> {
        self.lines.iter().rev().find_map(|line| line.pointer(pointer))
    }
}

fn read_file(file: &Path) -> Result<Vec<Value>> {
    let text = fs::read_to_string(file).map_err(|e| UserError::cannot_read(file, &e))?;
    let lines = parse(&text, file)?;
    let name = file.file_name().unwrap_or_default();
    let Some((_, key)) = TRIALS.iter().find(|(trial, _)| name == *trial) else {
        return Ok(lines);
    };
    let under = |line: Value| json!({ "step": line["step"], *key: line });
    Ok(lines.into_iter().map(under).collect())
}

fn parse(text: &str, file: &Path) -> Result<Vec<Value>, UserError> {
    let mut lines = Vec::new();
    for (number, line) in (1..).zip(text.split_inclusive('\n')) {
        let value: Option<Value> = serde_json::from_str(line).ok();
        match value.filter(|value| value["step"].is_u64()) {
            Some(value) => lines.push(value),
            None if !line.ends_with('\n') => {
                tracing::warn!("{} ends in the middle of a line; it is left out", file.display());
            }
            None => {
                let place = format!("{} line {number}", file.display());
                let mend = "delete the line, or go on with the run, which drops what is broken";
                return Err(UserError::new("the line is damaged", place, mend));
            }
        }
    }
    Ok(lines)
}

/// The last part of a path that names something, or all of it.
fn name(path: &Path) -> String {
    let absolute: PathBuf = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = if absolute.is_dir() { Some(&*absolute) } else { absolute.parent() };
    let name = folder.and_then(Path::file_name).unwrap_or(absolute.as_os_str());
    name.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<History> {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join("run");
        fs::create_dir(&run).unwrap();
        fs::write(run.join(METRICS), text).unwrap();
        let history = History::read(&run);
        assert_eq!(history.as_ref().map_or("run", |h| &h.name), "run");
        history
    }

    #[test]
    fn numbers_are_found_where_they_stand() {
        let history =
            read("{\"step\":1,\"loss\":3.5}\n{\"step\":2,\"a\":{\"b\":1,\"c\":null}}\n").unwrap();
        assert_eq!(history.series("/loss"), [(1.0, 3.5)]);
        assert_eq!(history.series("/a/b"), [(2.0, 1.0)]);
        assert!(history.series("/a/c").is_empty());
        assert_eq!(history.last("/loss"), Some(&Value::from(3.5)));
    }

    #[test]
    fn trials_stand_beside_the_run() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(RANGE), "{\"step\":1,\"loss\":3.5}\n").unwrap();
        let history = History::read(folder.path()).unwrap();
        assert_eq!(history.series("/range/loss"), [(1.0, 3.5)]);
        assert!(history.series("/loss").is_empty());
        fs::write(folder.path().join(METRICS), "{\"step\":2,\"loss\":2.5}\n").unwrap();
        let both = History::read(folder.path()).unwrap();
        assert_eq!((both.series("/loss"), both.lines.len()), (vec![(2.0, 2.5)], 2));
        let file = History::read(&folder.path().join(RANGE)).unwrap();
        assert_eq!(file.series("/range/loss"), [(1.0, 3.5)]);
    }

    #[test]
    fn a_last_line_cut_short_is_left_out_and_any_other_is_named() {
        let history = read("{\"step\":1,\"loss\":3.5}\n{\"step\":2,\"lo").unwrap();
        assert_eq!(history.lines.len(), 1);
        for text in ["{\"step\":1,\"lo\n{\"step\":2}\n", "\n", "{\"loss\":3}\n"] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.starts_with("the line is damaged, "), "{error}");
            assert!(error.contains("metrics.jsonl line 1: "), "{error}");
        }
        assert!(read("").unwrap_err().to_string().starts_with("no metrics yet, "));
        assert!(read("{\"step").unwrap_err().to_string().starts_with("no metrics yet, "));
    }
}
