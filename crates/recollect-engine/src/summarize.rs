//! Compression by a language model (2.1.3 `CompressionSettings.model`, 5.2): the session is told to it in chunks, and what it answers
//! is put together under the same hard budget, with the same marked passages word for word, as the built-in engine's records.
//!
//! `chunks`, `prompt`, `answer` are pure; `fit` brings lines under their budget; `asking` asks: some chunks at a time, within what
//! may be spent, keeping each answer so that nothing is paid for twice.

mod answer;
mod asking;
mod chunks;
mod fit;
mod prompt;

use crate::api::compression::{CompressionSettings, KeepitMode, LeftOut, ModelRun, VersionMessageKind};
use crate::api::engine::CompressionEstimate;
use crate::compress::outside::{self, Line, Record, Told};
use crate::compress::{self, Input, Outcome, Resolved};
use crate::dedup::ContentHash;
use crate::engine::{Call, Engine};
use crate::error::{Error, Result};
use crate::keepit::Decay;
use crate::language_model::{Endpoint, ModelEngine};
use crate::models::{self, Model};
use crate::redact::{Redactions, redact, redacted};
use crate::tokens::Counter;

use answer::Said;
pub use asking::Account;
use asking::Asking;
use chunks::Chunk;

/// Version of what a model is asked.
pub(crate) const PROMPT_VERSION: u32 = prompt::VERSION;

/// Most tokens that are told to a model at once: more, and it forgets what stands in the middle.
const MOST_TOLD: u64 = 40_000;

/// Window of a model that is not known: what servers on one's own machine give at least, as a rule.
const UNKNOWN_WINDOW: u64 = 16_384;

/// Tokens of a prompt beside the record.
const AROUND: u64 = 2_000;

/// Characters of a marked passage that a model is told, so that it does not say it again.
const MOST_OF_PASSAGE: usize = 300;

/// An engine that asks a model, with the settings as they are now.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// Where it is.
    pub endpoint: Endpoint,
    /// The model, by the name that the engine knows.
    pub model: Model,
    /// The most dollars that a run may cost.
    pub cap: f64,
    /// Chunks that are asked about at a time.
    pub parallel: u32,
}

/// The engine that a compression asks; `None` for the built-in one.
///
/// # Errors
/// `Usage` when there is no such engine, or it needs a model and none is named.
pub fn asked(engine: &Engine, settings: &CompressionSettings) -> Result<Option<Asked>> {
    let Some(name) = settings.engine.as_deref().filter(|name| *name != compress::ENGINE) else { return Ok(None) };
    let which: ModelEngine = name.parse()?;
    let config = engine.config()?;
    let endpoint = config.endpoint(which, engine.home().scratch());
    let cap = settings.max_cost.unwrap_or(config.engines.max_cost);
    if !(0.0..=100_000.0).contains(&cap) {
        return Err(Error::usage(format!("{cap} is no number of dollars that a run may cost")));
    }
    let given = settings.model.as_deref().map(str::trim).filter(|model| !model.is_empty());
    let wanted = match (which, given) {
        (_, Some(model)) => model,
        (ModelEngine::Openai, None) => config.engines.openai_model.as_str(),
        (_, None) => config.model.as_str(),
    };
    if wanted.is_empty() {
        return Err(Error::usage(format!("the engine {name} needs a model"))
            .hint("name it with --model, or set `engines.openai.model`; its window and prices stand in `models.own`"));
    }
    let known = models::find(&config.own_models, wanted);
    // The client knows families by their names, the API wants whole ones.
    let id = match (&known, which) {
        (Some(model), ModelEngine::Anthropic) if !model.own && !is_api_name(wanted) => model.id.clone(),
        _ => wanted.to_owned(),
    };
    let free = (!endpoint.leaves_machine()).then_some(0.0);
    let model = known.map_or_else(
        || Model {
            id: id.clone(),
            label: id.clone(),
            family: String::new(),
            context_window: UNKNOWN_WINDOW,
            input_price: free,
            output_price: free,
            own: false,
        },
        |model| Model { id: id.clone(), ..model },
    );
    Ok(Some(Asked { endpoint, model, cap, parallel: config.engines.parallel }))
}

