//! Made sessions with planted facts: talk between two people, and work on code. Always the same ones; what is planted is
//! what is asked for, the rest is what sessions are full of.

use std::path::PathBuf;

use serde_json::{Value, json};
use uuid::Uuid;

use super::talk::{Conversation, Question, Turn};
use crate::talk::Numbers;

/// Turns of a conversation, and how many of them hold something that is asked for later.
const TURNS: u64 = 400;
const ASKED: u64 = 60;
/// Requests of a session of work.
const REQUESTS: u64 = 14;

/// Conversations.
pub(super) fn conversations(count: u64) -> Vec<Conversation> {
    (0..count).map(conversation).collect()
}

fn conversation(number: u64) -> Conversation {
    let mut numbers = Numbers::new(1000 + number);
    let mut turns = Vec::new();
    let mut questions = Vec::new();
    for at in 0..TURNS {
        let speaker = if at % 2 == 0 { "Ada" } else { "Ben" };
        let planted = numbers.below(TURNS / ASKED) == 0;
        let (thing, place, year) = (numbers.rare_word(), name(&mut numbers), 1960 + numbers.below(60));
        let text = if planted {
            questions.push(Question {
                answer: format!("{thing} {place} {year}"),
                evidence: vec![at.to_string()],
                category: "made".to_owned(),
            });
            match numbers.below(3) {
                0 => format!("I bought the {thing} in {place} when we were there in {year}. {}", filler(&mut numbers)),
                1 => format!("{} My brother kept a {thing} at {place} until {year}.", filler(&mut numbers)),
                _ => format!("We found out that the {thing} had come from {place}, back in {year}."),
            }
        } else if numbers.below(3) == 0 {
            format!("{} {}", filler(&mut numbers), asking(&mut numbers))
        } else {
            format!("{} {}", filler(&mut numbers), filler(&mut numbers))
        };
        turns.push(Turn { id: at.to_string(), speaker: speaker.to_owned(), text, timestamp: time(at) });
    }
    Conversation { id: format!("made-{number}"), turns, questions }
}

/// What people say without telling anything.
fn filler(numbers: &mut Numbers) -> String {
    const SAID: [&str; 10] = [
        "That sounds really nice, good for you!",
        "Yeah, I know what you mean about that.",
        "Thanks so much for telling me all this.",
        "It is so good to hear from you again.",
        "You always find a way through these things.",
        "I was just thinking about how things go.",
        "Wow, that must have been quite something for you.",
        "Take care and let us talk again soon.",
        "Things have been busy but fine over here.",
        "That is a great way to look at it.",
    ];
    SAID[numbers.below(SAID.len() as u64) as usize].to_owned()
}

fn asking(numbers: &mut Numbers) -> String {
    const ASKED: [&str; 4] =
        ["How did that go for you?", "What are you up to now?", "Did you like it there?", "Is there anything new?"];
    ASKED[numbers.below(ASKED.len() as u64) as usize].to_owned()
}

