//! Pieces: what a message can be cut into, and what each of them is.

/// What a piece is; `cues` turns it into a weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// A sentence that somebody wrote.
    Sentence,
    /// A heading.
    Heading,
    /// A part of a code block or a table in what somebody wrote.
    Code,
    /// A sentence of the model's thoughts.
    Thought,
    /// A sentence of the client's summary of an earlier context.
    Digest,
    /// A command that the user ran.
    Command,
    /// The line that says which tool was called on what.
    Call,
    /// The line that says which file was changed.
    Change,
    /// The subject of a commit.
    Commit,
    /// The last state of a task list.
    State,
    /// A sentence of a task given to a sub-agent, or of a plan.
    Task,
    /// A changed line, or a line of a file that was written.
    Content,
    /// The line of an output that says what went wrong.
    Failure,
    /// The line of an output that sums it up: a count of tests, an exit status.
    Verdict,
    /// A first or last line of an output.
    Edge,
    /// Any other lines of an output.
    Output,
    /// A sentence of what a sub-agent reported.
    Report,
    /// A marked passage that survives: always taken, word for word.
    Kept,
}

/// How a piece follows the one before it in its message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Join {
    /// In the same line, after a space.
    Space,
    /// In the same line, without anything between.
    Nothing,
    /// In a line of its own.
    Line,
    /// After a blank line.
    Paragraph,
}

/// A piece of a message: a sentence, a line, some lines.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Piece {
    /// Its words.
    pub(super) text: String,
    /// How it follows.
    pub(super) join: Join,
    /// What it is.
    pub(super) class: Class,
    /// Lines of the source that it stands for.
    pub(super) lines: u32,
    /// Words of the same message before it.
    pub(super) words_before: u32,
    /// It is read only together with the call that it answers.
    pub(super) answers: Option<usize>,
    /// The marked passages, by their place in the input, that it holds.
    pub(super) keepit: Option<usize>,
}

impl Piece {
    /// A piece of one line.
    pub(super) fn new(text: impl Into<String>, join: Join, class: Class) -> Self {
        Self { text: text.into(), join, class, lines: 1, words_before: 0, answers: None, keepit: None }
    }
}

/// Cuts a text to a number of characters, with an ellipsis where it was cut; line breaks become spaces.
pub(super) fn one_line(text: &str, characters: usize) -> String {
    let mut line = String::new();
    let mut count = 0;
    for word in text.split_whitespace() {
        let length = word.chars().count() + usize::from(!line.is_empty());
        if count + length > characters {
            if line.is_empty() {
                line.extend(word.chars().take(characters));
            }
            line.push('…');
            return line;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        count += length;
    }
    line
}

/// The longest beginning of `text` with at most `bytes` bytes that ends between characters.
pub(super) fn head(text: &str, bytes: usize) -> &str {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
