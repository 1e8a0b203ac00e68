//! Repeats what failed because the other side is only busy: with growing pauses, or as long as it asks for.

use std::time::{Duration, Instant};

use backon::{BackoffBuilder, ExponentialBuilder};
use recollect_engine::engine::Cancel;
use recollect_engine::{Error, Result};

/// Longest pause that another side may ask for before it is told to the user instead.
const LONGEST_PAUSE: Duration = Duration::from_secs(120);

/// How long the caller's wish to stop may go unseen.
pub(crate) const GLANCE: Duration = Duration::from_millis(25);

/// How often and how patiently something is tried again.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    /// The first pause; each next one is twice as long.
    pub(crate) first: Duration,
    /// How often it is tried again.
    pub(crate) times: usize,
}

/// Why something failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Trying again helps nothing.
    Final(Error),
    /// The other side is busy and has not begun; it may say how long to wait.
    Busy(Error, Option<Duration>),
    /// It broke off after it had begun, or may have: that is paid for. Trying again may help.
    Broken(Error),
    /// As `Broken`, and trying again helps nothing.
    Lost(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Final(error)
    }
}

/// Tries until it works, fails for good, or was tried often enough. `lost` hears of each attempt that may have to be paid for.
///
/// # Errors
/// The last failure; that of `lost`, when it lets nothing be repeated; `Cancelled` soon after the caller wants to stop.
pub(crate) fn patiently<T>(
    patience: Patience,
    cancel: &Cancel,
    lost: &mut dyn FnMut() -> Result<()>,
    mut attempt: impl FnMut() -> Result<T, Failure>,
) -> Result<T> {
    let builder = ExponentialBuilder::new().with_jitter().with_min_delay(patience.first).with_max_times(patience.times);
    let mut pauses = builder.with_max_delay(Duration::from_secs(30)).build();
    loop {
        cancel.check()?;
        let (error, asked) = match attempt() {
            Ok(value) => return Ok(value),
            Err(Failure::Final(error)) => return Err(error),
            Err(Failure::Lost(error)) => {
                // Why it failed says more than that nothing else may be spent.
                lost().ok();
                return Err(error);
            }
            Err(Failure::Broken(error)) => {
                lost()?;
                (error, None)
            }
            Err(Failure::Busy(error, asked)) => (error, asked),
        };
        let Some(pause) = pauses.next() else {
            return Err(Error { message: format!("{} ({} attempts)", error.message, patience.times + 1), ..error });
        };
        let pause = asked.unwrap_or(pause);
        if pause > LONGEST_PAUSE {
            let seconds = pause.as_secs();
            return Err(error.hint(format!("it asks to be left alone for {seconds} seconds: run it again after that")));
        }
        wait(pause, cancel)?;
    }
}

/// Waits, looking at the caller's wish to stop.
fn wait(pause: Duration, cancel: &Cancel) -> Result<()> {
    let begun = Instant::now();
    loop {
        cancel.check()?;
        let Some(left) = pause.checked_sub(begun.elapsed()).filter(|left| !left.is_zero()) else { return Ok(()) };
        std::thread::park_timeout(left.min(GLANCE));
    }
}
