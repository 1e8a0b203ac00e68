//! Deletes versions that a rule does not keep (5.5): never one that a composition uses, never one whose text another that
//! stays was made from.

use std::collections::BTreeMap;

use super::delta::is_built_in;
use super::{list, remove};
use crate::api::compression::{Lineage, VersionRemoveRequest};
use crate::api::version::{KeptVersion, PrunedVersion, VersionPruneRequest, VersionsPruned};
use crate::config::retention::Retention;
use crate::db::VersionRow;
use crate::engine::{Call, Engine};
use crate::error::{Error, ErrorKind, Result};
use crate::ids::{SessionId, VersionId};
use crate::registry;
use crate::time::Time;

const DAY: i64 = 24 * 3_600_000;

/// What is to become of a version.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Verdict {
    keep: bool,
    why: String,
}

/// Deletes what the rule does not keep, or says what it would delete.
///
/// # Errors
/// `Usage` when the rule is not understood, `NotFound` when the session is not in memory; `Cancelled`: what was deleted until
/// then stays deleted. What fails for one session is told once the others are done.
pub fn prune(call: &Call<'_>, request: &VersionPruneRequest) -> Result<VersionsPruned> {
    let engine = call.engine;
    let rule = match &request.keep {
        None => engine.config()?.retention,
        Some(text) => Retention::parse(text).ok_or_else(|| {
            Error::usage(format!("`{text}` is no rule of what is kept")).hint(format!("it is {}", Retention::IN_WORDS))
        })?,
    };
    let sessions = match &request.session {
        Some(session) => vec![registry::resolve(engine, session)?],
        None => engine.db().read(|rows| rows.sessions_with_versions())?,
    };
    by(call, rule, &sessions, 0, request.dry_run)
}

/// Deletes what the setting does not keep, at leisure. What was made less than a day ago stays: its maker may not have used it yet.
///
/// # Errors
/// As [`prune`].
pub fn tidy(call: &Call<'_>) -> Result<VersionsPruned> {
    let rule = call.engine.config()?.retention;
    let sessions = match rule {
        Retention::All => Vec::new(),
        _ => call.engine.db().read(|rows| rows.sessions_with_versions())?,
    };
    by(call, rule, &sessions, DAY, false)
}

fn by(call: &Call<'_>, rule: Retention, sessions: &[SessionId], grace: i64, dry_run: bool) -> Result<VersionsPruned> {
    let engine = call.engine;
    let mut pruned =
        VersionsPruned { keep: rule.to_string(), dry_run, removed: Vec::new(), kept: Vec::new(), bytes: 0 };
    let mut failed = None;
    for session in sessions {
        call.cancel.check()?;
        let done =
            super::reconcile(engine, session).and_then(|()| of_session(engine, rule, session, grace, &mut pruned));
        // What is wrong with one session keeps the others from nothing.
        if let Err(error) = done {
            failed.get_or_insert(error);
        }
    }
    if let Some(error) = failed {
        return Err(error);
    }
    pruned.removed.sort_by_key(|version| version.created_at);
    Ok(pruned)
}

