//! Finds messages that say nearly the same: sketches (MinHash) of all that was said, candidates by groups of their minima,
//! then the texts themselves compared.
//!
//! Nothing is kept of it and nothing is merged: each message stays where it is, with what only it says beside it. What is the
//! same word for word is one message with copies; parts of one reply, and exports whose transcript is in memory, are no
//! duplicates of anything.

mod likeness;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::HashMap;

use minhash_rs::index::{LshIndex, NoStore, QueryState};
use minhash_rs::prelude::MinHasher;
use rayon::prelude::*;

use crate::api::near_duplicates::{NearDuplicate, NearDuplicateGroup, NearDuplicates, NearDuplicatesRequest};
use crate::db::ConversationFile;
use crate::dedup::ContentHash;
use crate::engine::{Call, Engine};
use crate::error::{Error, Result};
use crate::event::Progress;
use crate::registry;
use crate::session::{Block, Message, MessageKind, Role};
use crate::time::Time;
use likeness::{BANDS, PERMUTATIONS, Sketch, first, only_in, similarity, stretches};

/// How alike messages are when nothing else is asked for.
const USUAL_SIMILARITY: f64 = 0.75;
/// What an estimate may be below the similarity that is asked for: the texts decide.
const DOUBT: f64 = 0.15;
/// Words of a message that is compared: "yes, please go on" is said everywhere.
const LEAST_WORDS: usize = 12;
/// Groups when no limit is given, and at most.
const USUAL_LIMIT: u32 = 50;
const MOST: u32 = 1000;
/// Characters of a message that are shown.
const SHOWN: usize = 4000;
/// Bytes of a transcript that are read at once.
const BATCH: u64 = 8 << 20;

/// A message that was said, once for all its copies.
struct Said {
    file: u32,
    index: u32,
    role: Role,
    timestamp: Option<Time>,
    reply_id: Option<String>,
    copies: u32,
}

/// Finds groups.
///
/// # Errors
/// `Usage` for a similarity or a limit that is none, `Cancelled`, or when the memory cannot be read.
pub fn find(call: &Call<'_>, request: &NearDuplicatesRequest) -> Result<NearDuplicates> {
    let least = request.similarity.unwrap_or(USUAL_SIMILARITY);
    if !(0.5..=1.0).contains(&least) {
        return Err(Error::usage(format!("a similarity of {least} is not between 0.5 and 1")));
    }
    let limit = request.limit.unwrap_or(USUAL_LIMIT);
    if !(1..=MOST).contains(&limit) {
        return Err(Error::usage(format!("a limit of {limit} is not between 1 and {MOST}")));
    }
    let files = call.engine.db().read(|rows| rows.conversation_files(request.project.as_ref()))?;
    let (said, sketches) = read(call, &files)?;
    let compared = said.len() as u64;
    let mut groups = groups(call, &files, &said, &sketches, least)?;
    groups.sort_by_key(|group| {
        let first = group.messages.first();
        (Reverse(group.messages.len()), first.map(|first| (first.timestamp, first.message_uuid.clone())))
    });
    let (total, messages) = (groups.len() as u64, groups.iter().map(|group| group.messages.len() as u64).sum());
    let groups = groups.into_iter().skip(request.offset.unwrap_or(0) as usize).take(limit as usize).collect();
    Ok(NearDuplicates { groups, total, messages, compared })
}

/// Reads all that was said; the earliest first.
fn read(call: &Call<'_>, files: &[ConversationFile]) -> Result<(Vec<Said>, Vec<Sketch>)> {
    let total: u64 = files.iter().map(|file| file.messages).sum();
    let mut done = 0;
    let mut known: HashMap<ContentHash, usize> = HashMap::new();
    let mut found: Vec<(Said, Sketch)> = Vec::new();
    for (number, file) in (0_u32..).zip(files) {
        let mut from = 0;
        while from < file.messages {
            call.cancel.check()?;
            let (batch, next) = registry::stored_messages(call.engine, file.file_id, from, BATCH)?;
            if next <= from {
                break;
            }
            let sketched: Vec<_> = batch.par_iter().filter_map(|message| Some((message, sketch(message)?))).collect();
            for (message, (hash, sketch)) in sketched {
                if let Some(known) = known.get(&hash) {
                    found[*known].0.copies += 1;
                    continue;
                }
                known.insert(hash, found.len());
                let said = Said {
                    file: number,
                    index: message.index,
                    role: message.role,
                    timestamp: message.timestamp,
                    reply_id: message.reply_id.clone(),
                    copies: 0,
                };
                found.push((said, sketch));
            }
            done += next - from;
            from = next;
            (call.progress)(Progress {
                done,
                total,
                unit: "messages".to_owned(),
                stage: "reading what was said".to_owned(),
            });
        }
    }
    found.sort_by_key(|(said, _)| (said.timestamp, said.file, said.index));
    Ok(found.into_iter().unzip())
}

