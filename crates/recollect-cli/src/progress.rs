//! How far long work is, on standard error: nothing for the first second, then a bar with its figure on a terminal,
//! and a plain line now and then elsewhere.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use recollect_engine::event::Progress;

use crate::output::{Terminal, text};

const QUIET_START: Duration = Duration::from_secs(1);
const BETWEEN_LINES: Duration = Duration::from_secs(15);

/// Shows the progress of one call.
pub(crate) struct Report {
    started: Instant,
    terminal: Terminal,
    is_terminal: bool,
    shown: Mutex<Shown>,
}

/// What was shown last.
struct Shown {
    bar: Option<ProgressBar>,
    line: Instant,
}

impl Report {
    pub(crate) fn new(terminal: &Terminal) -> Self {
        let started = Instant::now();
        Self {
            started,
            terminal: terminal.clone(),
            is_terminal: std::io::stderr().is_terminal(),
            shown: Mutex::new(Shown { bar: None, line: started }),
        }
    }

    /// Takes what the engine says; called from any thread.
    pub(crate) fn hear(&self, progress: &Progress) {
        if self.terminal.quiet || self.started.elapsed() < QUIET_START {
            return;
        }
        let Ok(mut shown) = self.shown.lock() else { return };
        if self.is_terminal {
            draw(shown.bar.get_or_insert_with(|| bar(&progress.unit)), progress);
        } else if shown.line.elapsed() >= BETWEEN_LINES {
            shown.line = Instant::now();
            self.terminal.note(words(progress));
        }
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        if let Some(bar) = self.shown.lock().ok().and_then(|mut shown| shown.bar.take()) {
            bar.finish_and_clear();
        }
    }
}

fn bar(unit: &str) -> ProgressBar {
    let figure =
        if unit == "bytes" { "{decimal_bytes} of {decimal_total_bytes}" } else { "{human_pos} of {human_len}" };
    let template = format!("{{bar:30}} {{percent:>3}} %  {figure} {{prefix}}  {{wide_msg:.dim}}");
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    match ProgressStyle::with_template(&template) {
        Ok(style) => bar.with_style(style.progress_chars("━╸─")),
        Err(_) => bar,
    }
}

fn draw(bar: &ProgressBar, progress: &Progress) {
    bar.set_length(progress.total.max(progress.done));
    bar.set_position(progress.done);
    if progress.unit != "bytes" {
        bar.set_prefix(progress.unit.clone());
    }
    bar.set_message(text::line(&progress.stage).into_owned());
}

fn words(progress: &Progress) -> String {
    let Progress { done, total, unit, stage } = progress;
    let stage = text::line(stage);
    if *total == 0 { format!("{stage}: {done} {unit}") } else { format!("{stage}: {done} of {total} {unit}") }
}

#[cfg(test)]
mod tests {
    use recollect_engine::event::Progress;

    use super::words;

    #[test]
    fn a_line_says_how_far_it_is() {
        let progress =
            Progress { done: 3, total: 0, unit: "files".to_owned(), stage: "reading a\x1b[2J.jsonl".to_owned() };
        assert_eq!(words(&progress), "reading a␛[2J.jsonl: 3 files");
        assert_eq!(words(&Progress { total: 9, ..progress }), "reading a␛[2J.jsonl: 3 of 9 files");
    }
}
