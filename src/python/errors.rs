//! Errors of the core as Python's exceptions: `ValueError` for invalid arguments, `OSError` for errors of the system.

use pyo3::PyErr;
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError, PyRuntimeError, PyValueError};

use crate::error::Error;

impl From<Error> for PyErr {
    fn from(error: Error) -> Self {
        match error {
            // Python makes of the number the class that its own functions raise: FileNotFoundError, PermissionError.
            Error::Spawn { program, errno } => {
                let system = std::io::Error::from_raw_os_error(errno).to_string();
                let reason = system.split(" (os error").next().unwrap_or_default().to_owned();
                PyOSError::new_err((errno, reason, program))
            }
            Error::Supervision { .. } | Error::UnusableProfiler { .. } => PyRuntimeError::new_err(error.to_string()),
            Error::NotACapture { path, reason, hint } => PyValueError::new_err((format!("{path}: {reason}"), hint)),
            Error::Unwritable { errno, reason } => PyOSError::new_err((errno, reason)),
            Error::Interrupted => PyKeyboardInterrupt::new_err(()),
            _ => PyValueError::new_err(error.to_string()),
        }
    }
}