/// Whether the API knows such a name: `claude-opus-4-5-20251101`, but no family, window or provider.
fn is_api_name(name: &str) -> bool {
    let plain = |character: char| character.is_ascii_alphanumeric() || matches!(character, '-' | '.');
    name.starts_with("claude-") && name.chars().all(plain)
}

/// What is asked about a chunk, ready to be sent.
#[derive(Debug)]
struct Ready {
    chunk: Chunk,
    question: String,
    /// What is told fits the budget as it is: nobody is asked.
    fits: bool,
}

/// A compression by a model, prepared: nothing was asked yet.
struct Prepared<'p> {
    input: &'p Input<'p>,
    settings: &'p Resolved,
    asked: &'p Asked,
    record: Record<'p>,
    counter: Counter,
    /// What each message says.
    told: Vec<Told>,
    /// The same as it is asked about: secrets were taken out before anything was shortened.
    sent: Vec<Told>,
    survives: Vec<bool>,
    ready: Vec<Ready>,
    redactions: Redactions,
}

/// Compresses what was loaded by asking a model.
///
/// # Errors
/// As [`compress::run`]; `Conflict` when the engine cannot be used or the next call could cost more than is allowed; whatever
/// the other side refuses; `Cancelled`. Answers that were given are kept, and not asked for again.
pub fn run(
    call: &Call<'_>,
    input: &Input<'_>,
    settings: &Resolved,
    decay: &Decay,
    asked: &Asked,
    account: &Account,
    built_in: &Outcome,
) -> Result<Outcome> {
    let prepared = Prepared::new(call, input, settings, asked, built_in)?;
    let readiness = call.engine.language_models().readiness(&asked.endpoint);
    if let Some(problem) = readiness.problem {
        return Err(Error { hint: readiness.hint, ..Error::conflict(problem) });
    }
    let session = &input.session.id;
    let asking = Asking::new(call, session, asked, account, prepared.ready.iter().filter(|ready| !ready.fits).count());
    let answers = asking.all(&prepared.ready, |ready| prepared.summarised(&asking, ready, decay))?;
    let (parts, trimmed): (Vec<Vec<Line>>, Vec<bool>) = answers.into_iter().unzip();
    let trimmed = trimmed.into_iter().filter(|trimmed| *trimmed).count() as u64;
    prepared.put_together(parts, decay, asking.spent(), trimmed)
}

/// What a run would ask and cost; nothing is asked.
///
/// # Errors
/// As [`run`], but for what the other side would refuse.
pub fn estimate(
    call: &Call<'_>,
    input: &Input<'_>,
    settings: &Resolved,
    asked: &Asked,
    built_in: &Outcome,
) -> Result<CompressionEstimate> {
    let prepared = Prepared::new(call, input, settings, asked, built_in)?;
    let account = Account::default();
    let asking = Asking::new(call, &input.session.id, asked, &account, 0);
    // By how much more than what is likely a call may cost at most.
    let mut margin: f64 = 0.0;
    let (mut calls, mut input_tokens, mut output_tokens) = (0, 0, 0);
    for ready in prepared.ready.iter().filter(|ready| !ready.fits) {
        if !asking.is_kept(&ready.question, ready.chunk.budget) {
            calls += 1;
            let read = prepared.counter.count(prompt::SYSTEM) + prepared.counter.count(&ready.question);
            if let Some(likely) = asking::cost(&asked.model, read, ready.chunk.budget) {
                margin = margin.max(asking.worst(&ready.question, ready.chunk.budget)? - likely);
            }
            input_tokens += read;
            output_tokens += ready.chunk.budget;
        }
    }
    let cost = asking::cost(&asked.model, input_tokens, output_tokens);
    Ok(CompressionEstimate {
        engine: asked.endpoint.engine.name().to_owned(),
        model: Some(asked.model.id.clone()),
        calls,
        input_tokens,
        output_tokens,
        cost,
        cap: Some(asked.cap),
        over_cap: cost.is_none_or(|cost| cost + margin > asked.cap) && calls > 0,
        leaves_machine: asked.endpoint.leaves_machine(),
        redactions: prepared.redactions.list(),
    })
}

