//! The user's compile cache.

use std::sync::Arc;

use mind_cli::{DONE, REJECTED};
use mind_driver::cache::{CacheStats, CompileCache};
use mind_driver::host::Host;

/// Environment variable with the size limit of the cache, in the format of `--memory-limit`.
const LIMIT: &str = "MIND_CACHE_LIMIT";

/// Opens the user's cache, if there is one. Failures are only noted, because runs work without a cache.
pub(super) fn open(host: &mut dyn Host) -> Option<Arc<CompileCache>> {
    match opened(host)? {
        Ok(cache) => Some(Arc::new(cache)),
        Err(why) => {
            mind_cli::note(host, &format!("programs are not cached: {why}"));
            None
        }
    }
}

/// Prints the folder and the contents of the cache; returns the exit code.
pub(super) fn print_stats(host: &mut dyn Host) -> u8 {
    match opened(host) {
        None => {
            mind_cli::print(host, "no cache\n");
            DONE
        }
        Some(Ok(cache)) => {
            mind_cli::print(host, &text(&cache.stats()));
            DONE
        }
        Some(Err(why)) => {
            mind_cli::fail(host, &why);
            REJECTED
        }
    }
}

fn text(stats: &CacheStats) -> String {
    let CacheStats {
        folder,
        programs,
        schedules,
        models,
        model_bytes,
        bytes,
        limit,
        found: _,
        missed: _,
    } = stats;
    let folder = folder.display();
    format!(
        "folder    {folder}\nprograms  {programs}\nschedules {schedules}\nbytes     {bytes}\nlimit     {limit}\nmodels    {models}\npacked    {model_bytes}\n"
    )
}

/// Opens the cache; returns `None` if caching is off.
fn opened(host: &dyn Host) -> Option<Result<CompileCache, String>> {
    let folder = CompileCache::usual_folder(&|name| host.variable(name))?;
    let limit = match host.variable(LIMIT).as_deref().map(mind_cli::parse_size) {
        None => CompileCache::LIMIT,
        Some(Ok(limit)) => limit,
        Some(Err(why)) => return Some(Err(format!("{LIMIT}: {why}"))),
    };
    let opened = CompileCache::open(&folder, limit);
    Some(opened.map_err(|why| format!("{}: {why}", folder.display())))
}
