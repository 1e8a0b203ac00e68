//! What a person or a script reads: documents on standard output, words beside them on standard error.
//!
//! Colour goes only to a terminal and honours `NO_COLOR`, `CLICOLOR` and `CLICOLOR_FORCE`; text that comes from
//! transcripts or file names is made harmless before it is shown ([`text`]).

pub(crate) mod conversation;
pub(crate) mod source;
pub(crate) mod table;
pub(crate) mod text;
pub(crate) mod units;

use std::error::Error as _;
use std::io::{BufWriter, ErrorKind as Io, IsTerminal, Write};
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use recollect_engine::time::Time;
use recollect_engine::{Error, ErrorKind, Result};
use serde::Serialize;

/// Headings.
pub(crate) const STRONG: Style = Style::new().bold();
/// What may be passed over.
pub(crate) const FAINT: Style = Style::new().dimmed();
/// Names that can be typed again.
pub(crate) const NAME: Style = AnsiColor::Yellow.on_default();
/// Kept, new, added.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// Close to a limit.
pub(crate) const CLOSE: Style = AnsiColor::Yellow.on_default().bold();
/// Lost, failed, removed.
pub(crate) const BAD: Style = AnsiColor::Red.on_default();

/// Text in a style.
pub(crate) fn paint(style: Style, text: impl std::fmt::Display) -> String {
    format!("{style}{text}{style:#}")
}

/// How to speak: to a person or to a script, much or little, and in which time zone.
#[derive(Debug, Clone)]
pub(crate) struct Terminal {
    /// One JSON document on standard output.
    pub(crate) json: bool,
    /// Nothing but errors on standard error.
    pub(crate) quiet: bool,
    /// More than the glance.
    pub(crate) verbose: bool,
    zone: jiff::tz::TimeZone,
}

impl Terminal {
    pub(crate) fn new(json: bool, quiet: bool, verbose: bool) -> Self {
        Self { json, quiet, verbose, zone: jiff::tz::TimeZone::system() }
    }

    /// An instant as the person's clock shows it, to the minute; a dash for none.
    pub(crate) fn time(&self, time: Option<Time>) -> String {
        time.and_then(|time| jiff::Timestamp::from_millisecond(time.millis()).ok()).map_or_else(
            || "-".to_owned(),
            |instant| instant.to_zoned(self.zone.clone()).strftime("%Y-%m-%d %H:%M").to_string(),
        )
    }

    /// Name of the person's time zone, where it has one.
    pub(crate) fn time_zone(&self) -> Option<String> {
        self.zone.iana_name().map(str::to_owned)
    }

    /// Answers with a document for a script, or with text for a person.
    pub(crate) fn answer(&self, document: &impl Serialize, text: impl FnOnce(&mut String)) -> Result<()> {
        if self.json {
            return self.document(document);
        }
        let mut written = String::new();
        text(&mut written);
        self.text(&written)
    }

    /// Writes a document, indented when a person looks at it.
    pub(crate) fn document(&self, document: &impl Serialize) -> Result<()> {
        let stdout = std::io::stdout();
        let mut out = BufWriter::new(stdout.lock());
        if stdout.is_terminal() {
            serde_json::to_writer_pretty(&mut out, document).map_err(std::io::Error::from)?;
        } else {
            serde_json::to_writer(&mut out, document).map_err(std::io::Error::from)?;
        }
        out.write_all(b"\n")?;
        Ok(out.flush()?)
    }

    /// Writes one document of many on a line of its own.
    pub(crate) fn record(&self, document: &impl Serialize) -> Result<()> {
        let mut line = serde_json::to_vec(document)?;
        line.push(b'\n');
        let mut out = std::io::stdout().lock();
        out.write_all(&line)?;
        Ok(out.flush()?)
    }

    /// Writes text for a person.
    pub(crate) fn text(&self, text: &str) -> Result<()> {
        let mut out = BufWriter::new(anstream::stdout().lock());
        out.write_all(text.as_bytes())?;
        Ok(out.flush()?)
    }

    /// Says something beside the answer; unimportant when it cannot be said.
    pub(crate) fn note(&self, words: impl std::fmt::Display) {
        if !self.quiet {
            self.say(&words.to_string());
        }
    }

    /// Names something that failed while all else went on.
    pub(crate) fn failed(&self, what: &str, why: &str) {
        self.say(&format!("{} {}: {}", paint(BAD, "failed:"), text::line(what), text::line(why)));
    }

    /// Tells why the run failed, with its exit status. A reader that went away is no failure.
    pub(crate) fn fail(&self, error: &Error) -> ExitCode {
        if is_broken_pipe(error) {
            return ExitCode::SUCCESS;
        }
        self.say(&format!("{} {}", paint(BAD.bold(), "error:"), text::lines(&error.message)));
        if let Some(hint) = &error.hint {
            self.say(&format!("{} {}", paint(STRONG, "hint:"), text::lines(hint)));
        }
        let mut cause = error.source();
        while let Some(source) = cause.filter(|_| self.verbose) {
            self.say(&format!("{} {}", paint(FAINT, "because:"), text::lines(&source.to_string())));
            cause = source.source();
        }
        ExitCode::from(if error.kind == ErrorKind::Usage { 2 } else { 1 })
    }

    fn say(&self, words: &str) {
        // Nobody is left to tell when standard error is gone.
        writeln!(anstream::stderr().lock(), "{words}").ok();
    }
}

fn is_broken_pipe(error: &Error) -> bool {
    let mut cause = error.source();
    while let Some(source) = cause {
        if source.downcast_ref::<std::io::Error>().is_some_and(|io| io.kind() == Io::BrokenPipe) {
            return true;
        }
        cause = source.source();
    }
    false
}