impl<'p> Prepared<'p> {
    fn new(
        call: &Call<'_>,
        input: &'p Input<'p>,
        settings: &'p Resolved,
        asked: &'p Asked,
        built_in: &'p Outcome,
    ) -> Result<Self> {
        let counter = *call.engine.counter();
        let survives = survivors(input, settings, built_in);
        let told = outside::tell(input, settings, &survives);
        let sent = outside::tell_safely(input, settings, &survives);
        let tokens: Vec<u64> = told.iter().map(|told| counter.count(&told.text)).collect();
        // Passages are told in short beside their names.
        let mut sizes = tokens.clone();
        for (keepit, _) in input.keepits.iter().zip(&survives).filter(|(_, survives)| **survives) {
            if let Some(size) = sizes.get_mut(keepit.message as usize) {
                *size += counter.count(&in_short(&keepit.content)) + 16;
            }
        }
        let record = Record { input, settings, built_in, counter, furnished: true };
        let ranges = outside::ranges(settings, input.messages.len());
        let room = fit::room(&record, &ranges, &survives);
        let window = asked.model.context_window;
        let most = MOST_TOLD.min(window.saturating_sub(AROUND) / 2).max(500);
        let mut prepared = Self {
            input,
            settings,
            asked,
            record,
            counter,
            told,
            sent,
            survives,
            ready: Vec::new(),
            redactions: Redactions::default(),
        };
        let chunks = chunks::cut(&prepared.told, &sizes, &ranges, most, &room);
        let all = chunks.len();
        for (number, chunk) in chunks.into_iter().enumerate() {
            call.cancel.check()?;
            let said: u64 = tokens[chunk.first..chunk.end].iter().sum();
            let fits = said + 4 * (chunk.end - chunk.first) as u64 <= chunk.budget;
            let question = if fits { String::new() } else { prepared.question(&chunk, number + 1, all, most) };
            prepared.ready.push(Ready { chunk, question, fits });
        }
        Ok(prepared)
    }

    /// What is asked about a chunk, without secrets.
    fn question(&mut self, chunk: &Chunk, number: usize, all: usize, most: u64) -> String {
        let mut record = String::new();
        let mut marks = Vec::new();
        for place in chunk.first..chunk.end {
            let told = &self.sent[place];
            if told.text.is_empty() {
                continue;
            }
            let message = &self.input.messages[place];
            let speaker = match message.role {
                crate::session::Role::User => "user",
                crate::session::Role::Assistant => "assistant",
                crate::session::Role::Tool => "tool",
                crate::session::Role::System => "client",
            };
            let day = message.timestamp.map(|time| time.to_string().chars().take(10).collect::<String>());
            record.push_str(&format!("[{}] {speaker} {}\n", place + 1, day.unwrap_or_default()));
            record.push_str(&shortened(&told.text, most));
            record.push_str("\n\n");
        }
        for (keepit, name) in self.kept_in(chunk).map(|number| (number, outside::keepit_name(number))) {
            // What is kept is told too, so that the summary does not say it again.
            let passage = in_short(&self.input.keepits[keepit].content);
            record = record.replacen(&name, &format!("{name} (the passage, for you to know: {passage})"), 1);
            marks.push(name);
        }
        // Counted where it is said; a title repeats what was said.
        let (record, _) = redact(record.trim_end());
        self.redactions.add(&redacted(&record));
        let question = prompt::question(&prompt::Asked {
            session: self.input.session,
            level: self.settings.tiers[chunk.tier].aggressiveness,
            budget: chunk.budget,
            part: (number, all),
            marks: &marks,
            record: &record,
        });
        redact(&question).0
    }

