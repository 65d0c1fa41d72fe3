//! Mistakes of the user: one line that says what is wrong, where, and how to mend it.
use std::{fmt, io, path::Path};

use kibitzer_gpu::Error as BackendError;

use crate::host_memory;

/// Something that only the user can mend: a wrong file, FEN or flag. Exit status 2.
///
/// Any other error that reaches the command line is a defect of this program or of the machine,
/// and ends it with status 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserError {
    what: String,
    place: String,
    mend: String,
}

impl UserError {
    /// What is wrong, where (a file, its line, a flag), and how to mend it.
    pub fn new(
        what: impl fmt::Display,
        place: impl fmt::Display,
        mend: impl fmt::Display,
    ) -> UserError {
        let one_line = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
        UserError {
            what: one_line(what.to_string()),
            place: one_line(place.to_string()),
            mend: one_line(mend.to_string()),
        }
    }

    /// A file that cannot be read.
    pub fn cannot_read(path: &Path, error: &io::Error) -> UserError {
        UserError::new(
            format_args!("cannot read the file ({})", reason(error)),
            path.display(),
            "check the path and its permissions",
        )
    }

    /// A file or folder that cannot be written.
    pub fn cannot_write(path: &Path, error: &io::Error) -> UserError {
        UserError::new(
            format_args!("cannot write there ({})", reason(error)),
            path.display(),
            "choose a folder that exists, can be written and has room",
        )
    }
}

impl fmt::Display for UserError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}: {}", self.what, self.place, self.mend)
    }
}

impl std::error::Error for UserError {}

/// What helps where a GPU has too little memory.
pub const OUT_OF_MEMORY: &str = "give a smaller --batch, --precision f16 or --device cpu";

/// What the user can do about an error of a backend; any other error as it is.
pub fn of_backend(error: anyhow::Error) -> anyhow::Error {
    match error.downcast::<BackendError>() {
        Ok(error @ BackendError::Diverged { .. }) => {
            UserError::new(error, "--lr", "give a lower one").into()
        }
        Ok(BackendError::HostMemory(bytes)) => host_memory::refusal(bytes, None).into(),
        Ok(BackendError::OutOfMemory) => {
            UserError::new("out of memory", "--device", OUT_OF_MEMORY).into()
        }
        Ok(BackendError::Device(what)) => {
            UserError::new(what, "--device", "use --device cpu").into()
        }
        Ok(other) => other.into(),
        Err(error) => error,
    }
}

/// The system's own words without Rust's "(os error 2)".
fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_one_line() {
        let error = UserError::new("two\nlines", "a.pgn", "write\r\n one");
        assert_eq!(error.to_string(), "two lines, a.pgn: write one");
    }

    #[test]
    fn memory_that_the_processor_lacks_is_not_asked_of_the_processor() {
        let line = |error: BackendError| of_backend(error.into()).to_string();
        assert!(line(BackendError::OutOfMemory).ends_with(" or --device cpu"));
        let line = line(BackendError::HostMemory(1 << 40));
        assert!(line.starts_with("out of memory: 1.00 TiB are needed, "), "{line}");
        assert!(!line.contains("--device") && !line.contains("--precision"), "{line}");
    }

    #[test]
    fn the_system_s_number_is_left_out() {
        let error = io::Error::from_raw_os_error(2);
        assert_eq!(
            UserError::cannot_read(Path::new("x"), &error).to_string(),
            "cannot read the file (no such file or directory), x: check the path and its permissions"
        );
    }
}