fn of_session(
    engine: &Engine,
    rule: Retention,
    session: &SessionId,
    grace: i64,
    pruned: &mut VersionsPruned,
) -> Result<()> {
    let (row, versions, uses) = engine.db().read(|rows| {
        let row =
            rows.session(session)?.ok_or_else(|| Error::not_found(format!("session {session} is not in memory")))?;
        Ok((row, rows.versions(session)?, rows.version_uses(session)?))
    })?;
    let verdicts = decide(&versions, &uses, rule, engine.now(), grace);
    let mut gone: Vec<VersionId> = Vec::new();
    for (version, verdict) in versions.iter().zip(&verdicts) {
        if verdict.keep {
            pruned.kept.push(kept(version, &verdict.why));
        } else {
            gone.push(version.version_id.clone());
        }
    }
    if gone.is_empty() {
        return Ok(());
    }
    if !pruned.dry_run {
        let request = VersionRemoveRequest { session: session.to_string(), versions: gone.clone(), force: false };
        match remove(engine, &request) {
            Ok(_) => {}
            // A composition took one of them just now, or another program was quicker: this session is left for the next time.
            Err(error) if matches!(error.kind, ErrorKind::Conflict | ErrorKind::NotFound) => {
                for version in
                    list(engine, session)?.versions.iter().filter(|version| gone.contains(&version.version_id))
                {
                    let (session_id, version) = (session.clone(), version.version_id.clone());
                    pruned.kept.push(KeptVersion { session_id, version, why: error.message.clone() });
                }
                return Ok(());
            }
            Err(error) => return Err(error),
        }
    }
    let title = row.user_title.as_deref().unwrap_or(&row.title);
    for (version, verdict) in versions.iter().zip(verdicts).filter(|(_, verdict)| !verdict.keep) {
        pruned.bytes += version.bytes;
        pruned.removed.push(PrunedVersion {
            session_id: session.clone(),
            title: title.to_owned(),
            version_id: version.version_id.clone(),
            file: version.file.clone(),
            created_at: version.created_at,
            last_used: version.last_used,
            output_tokens: version.output_tokens,
            bytes: version.bytes,
            auto_created: version.auto_created,
            by_model: !is_built_in(&version.settings),
            why: verdict.why,
        });
    }
    Ok(())
}

fn kept(version: &VersionRow, why: &str) -> KeptVersion {
    KeptVersion { session_id: version.session_id.clone(), version: version.version_id.clone(), why: why.to_owned() }
}

/// Decides on the versions of a session, which are given oldest first.
fn decide(
    versions: &[VersionRow],
    uses: &[(VersionId, String)],
    rule: Retention,
    now: Time,
    grace: i64,
) -> Vec<Verdict> {
    let keep = |why: String| Verdict { keep: true, why };
    let mut verdicts: Vec<Verdict> = versions
        .iter()
        .enumerate()
        .map(|(at, version)| {
            let users: Vec<&str> =
                uses.iter().filter(|(used, _)| *used == version.version_id).map(|(_, name)| name.as_str()).collect();
            if !users.is_empty() {
                return keep(format!("used in {}", users.join(", ")));
            }
            if now.millis() - version.created_at.millis() < grace {
                return keep("made less than a day ago".to_owned());
            }
            by_rule(version, versions.len() - at, rule, now)
        })
        .collect();
    // A source comes before what was made from it: from the newest on, each is decided when it is asked.
    let place: BTreeMap<&VersionId, usize> =
        versions.iter().enumerate().map(|(at, version)| (&version.version_id, at)).collect();
    for at in (0..versions.len()).rev() {
        let version = &versions[at];
        let Some(source) = version.source_version.as_ref().and_then(|source| place.get(source)).copied() else {
            continue;
        };
        if !verdicts[at].keep || verdicts[source].keep {
            continue;
        }
        if version.lineage == Lineage::From {
            verdicts[source] = keep(format!("{} was made from it", version.version_id));
        } else {
            let note = format!("; {} has its parts itself", version.version_id);
            verdicts[source].why.push_str(&note);
        }
    }
    verdicts
}