    /// Surviving marked passages in a chunk.
    fn kept_in<'s>(&'s self, chunk: &'s Chunk) -> impl Iterator<Item = usize> + 's {
        let inside = |number: &usize| {
            self.survives[*number] && (chunk.first..chunk.end).contains(&(self.input.keepits[*number].message as usize))
        };
        (0..self.input.keepits.len()).filter(inside)
    }

    /// The lines of a chunk, at most as long as its budget; whether the built-in engine had to trim them.
    fn summarised(&self, asking: &Asking<'_>, ready: &Ready, decay: &Decay) -> Result<(Vec<Line>, bool)> {
        let chunk = &ready.chunk;
        if ready.fits {
            return Ok((self.as_told(chunk), false));
        }
        let read = |answer: &str| {
            let lines = self.lines(chunk, answer);
            let tokens = fit::tokens(&lines, self.counter);
            (tokens > 0).then_some((lines, tokens))
        };
        let answer = asking.ask(&ready.question, chunk.budget)?.unwrap_or_default();
        let mut best = read(&answer);
        if best.as_ref().is_none_or(|(_, tokens)| *tokens > chunk.budget) {
            let again = match &best {
                Some((_, tokens)) => prompt::shorter(&ready.question, &answer, *tokens, chunk.budget),
                None => prompt::once_more(&ready.question, chunk.budget),
            };
            let shorter = asking.ask(&again, chunk.budget)?.and_then(|answer| read(&answer));
            best = [best, shorter].into_iter().flatten().min_by_key(|(_, tokens)| *tokens);
        }
        match best {
            Some((lines, tokens)) if tokens <= chunk.budget => Ok((lines, false)),
            Some((lines, _)) => Ok((fit::trim(lines, chunk.budget, self.input, decay, self.counter)?, true)),
            // Nothing that could be read: what was told is trimmed instead.
            None => Ok((fit::trim(self.as_told(chunk), chunk.budget, self.input, decay, self.counter)?, true)),
        }
    }

    /// What a model answered, as lines.
    fn lines(&self, chunk: &Chunk, answer: &str) -> Vec<Line> {
        let places: Vec<usize> = (chunk.first..chunk.end).filter(|place| !self.told[*place].text.is_empty()).collect();
        let keepits: Vec<(usize, usize)> =
            self.kept_in(chunk).map(|number| (number, self.input.keepits[number].message as usize)).collect();
        let line = |said| match said {
            Said::Words { text, places } => Line {
                tier: chunk.tier,
                role: crate::session::Role::Assistant,
                kind: VersionMessageKind::Summary,
                text,
                places,
            },
            Said::Keepit(number) => self.keepit(chunk.tier, number),
        };
        answer::read(answer, &places, &keepits).into_iter().map(line).collect()
    }

    /// A marked passage, word for word.
    fn keepit(&self, tier: usize, number: usize) -> Line {
        let keepit = &self.input.keepits[number];
        let place = keepit.message as usize;
        let role = self.input.messages[place].role;
        Line { tier, role, kind: VersionMessageKind::Keepit, text: keepit.content.clone(), places: vec![place] }
    }

    /// What is told of a chunk, as lines: one for each message, and for each marked passage.
    fn as_told(&self, chunk: &Chunk) -> Vec<Line> {
        let mut lines = Vec::new();
        for place in chunk.first..chunk.end {
            let mut text = self.told[place].text.clone();
            let kept: Vec<usize> =
                self.kept_in(chunk).filter(|number| self.input.keepits[*number].message as usize == place).collect();
            for number in &kept {
                text = text.replace(&outside::keepit_name(*number), "");
            }
            if !text.trim().is_empty() {
                let role = self.input.messages[place].role;
                let text = text.trim().to_owned();
                lines.push(Line {
                    tier: chunk.tier,
                    role,
                    kind: VersionMessageKind::Elided,
                    text,
                    places: vec![place],
                });
            }
            lines.extend(kept.into_iter().map(|number| self.keepit(chunk.tier, number)));
        }
        lines
    }

