//! `recollect diff`.

use clap::Args;
use recollect_engine::Result;
use recollect_engine::api::version::{DiffLine, DiffLineKind, VersionDiff, VersionDiffRequest, diff};

use crate::face::Face;
use crate::output::units::{count, counted};
use crate::output::{BAD, FAINT, GOOD, STRONG, paint, text};

/// Compare two versions of a session; `original` names the session itself
#[derive(Debug, Args)]
pub(crate) struct Diff {
    /// The session: its id, a unique prefix of it, or `latest`
    session: String,
    /// One version, such as `v001`
    #[arg(value_name = "V1")]
    left: String,
    /// The other
    #[arg(value_name = "V2")]
    right: String,
}

impl Diff {
    pub(crate) fn run(self, face: &Face) -> Result<()> {
        let request = VersionDiffRequest { session: self.session, left: self.left.into(), right: self.right.into() };
        let diff = face.call(diff, request)?;
        face.terminal.answer(&diff, |out| describe(&diff, out))
    }
}

fn describe(diff: &VersionDiff, out: &mut String) {
    let side = |sign: &str, name: &str, tokens| format!("{sign} {name} ({} tokens)", count(tokens));
    out.push_str(&format!("{}\n", paint(STRONG, side("---", diff.left.as_str(), diff.left_tokens))));
    out.push_str(&format!("{}\n", paint(STRONG, side("+++", diff.right.as_str(), diff.right_tokens))));
    let messages = &diff.messages;
    out.push_str(&format!(
        "{} told of by both, {} only by {}, {} only by {}\n",
        counted(messages.both, "message"),
        count(messages.left_only),
        diff.left,
        count(messages.right_only),
        diff.right
    ));
    for keepit in diff.keepits.iter().filter(|keepit| keepit.left != keepit.right) {
        let (sign, style, only) = if keepit.left { ("-", BAD, &diff.left) } else { ("+", GOOD, &diff.right) };
        let words = text::line(&keepit.content);
        out.push_str(&format!("{} keepit {:.2} only in {only}: {words}\n", paint(style, sign), keepit.weight));
    }
    let both = diff.keepits.iter().filter(|keepit| keepit.left && keepit.right).count() as u64;
    if !diff.keepits.is_empty() {
        out.push_str(&format!(
            "{} of {} in both word for word\n",
            count(both),
            counted(diff.keepits.len() as u64, "keepit")
        ));
    }
    out.push('\n');
    for line in &diff.lines {
        out.push_str(&describe_line(line));
        out.push('\n');
    }
    out.push_str(&format!("{} added, {} removed\n", counted(diff.added, "line"), count(diff.removed)));
}

fn describe_line(line: &DiffLine) -> String {
    let (sign, style) = match line.kind {
        DiffLineKind::Equal => (" ", anstyle::Style::new()),
        DiffLineKind::Added => ("+", GOOD),
        DiffLineKind::Removed => ("-", BAD),
        DiffLineKind::Skipped => ("@", FAINT),
    };
    let words = line.words.iter().map(|word| {
        let style = if word.changed { style.bold().underline() } else { style };
        paint(style, text::lines(word.text.trim_end_matches('\n')))
    });
    format!("{}{}", paint(style, sign), words.collect::<String>())
}