/// `newest` is 1 for the newest version of the session.
fn by_rule(version: &VersionRow, newest: usize, rule: Retention, now: Time) -> Verdict {
    let verdict = |keep, why: String| Verdict { keep, why };
    match rule {
        Retention::All => verdict(true, "everything is kept".to_owned()),
        Retention::Used => verdict(false, "no composition uses it".to_owned()),
        Retention::Last(count) => {
            let of = if count == 1 { "the newest".to_owned() } else { format!("the newest {count}") };
            match newest <= count as usize {
                true => verdict(true, if count == 1 { of } else { format!("one of {of}") }),
                false => verdict(
                    false,
                    format!("no composition uses it, and it is not {}{of}", if count == 1 { "" } else { "one of " }),
                ),
            }
        }
        Retention::Days(days) => {
            let last = version.last_used.map_or(version.created_at, |used| used.max(version.created_at));
            let age = (now.millis() - last.millis()).max(0) / DAY;
            let word = if version.last_used == Some(last) { "used" } else { "made" };
            let keep = age < i64::from(days);
            let tail = if keep { "" } else { ", and no composition uses it" };
            verdict(
                keep,
                format!("{word} {}{tail}", if age == 1 { "a day ago".to_owned() } else { format!("{age} days ago") }),
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Time = Time::from_millis(100 * DAY);

    fn version(number: u32, age: i64, source: Option<(&str, Lineage)>) -> VersionRow {
        VersionRow {
            session_id: "s".into(),
            version_id: VersionId::new(format!("v{number:03}")),
            number,
            file: String::new(),
            created_at: Time::from_millis(NOW.millis() - age * DAY),
            settings: crate::compress::uniform_within(100, 10).expect("settings"),
            engine: String::new(),
            original_tokens: 0,
            output_tokens: 0,
            output_messages: 0,
            keepit_stats: Default::default(),
            left_out: Vec::new(),
            source_version: source.map(|(source, _)| source.into()),
            last_used: None,
            bytes: 0,
            auto_created: false,
            lineage: source.map_or(Lineage::Original, |(_, lineage)| lineage),
            parts: Vec::new(),
            provenance: Default::default(),
            model_run: None,
        }
    }

    fn stays(versions: &[VersionRow], used: &[&str], rule: &str) -> Vec<u32> {
        let uses: Vec<(VersionId, String)> =
            used.iter().map(|version| (VersionId::from(*version), "a composition".to_owned())).collect();
        let verdicts = decide(versions, &uses, Retention::parse(rule).expect("a rule"), NOW, 0);
        versions.iter().zip(verdicts).filter(|(_, verdict)| verdict.keep).map(|(version, _)| version.number).collect()
    }

    #[test]
    fn rules_keep_what_they_say_and_what_is_used() {
        let versions = [version(1, 40, None), version(2, 30, None), version(3, 10, None), version(4, 1, None)];
        assert_eq!(stays(&versions, &[], "all"), [1, 2, 3, 4]);
        assert_eq!(stays(&versions, &["v002"], "used"), [2]);
        assert_eq!(stays(&versions, &["v001"], "last:2"), [1, 3, 4]);
        assert_eq!(stays(&versions, &[], "days:30"), [3, 4], "30 days ago is not within 30 days");
        let mut used = versions;
        used[0].last_used = Some(Time::from_millis(NOW.millis() - 2 * DAY));
        assert_eq!(stays(&used, &[], "days:30"), [1, 3, 4], "used lately");
    }

    #[test]
    fn the_source_of_what_stays_stays_unless_that_has_its_parts() {
        let from = [
            version(1, 9, None),
            version(2, 8, Some(("v001", Lineage::From))),
            version(3, 7, Some(("v002", Lineage::From))),
            version(4, 6, None),
        ];
        assert_eq!(stays(&from, &["v003"], "used"), [1, 2, 3], "the whole way back");
        assert_eq!(stays(&from, &[], "used"), [] as [u32; 0]);
        let extended = [version(1, 9, None), version(2, 8, Some(("v001", Lineage::Extended)))];
        assert_eq!(stays(&extended, &["v002"], "used"), [2]);
        let uses = [(VersionId::from("v002"), "c".to_owned())];
        let verdicts = decide(&extended, &uses, Retention::Used, NOW, 0);
        assert_eq!(verdicts[0].why, "no composition uses it; v002 has its parts itself");
        assert_eq!(verdicts[1].why, "used in c");
    }

    #[test]
    fn what_was_made_today_has_a_day_to_be_used() {
        let versions = [version(1, 2, None), version(2, 0, None)];
        let verdicts = decide(&versions, &[], Retention::Used, NOW, DAY);
        assert_eq!((verdicts[0].keep, verdicts[1].keep), (false, true));
        assert_eq!(verdicts[1].why, "made less than a day ago");
    }
}