    fn put_together(
        mut self,
        parts: Vec<Vec<Line>>,
        decay: &Decay,
        spent: asking::Spent,
        trimmed: u64,
    ) -> Result<Outcome> {
        let mut lines: Vec<Line> = parts.into_iter().flatten().collect();
        // Passages of chunks that nobody was asked about.
        for number in (0..self.input.keepits.len()).filter(|number| self.survives[*number]) {
            let place = self.input.keepits[number].message as usize;
            if !self.ready.iter().any(|ready| (ready.chunk.first..ready.chunk.end).contains(&place)) {
                let ranges = outside::ranges(self.settings, self.input.messages.len());
                let tier = ranges.iter().position(|(from, end)| (*from..*end).contains(&place)).unwrap_or(0);
                let after = lines.iter().position(|line| line.places.iter().all(|at| *at > place));
                let line = self.keepit(tier, number);
                lines.insert(after.unwrap_or(lines.len()), line);
            }
        }
        lines.sort_by_key(|line| line.tier);
        let trimmed_after = fit::fit(&mut lines, &mut self.record, decay)?;
        let unsaid = self.unsaid(&lines);
        let mut outcome = self.record.outcome(&lines, unsaid);
        let questions: Vec<&str> = self.ready.iter().map(|ready| ready.question.as_str()).collect();
        outcome.made_by = Some(ModelRun {
            engine: self.asked.endpoint.engine.name().to_owned(),
            model: self.asked.model.id.clone(),
            prompt_version: prompt::VERSION,
            input_hash: ContentHash::of(&questions.join("\n\n")).to_string(),
            calls: spent.calls,
            reused: spent.reused,
            input_tokens: spent.input_tokens,
            output_tokens: spent.output_tokens,
            cost: spent.cost,
            redactions: self.redactions.list(),
            trimmed: trimmed + trimmed_after,
        });
        Ok(outcome)
    }

    /// Messages that were told and that no line names, and those that there was no room to ask about.
    fn unsaid(&self, lines: &[Line]) -> Vec<LeftOut> {
        let mut said = vec![false; self.told.len()];
        for place in lines.iter().flat_map(|line| &line.places) {
            said[*place] = true;
        }
        let unsaid: Vec<usize> =
            (0..said.len()).filter(|place| !said[*place] && !self.told[*place].text.is_empty()).collect();
        if unsaid.is_empty() {
            return Vec::new();
        }
        let tokens = unsaid.iter().map(|place| self.input.tokens[*place]).sum();
        vec![LeftOut { reason: "not in the summary".to_owned(), messages: unsaid.len() as u64, tokens }]
    }
}

/// Which marked passages survive, by the verdicts of the built-in engine.
fn survivors(input: &Input<'_>, settings: &Resolved, built_in: &Outcome) -> Vec<bool> {
    let verdict = |keepit: &compress::Marked| {
        built_in.keepits.iter().any(|verdict| verdict.marker_id == keepit.marker_id && verdict.survives)
    };
    input.keepits.iter().map(|keepit| settings.keepit_mode != KeepitMode::Ignore && verdict(keepit)).collect()
}

/// The beginning of a marked passage, without secrets.
fn in_short(passage: &str) -> String {
    let passage = redact(passage).0;
    match passage.char_indices().nth(MOST_OF_PASSAGE) {
        Some((end, _)) => format!("{}…", &passage[..end]),
        None => passage,
    }
}

/// A text that is longer than a model can be told at once, by its two ends.
fn shortened(text: &str, most: u64) -> std::borrow::Cow<'_, str> {
    // A token is at least a byte, and three as a rule.
    let bytes = usize::try_from(most).unwrap_or(usize::MAX).saturating_mul(2);
    if text.len() <= bytes {
        return text.into();
    }
    let head = text.floor_char_boundary(bytes / 2);
    let tail = text.ceil_char_boundary(text.len() - bytes / 2);
    let left_out = text[head..tail].chars().count();
    format!("{}\n[… {left_out} characters]\n{}", &text[..head], &text[tail..]).into()
}

#[cfg(test)]
mod tests;