/// What people and models say, not what tools print; `None` when that is too little.
fn sketch(message: &Message) -> Option<(ContentHash, Sketch)> {
    let text = said(message)?;
    let stretches = stretches(&text, LEAST_WORDS);
    (!stretches.is_empty()).then(|| (ContentHash::of(&text), stretches.into_iter().collect()))
}

fn said(message: &Message) -> Option<String> {
    let is_said = matches!(message.kind, MessageKind::Turn | MessageKind::CompactSummary)
        && matches!(message.role, Role::User | Role::Assistant);
    if !is_said {
        return None;
    }
    let texts: Vec<&str> = message
        .blocks
        .iter()
        .filter_map(|block| match block {
            Block::Text { text } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    Some(texts.join("\n\n"))
}

/// Groups: each message that is in none yet, with all later ones that say nearly the same; sketches tell which texts are
/// compared.
fn groups(
    call: &Call<'_>,
    files: &[ConversationFile],
    said: &[Said],
    sketches: &[Sketch],
    least: f64,
) -> Result<Vec<NearDuplicateGroup>> {
    let index: LshIndex<Sketch, PERMUTATIONS, BANDS, NoStore> = LshIndex::from_signatures(sketches.iter().copied());
    let mut state = QueryState::new();
    let mut taken = vec![false; said.len()];
    let mut groups = Vec::new();
    for first in 0..said.len() {
        if taken[first] {
            continue;
        }
        call.cancel.check()?;
        let mut alike = vec![first];
        for candidate in index.candidates(&sketches[first], &mut state) {
            let other = candidate.id as usize;
            let is_same_reply = said[first].reply_id.is_some() && said[first].reply_id == said[other].reply_id;
            if other > first
                && !taken[other]
                && !is_same_reply
                && sketches[first].estimate_jaccard_index(&sketches[other]) >= least - DOUBT
            {
                alike.push(other);
            }
        }
        if alike.len() > 1 {
            alike.sort_unstable();
            if let Some((members, group)) = compare(call.engine, files, said, &alike, least)? {
                for member in members {
                    taken[member] = true;
                }
                groups.push(group);
            }
        }
    }
    Ok(groups)
}

/// Compares the texts of a group with its first: the members that are alike enough, and the group of them; `None` when there
/// is no other.
fn compare(
    engine: &Engine,
    files: &[ConversationFile],
    said: &[Said],
    group: &[usize],
    least: f64,
) -> Result<Option<(Vec<usize>, NearDuplicateGroup)>> {
    let mut texts = Vec::new();
    for member in group {
        let (file, index) = (&files[said[*member].file as usize], u64::from(said[*member].index));
        let (messages, _) = registry::stored_messages(engine, file.file_id, index, 1)?;
        // What was removed meanwhile is in no group.
        let message = messages.into_iter().find(|message| u64::from(message.index) == index);
        let Some(message) = message else { continue };
        if let Some(text) = self::said(&message) {
            texts.push((*member, file, message, text));
        }
    }
    let Some((_, _, _, original)) = texts.first() else { return Ok(None) };
    let wanted = stretches(original, LEAST_WORDS);
    let measured: Vec<f64> =
        texts.par_iter().map(|(_, _, _, text)| similarity(&wanted, &stretches(text, LEAST_WORDS))).collect();
    let kept: Vec<_> = texts.iter().zip(measured).filter(|(_, measured)| *measured >= least).collect();
    let [((_, _, _, original), _), ((_, _, _, second), _), ..] = kept.as_slice() else { return Ok(None) };
    let mut messages = Vec::with_capacity(kept.len());
    for (at, ((member, file, message, text), similarity)) in kept.iter().enumerate() {
        let Some(place) = engine.db().read(|rows| rows.found_place(file.file_id))? else { continue };
        let shown = first(text, SHOWN);
        messages.push(NearDuplicate {
            session_id: place.session_id,
            session_title: place.title,
            project_id: place.project_id,
            project: place.project,
            agent_id: place.agent_id.or_else(|| message.agent_id.clone()),
            index: message.index,
            message_uuid: message.uuid.clone(),
            role: said[*member].role,
            timestamp: message.timestamp,
            similarity: *similarity,
            copies: said[*member].copies,
            text: shown.to_owned(),
            cut: text[shown.len()..].chars().count() as u64,
            only_here: only_in(text, if at == 0 { second } else { original }),
        });
    }
    let members = kept.iter().map(|((member, ..), _)| *member).collect();
    Ok((messages.len() > 1).then_some((members, NearDuplicateGroup { messages })))
}