fn name(numbers: &mut Numbers) -> String {
    let word = numbers.rare_word();
    let mut letters = word.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

fn time(minute: u64) -> String {
    let second = 1_700_000_000 + i64::try_from(minute).unwrap_or(0) * 60;
    jiff::Timestamp::from_second(second).unwrap_or_default().to_string()
}

/// Sessions of work, as transcripts.
pub(super) fn work(count: u64) -> Vec<(PathBuf, String)> {
    (0..count).map(|number| (PathBuf::from(format!("made-{number}.jsonl")), Work::new(number).make())).collect()
}

/// A session of work of about so many tokens, as a transcript with its file's name.
pub(crate) fn long_work(tokens: u64) -> (String, String) {
    let mut work = Work::new(77);
    // Made words have about a token for every three letters.
    while work.lines.len() as u64 <= tokens * 4 {
        work.request();
    }
    (format!("{}.jsonl", work.session), work.lines)
}

struct Work {
    numbers: Numbers,
    session: String,
    lines: String,
    count: u64,
}

impl Work {
    fn new(number: u64) -> Self {
        let session = Uuid::new_v5(&Uuid::NAMESPACE_URL, format!("made work {number}").as_bytes()).to_string();
        Self { numbers: Numbers::new(5000 + number), session, lines: String::new(), count: 0 }
    }

    fn make(mut self) -> String {
        for _ in 0..REQUESTS {
            self.request();
        }
        self.lines
    }

    fn words(&mut self, count: u64) -> String {
        let words: Vec<String> = (0..count).map(|_| self.numbers.word()).collect();
        words.join(" ")
    }

    /// Somebody asks; files are read, changed and tested, with a failure now and then; it is committed and told.
    fn request(&mut self) {
        let (noun, verb, reason) = (self.numbers.rare_word(), self.numbers.rare_word(), self.numbers.rare_word());
        let ask = format!("the {noun} should {verb} when the {reason} is empty, please change it and test {noun}");
        self.say("user", json!(ask));
        let file = format!("/home/dev/app/src/{noun}_{verb}.rs");
        for _ in 0..2 + self.numbers.below(3) {
            let thought = format!("Let me look at how {} is done.", self.words(6));
            self.say("assistant", json!([{"type": "text", "text": thought}]));
            let other = format!("/home/dev/app/src/{}.rs", self.numbers.word());
            let content = self.listing();
            self.call("Read", &json!({"file_path": other}), &content, false);
        }
        let (old, new) = (self.words(8), self.words(9));
        let edit = json!({"file_path": file, "old_string": format!("fn {noun}() {{\n{old}\n}}"), "new_string": format!("fn {noun}() {{\n{new}\n}}")});
        self.call("Edit", &edit, "The file has been updated.", false);
        if self.numbers.below(2) == 0 {
            let missing = self.numbers.rare_word();
            let output = format!(
                "   Compiling app\n{}\nerror[E0425]: cannot find value `{missing}` in this scope of {noun}\n{}",
                self.words(20),
                self.words(40)
            );
            self.call("Bash", &json!({"command": format!("cargo test {noun}")}), &output, true);
        }
        let passed = format!("{}\ntest result: ok. {} passed; 0 failed", self.listing(), self.numbers.below(90));
        self.call("Bash", &json!({"command": format!("cargo test {noun}")}), &passed, false);
        let subject = format!("Let {noun} {verb} when {reason} is empty");
        self.call(
            "Bash",
            &json!({"command": format!("git add -A && git commit -m \"{subject}\"")}),
            "1 file changed",
            false,
        );
        let told = format!(
            "Done: `{noun}` does {verb} now when the {reason} is empty, because {}. Tests pass.",
            self.words(8)
        );
        self.say("assistant", json!([{"type": "text", "text": told}]));
    }

    fn listing(&mut self) -> String {
        let lines: Vec<String> = (1..=20 + self.numbers.below(40))
            .map(|line| format!("{line}\tlet {} = {};", self.numbers.word(), self.words(6)))
            .collect();
        lines.join("\n")
    }

    fn call(&mut self, name: &str, input: &Value, output: &str, failed: bool) {
        let id = format!("call-{}", self.count);
        self.say("assistant", json!([{"type": "tool_use", "id": id, "name": name, "input": input}]));
        self.say("user", json!([{"type": "tool_result", "tool_use_id": id, "content": output, "is_error": failed}]));
    }

    fn say(&mut self, role: &str, content: Value) {
        let uuid =
            |count: u64| Uuid::new_v5(&Uuid::NAMESPACE_URL, format!("{}/{count}", self.session).as_bytes()).to_string();
        let record = json!({
            "type": role, "uuid": uuid(self.count), "parentUuid": self.count.checked_sub(1).map(uuid), "timestamp": time(self.count),
            "sessionId": self.session, "cwd": "/home/dev/app", "version": "2.1.0", "gitBranch": "main", "isSidechain": false,
            "userType": "external", "message": {"role": role, "content": content},
        });
        self.lines.push_str(&record.to_string());
        self.lines.push('\n');
        self.count += 1;
    }
}
