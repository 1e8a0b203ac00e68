//! Wall time and processor time of a piece of work, in this process and in the ones it starts.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;

/// What a piece of work took.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Took {
    /// From start to end.
    pub(crate) wall: Duration,
    /// Of all processors together: what counts on a machine that others use as well.
    pub(crate) processor: Duration,
}

/// Does the work some times and tells what the fastest took, with what the last gave.
pub(crate) fn best<T>(times: u32, mut work: impl FnMut() -> anyhow::Result<T>) -> anyhow::Result<(Took, T)> {
    let (mut best, mut given) = once(&mut work)?;
    for _ in 1..times {
        let (took, last) = once(&mut work)?;
        best = Took { wall: best.wall.min(took.wall), processor: best.processor.min(took.processor) };
        given = last;
    }
    Ok((best, given))
}

/// Does the work once.
pub(crate) fn once<T>(work: &mut impl FnMut() -> anyhow::Result<T>) -> anyhow::Result<(Took, T)> {
    let (start, used) = (Instant::now(), processor()?);
    let given = work()?;
    Ok((Took { wall: start.elapsed(), processor: processor()?.saturating_sub(used) }, given))
}

/// Processor time of this process and of those that it has waited for.
fn processor() -> anyhow::Result<Duration> {
    let mut sum = Duration::ZERO;
    for who in [UsageWho::RUSAGE_SELF, UsageWho::RUSAGE_CHILDREN] {
        let usage = getrusage(who)?;
        sum += duration(usage.user_time()) + duration(usage.system_time());
    }
    Ok(sum)
}

fn duration(value: TimeVal) -> Duration {
    Duration::from_secs(value.tv_sec().try_into().unwrap_or(0))
        + Duration::from_micros(value.tv_usec().try_into().unwrap_or(0))
}

/// The most memory that this process ever had, in bytes.
pub(crate) fn most_memory() -> anyhow::Result<u64> {
    // Linux counts in KiB.
    Ok(u64::try_from(getrusage(UsageWho::RUSAGE_SELF)?.max_rss()).unwrap_or(0) * 1024)
}

/// Watches the memory of this process that is its own: pages of files that it has mapped, which the system takes back when
/// it needs them, are not counted.
#[derive(Debug)]
pub(crate) struct OwnMemory {
    most: Arc<AtomicU64>,
    /// Closed when it is dropped, which ends the watch.
    _open: Sender<()>,
}

impl OwnMemory {
    /// Begins to watch, some times a second, until it is dropped.
    pub(crate) fn watch() -> Self {
        let most = Arc::new(AtomicU64::new(0));
        let (open, closed) = std::sync::mpsc::channel();
        let seen = Arc::clone(&most);
        std::thread::spawn(move || {
            while closed.recv_timeout(Duration::from_millis(20)) == Err(RecvTimeoutError::Timeout) {
                seen.fetch_max(own_memory().unwrap_or(0), Ordering::Relaxed);
            }
        });
        Self { most, _open: open }
    }

    /// The most so far, in bytes.
    pub(crate) fn most(&self) -> u64 {
        self.most.load(Ordering::Relaxed)
    }
}

fn own_memory() -> Option<u64> {
    let status = fs_err::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kib| kib * 1024)
}
