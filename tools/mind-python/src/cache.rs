//! Compile cache and tuner options.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use mind::tune::Tuner;
use mind::{CacheStats, CompileCache};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict};

use crate::errors::error;

/// The environment variable with the maximal size of a cache.
const LIMIT: &str = "MIND_CACHE_LIMIT";

/// Returns the cache of a `cache=` argument: none, the default folder of the tools, or a folder.
///
/// # Errors
///
/// Another type of object; an invalid limit; a folder that cannot be used.
pub(crate) fn cache(given: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Arc<CompileCache>>> {
    let Some(given) = given else { return Ok(None) };
    let py = given.py();
    let variable = |name: &str| std::env::var(name).ok();
    let folder = match (given.cast::<PyBool>(), given.extract::<PathBuf>()) {
        (Ok(flag), _) if flag.is_true() => CompileCache::usual_folder(&variable),
        (Ok(_), _) => None,
        (Err(_), Ok(folder)) => Some(folder),
        (Err(_), Err(_)) => {
            let kind = given.get_type().name()?;
            let message = format!("`cache` is True, False or a folder, not {kind}");
            return Err(PyTypeError::new_err(message));
        }
    };
    let Some(folder) = folder else {
        return Ok(None);
    };
    let limit = match variable(LIMIT) {
        None => CompileCache::LIMIT,
        Some(text) => mind_cli::parse_size(&text)
            .map_err(|why| PyValueError::new_err(format!("{LIMIT}: {why}")))?,
    };
    let opened = py.detach(|| CompileCache::open(&folder, limit));
    let opened = opened.map_err(|why| {
        let message = format!("{}: {why}", folder.display());
        error(py, "FileError", &message, None)
    });
    opened.map(|cache| Some(Arc::new(cache)))
}

/// Returns the tuner of a `tune=` argument: none, one with the default limit, or one with this number of candidates.
///
/// # Errors
///
/// Another type of object; a negative number.
pub(crate) fn tuner(given: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Arc<Tuner>>> {
    let Some(given) = given else { return Ok(None) };
    let limit = match (given.cast::<PyBool>(), given.extract::<u64>()) {
        (Ok(flag), _) if flag.is_true() => Tuner::LIMIT,
        (Ok(_), _) => return Ok(None),
        (Err(_), Ok(limit)) => limit,
        (Err(_), Err(_)) => {
            let message = format!("`tune` is True, False or a number of candidates, not {given}");
            return Err(PyTypeError::new_err(message));
        }
    };
    let began = Instant::now();
    Ok(Some(Arc::new(Tuner::new(limit, move || began.elapsed()))))
}

/// Returns the content and the statistics of a cache as a dict.
pub(crate) fn stats<'py>(py: Python<'py>, cache: &CompileCache) -> PyResult<Bound<'py, PyDict>> {
    let CacheStats {
        folder,
        programs,
        schedules,
        models,
        model_bytes,
        bytes,
        limit,
        found,
        missed,
    } = py.detach(|| cache.stats());
    let dict = PyDict::new(py);
    dict.set_item("folder", folder)?;
    dict.set_item("programs", programs)?;
    dict.set_item("schedules", schedules)?;
    dict.set_item("models", models)?;
    dict.set_item("model_bytes", model_bytes)?;
    dict.set_item("bytes", bytes)?;
    dict.set_item("limit", limit)?;
    dict.set_item("found", found)?;
    dict.set_item("missed", missed)?;
    Ok(dict)
}
