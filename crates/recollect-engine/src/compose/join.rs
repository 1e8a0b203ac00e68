//! Joins components: what two of them share stands once (forks, resumed copies, a session taken twice).

use std::collections::HashMap;

use crate::api::compression::VersionMessage;
use crate::ids::SessionId;
use crate::time::Time;

/// A message of an original, as far as it tells whether another is the same.
#[derive(Debug, Clone)]
pub(super) struct Origin {
    pub(super) uuid: String,
    pub(super) reply_id: Option<String>,
    pub(super) hash: String,
    pub(super) timestamp: Option<Time>,
}

/// What a component brings.
#[derive(Debug, Clone, Copy)]
pub(super) struct Brought<'a> {
    pub(super) session_id: &'a SessionId,
    /// The messages of its original, by index.
    pub(super) origins: &'a HashMap<u32, Origin>,
    /// What is taken of it.
    pub(super) messages: &'a [VersionMessage],
    /// Words of its keepits.
    pub(super) keepits: &'a [String],
}

/// Which messages of each component stand, by their positions; and how many do not because another component has them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Joined {
    pub(super) stands: Vec<Vec<usize>>,
    /// Left out of each component.
    pub(super) shared: Vec<Vec<usize>>,
}

/// Makes shared messages stand once, where they come first. Only a passage that was marked and that the first
/// place does not have word for word makes a message stand where it comes later; the first then gives way.
/// Order within a component stays, and so do repeats within it.
pub(super) fn join(components: &[Brought<'_>]) -> Joined {
    let mut stands: Vec<Vec<bool>> = components.iter().map(|component| vec![true; component.messages.len()]).collect();
    // Messages that carry a source, by what names it.
    let mut carriers: HashMap<Key<'_>, Vec<(usize, usize)>> = HashMap::new();
    for (order, component) in components.iter().enumerate() {
        for (position, message) in component.messages.iter().enumerate() {
            let Some(earlier) = earlier_carriers(&carriers, component, message, order) else { continue };
            let has = |passage: &str| {
                earlier.iter().any(|(order, position)| {
                    stands[*order][*position] && components[*order].messages[*position].text.contains(passage)
                })
            };
            let loses =
                component.keepits.iter().any(|passage| message.text.contains(passage.as_str()) && !has(passage));
            if !loses {
                stands[order][position] = false;
                continue;
            }
            for (first, place) in earlier {
                if is_covered(components, (first, place), (order, position)) {
                    stands[first][place] = false;
                }
            }
        }
        for (position, message) in
            component.messages.iter().enumerate().filter(|(position, _)| stands[order][*position])
        {
            for key in message.source_indexes.iter().flat_map(|index| keys(component, *index)) {
                carriers.entry(key).or_default().push((order, position));
            }
        }
    }
    let positions = |wanted: bool| -> Vec<Vec<usize>> {
        stands.iter().map(|stands| (0..stands.len()).filter(|at| stands[*at] == wanted).collect()).collect()
    };
    Joined { shared: positions(false), stands: positions(true) }
}

/// What names a message beyond its session.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key<'a> {
    /// Its own place: the session is taken twice.
    Own(&'a SessionId, u32),
    /// Its uuid: a fork keeps those of its parent.
    Uuid(&'a str),
    /// Reply and content: a resumed copy of older clients keeps the reply's id and gives new uuids.
    Reply(&'a str, &'a str),
    /// Moment and content: the user's messages in such a copy have no reply.
    Moment(Time, &'a str),
}

fn keys<'a>(component: &Brought<'a>, index: u32) -> Vec<Key<'a>> {
    let mut keys = vec![Key::Own(component.session_id, index)];
    let Some(origin) = component.origins.get(&index) else { return keys };
    // A made name (`line-12`) means another message in another file.
    if uuid::Uuid::try_parse(&origin.uuid).is_ok() {
        keys.push(Key::Uuid(&origin.uuid));
    }
    if let Some(reply) = &origin.reply_id {
        keys.push(Key::Reply(reply, &origin.hash));
    }
    if let Some(time) = origin.timestamp {
        keys.push(Key::Moment(time, &origin.hash));
    }
    keys
}

/// The standing messages of earlier components that carry what a message says; none when a source of it is new.
fn earlier_carriers(
    carriers: &HashMap<Key<'_>, Vec<(usize, usize)>>,
    component: &Brought<'_>,
    message: &VersionMessage,
    order: usize,
) -> Option<Vec<(usize, usize)>> {
    let mut all = Vec::new();
    for index in &message.source_indexes {
        let known: Vec<_> = keys(component, *index)
            .iter()
            .filter_map(|key| carriers.get(key))
            .flatten()
            .filter(|(first, _)| *first < order)
            .copied()
            .collect();
        if known.is_empty() {
            return None;
        }
        all.extend(known);
    }
    all.sort_unstable();
    all.dedup();
    (!all.is_empty()).then_some(all)
}

/// Whether all sources of one message are sources of another.
fn is_covered(components: &[Brought<'_>], one: (usize, usize), other: (usize, usize)) -> bool {
    let names = |(order, position): (usize, usize)| {
        let component = &components[order];
        component.messages[position].source_indexes.iter().map(move |index| keys(component, *index))
    };
    names(one).all(|source| names(other).flatten().any(|key| source.contains(&key)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::api::compression::VersionMessageKind;
    use crate::session::Role;

    fn message(index: u32, text: &str, sources: &[u32]) -> VersionMessage {
        VersionMessage {
            index,
            uuid: format!("m{index}"),
            role: Role::User,
            kind: VersionMessageKind::Verbatim,
            timestamp: None,
            text: text.to_owned(),
            hash: String::new(),
            tokens: 1,
            sources: Vec::new(),
            source_indexes: sources.to_vec(),
        }
    }

    fn origin(number: u128, reply: Option<&str>, hash: &str, millis: Option<i64>) -> Origin {
        Origin {
            uuid: uuid::Uuid::from_u128(number).to_string(),
            reply_id: reply.map(str::to_owned),
            hash: hash.to_owned(),
            timestamp: millis.map(Time::from_millis),
        }
    }

    struct Made {
        session: SessionId,
        origins: HashMap<u32, Origin>,
        messages: Vec<VersionMessage>,
        keepits: Vec<String>,
    }

    impl Made {
        fn brought(&self) -> Brought<'_> {
            Brought {
                session_id: &self.session,
                origins: &self.origins,
                messages: &self.messages,
                keepits: &self.keepits,
            }
        }
    }

    fn made(session: &str, origins: Vec<Origin>) -> Made {
        let messages = (0..origins.len())
            .map(|at| message(at as u32, &format!("text {}", origins[at].hash), &[at as u32]))
            .collect();
        let origins = (0..).zip(origins).collect();
        Made { session: session.into(), origins, messages, keepits: Vec::new() }
    }

    #[test]
    fn a_fork_gives_only_what_its_parent_has_not() {
        let parent =
            made("a", vec![origin(1, None, "h1", None), origin(2, None, "h2", None), origin(3, None, "h3", None)]);
        let fork =
            made("b", vec![origin(1, None, "h1", None), origin(2, None, "h2", None), origin(9, None, "h9", None)]);
        let joined = join(&[parent.brought(), fork.brought()]);
        assert_eq!(joined.stands, [vec![0, 1, 2], vec![2]]);
        assert_eq!(joined.shared, [vec![], vec![0, 1]]);
    }

    #[test]
    fn a_resumed_copy_is_known_by_replies_and_moments() {
        let first = made("a", vec![origin(1, None, "go", Some(5)), origin(2, Some("msg_1"), "done", Some(6))]);
        let copy = made(
            "b",
            vec![
                origin(11, None, "go", Some(5)),
                origin(12, Some("msg_1"), "done", None),
                origin(13, Some("msg_1"), "more", None),
            ],
        );
        assert_eq!(
            join(&[first.brought(), copy.brought()]).stands,
            [vec![0, 1], vec![2]],
            "another part of the reply is new"
        );
    }

    #[test]
    fn the_same_words_at_another_time_are_another_message() {
        let first = made("a", vec![origin(1, None, "continue", Some(5)), origin(2, None, "continue", Some(9))]);
        let other = made("b", vec![origin(3, None, "continue", Some(7)), origin(4, None, "continue", None)]);
        assert_eq!(join(&[first.brought(), other.brought()]).shared, [vec![], Vec::<usize>::new()]);
    }

    #[test]
    fn made_up_names_do_not_make_messages_the_same() {
        let unnamed = |session: &str, hash: &str| {
            made(
                session,
                vec![Origin { uuid: "line-1".to_owned(), reply_id: None, hash: hash.to_owned(), timestamp: None }],
            )
        };
        let (first, second) = (unnamed("a", "x"), unnamed("b", "y"));
        assert_eq!(join(&[first.brought(), second.brought()]).stands, [vec![0], vec![0]]);
        assert_eq!(
            join(&[first.brought(), first.brought()]).stands,
            [vec![0], vec![]],
            "but in a session taken twice they do"
        );
    }

    #[test]
    fn a_summary_stands_unless_all_that_it_tells_is_there() {
        let whole = made("a", vec![origin(1, None, "h1", None), origin(2, None, "h2", None)]);
        let mut summary =
            made("b", vec![origin(1, None, "h1", None), origin(2, None, "h2", None), origin(3, None, "h3", None)]);
        summary.messages =
            vec![message(0, "both", &[0, 1]), message(1, "one is new", &[1, 2]), message(2, "a note", &[])];
        assert_eq!(join(&[whole.brought(), summary.brought()]).stands, [vec![0, 1], vec![1, 2]]);
    }

    #[test]
    fn a_marked_passage_is_never_lost_to_a_poorer_first_place() {
        let mut first = made("a", vec![origin(1, None, "h1", None), origin(2, None, "h2", None)]);
        first.messages[0].text = "we chose a database".to_owned();
        let mut second = made("b", vec![origin(1, None, "h1", None)]);
        second.messages[0].text = "we chose PostgreSQL for its JSONB".to_owned();
        second.keepits = vec!["PostgreSQL for its JSONB".to_owned()];
        assert_eq!(join(&[first.brought(), second.brought()]).stands, [vec![1], vec![0]], "once, where it is whole");
        first.messages[0].text = "so: PostgreSQL for its JSONB".to_owned();
        assert_eq!(join(&[first.brought(), second.brought()]).stands, [vec![0, 1], vec![]], "the first has it too");
    }

    proptest! {
        #[test]
        fn each_message_stands_once_and_order_stays(sessions in prop::collection::vec(prop::collection::vec(0_u128..12, 0..10), 1..6)) {
            let made: Vec<Made> = sessions.iter().enumerate().map(|(at, numbers)| {
                made(&format!("s{at}"), numbers.iter().map(|number| origin(*number + 1, None, &number.to_string(), None)).collect())
            }).collect();
            let brought: Vec<_> = made.iter().map(Made::brought).collect();
            let joined = join(&brought);
            let mut before = std::collections::HashSet::new();
            for (order, numbers) in sessions.iter().enumerate() {
                prop_assert!(joined.stands[order].is_sorted());
                let standing: Vec<u128> = joined.stands[order].iter().map(|at| numbers[*at]).collect();
                let expected: Vec<u128> = numbers.iter().filter(|number| !before.contains(*number)).copied().collect();
                prop_assert_eq!(standing, expected, "all that is new, repeats within a session too");
                before.extend(numbers.iter().copied());
            }
        }
    }
}
