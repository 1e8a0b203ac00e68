//! Exports of every terminal and version, made up here in the shape that the client gives them.

use proptest::prelude::*;

use super::*;

fn parse(text: &str) -> Conversation {
    read(&Text::decode(text.as_bytes()))
}

fn said(conversation: &Conversation) -> Vec<(Role, MessageKind, String)> {
    conversation.clone().messages().into_iter().map(|message| (message.role, message.kind, message.text())).collect()
}

/// Who spoke, in short, with the words.
fn turns(text: &str) -> Vec<String> {
    said(&parse(text))
        .into_iter()
        .map(|(role, kind, text)| {
            let who = match (role, kind) {
                (Role::User, _) => "user",
                (Role::Assistant, _) => "assistant",
                (Role::Tool, _) => "tool",
                (Role::System, MessageKind::CompactBoundary) => "compacted",
                (Role::System, _) => "client",
            };
            format!("{who}: {text}")
        })
        .collect()
}

#[test]
fn either_pair_of_glyphs_tells_who_speaks() {
    for (user, reply) in [('>', '●'), ('❯', '⏺'), ('>', '⏺'), ('❯', '●')] {
        let text = format!(
            "{user} fix the login\n\n{reply} Looking.\n\n{reply} Bash(cargo test)\n  ⎿ \u{a0}ok\n     all passed\n\n{reply} Done.\n\n{user} thanks \n"
        );
        assert_eq!(
            turns(&text),
            [
                "user: fix the login",
                "assistant: Looking.",
                "assistant: Bash\ncommand: cargo test",
                "tool: ok\nall passed",
                "assistant: Done.",
                "user: thanks"
            ]
        );
    }
}

#[test]
fn a_call_and_its_result_carry_one_id_and_what_was_left_out_is_said() {
    let conversation = parse(
        "> go\n\n● Bash(seq 1 12)\n  ⎿  1\n     2\n     … +10 lines (ctrl+o to expand)\n\n● Read(a.rs)\n  ⎿  Read 5 lines (ctrl+r to expand)\n\n● Bash(exit 3)\n  ⎿  Error: Exit code 3\n",
    );
    let messages = conversation.messages();
    let cut: Vec<_> = messages.iter().map(|message| message.cut_lines).collect();
    assert_eq!(cut, [None, None, Some(10), None, Some(0), None, None]);
    let ids: Vec<_> = messages
        .iter()
        .flat_map(|message| &message.blocks)
        .filter_map(|block| match block {
            Block::ToolUse { id, .. } => Some(id.as_str()),
            Block::ToolResult { tool_use_id, .. } => Some(tool_use_id.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(ids, ["call-1", "call-1", "call-2", "call-2", "call-3", "call-3"]);
    assert!(matches!(&messages[6].blocks[0], Block::ToolResult { is_error: true, .. }));
}

#[test]
fn words_that_the_terminal_cut_are_joined_and_lists_and_code_are_not() {
    let paragraph = "  This is a long paragraph of the assistant that the terminal had to cut at its\n  right edge, and it goes on for so many words that there are several lines of it\n  because only then can the width of the terminal be told from how the lines end,\n  which all of these here do at nearly the same column, but for the very last one\n  here.\n\n  - an item\n  - another\n\n  let a = 1;\n  let b = 2;\n";
    let text = format!("> go\n\n● Here it is:\n\n{paragraph}");
    let said = turns(&text);
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(said[1].contains("terminal had to cut at its right edge"), "{}", said[1]);
    assert!(said[1].contains("very last one here.\n\n- an item\n- another\n\nlet a = 1;\nlet b = 2;"), "{}", said[1]);
}

#[test]
fn what_the_user_typed_goes_on_at_the_left_edge_or_indented() {
    let left = "> please look at the whole of this and tell me what you think about all \nof it\n\nAnd this:\n- one\n- two \n\n● Yes.\n";
    assert_eq!(
        turns(left)[0],
        "user: please look at the whole of this and tell me what you think about all of it\n\nAnd this:\n- one\n- two"
    );
    let width = 60;
    let pad = |line: &str| format!("{line:<width$}\n");
    let padded = pad("❯ please look at the whole of this and tell me what you")
        + &pad("  think about it")
        + &pad("")
        + &pad("    indented")
        + "\n● Yes.\n";
    assert_eq!(
        turns(&padded)[0],
        "user: please look at the whole of this and tell me what you think about it\n\n  indented"
    );
    assert_eq!(turns(&padded)[1], "assistant: Yes.");
}

#[test]
fn what_the_user_pasted_stays_the_users() {
    let text = "> I got this:\n● Bash(ls)\n  ⎿  file\nwhat is it?\n\n● A listing.\n";
    assert_eq!(turns(text), ["user: I got this:\n● Bash(ls)\n  ⎿  file\nwhat is it?", "assistant: A listing."]);
    let spaced = "> one \n\n● Yes.\n\n> two \n\n● Yes.\n\n> three \n\n● Yes.\n\n> look:\n\n● Pasted(words)\n\n> and quoted \n\n● Yes.\n";
    assert_eq!(
        turns(spaced)[6],
        "user: look:\n\n● Pasted(words)\n\n> and quoted",
        "what the user typed ends with a space here"
    );
}

#[test]
fn the_clients_own_lines_are_nobodys_words() {
    let text = " ▐▛███▜▌   Claude Code v2.1.5\n▝▜█████▛▘  Opus 4.5 · Claude Max\n  ▘▘ ▝▝    /home/ada/app\n\n❯ hi\n\n● Hello.\n\n✻ Baked for 13s · done 9:59 AM\n\n  Read 4 files (ctrl+o to expand)\n\n● Agent \"Sub task\" finished · 3s\n\n✻ Conversation compacted\n\n※ recap: we said hi\n  and no more\n\n❯ \n";
    let conversation = parse(text);
    assert_eq!(conversation.own, [1, 2, 3, 9, 20], "the banner, how long it took, an empty prompt");
    assert_eq!(
        turns(text),
        [
            "user: hi",
            "assistant: Hello.",
            "tool: Read 4 files (ctrl+o to expand)",
            "client: Agent \"Sub task\" finished · 3s",
            "compacted: Conversation compacted",
            "client: recap: we said hi\nand no more"
        ]
    );
    assert_eq!(conversation.records[0].record.cwd.as_deref(), Some("/home/ada/app"));
    assert_eq!(conversation.messages()[1].model.as_deref(), Some("Opus 4.5"));
}

#[test]
fn a_compaction_is_told_and_what_the_client_read_again_is_the_clients() {
    let text = "══════════ Conversation compacted · ctrl+o for history ══════════\n  ⎿  Read a.rs (10 lines)\n  ⎿  Read b.rs (20 lines)\n\n● Going on.\n\n> /compact\n  ⎿  Compacted (ctrl+o to see full summary)\n";
    assert_eq!(
        turns(text),
        [
            "compacted: Conversation compacted · ctrl+o for history",
            "client: Read a.rs (10 lines)",
            "client: Read b.rs (20 lines)",
            "assistant: Going on.",
            "user: /compact",
            "client: Compacted (ctrl+o to see full summary)"
        ]
    );
}

#[test]
fn shell_commands_decisions_and_interruptions() {
    let text = "! echo hi       \n  ⎿  hi\n● Said hi.\n\n● User answered Claude's questions:\n  ⎿  · Which? → That\n\n● I will now change all of it\n  ⎿  Interrupted · What should Claude do instead?\n\n∴ Thinking…\n\n  It may be late.\n\n● Yes! (really)\n";
    assert_eq!(
        turns(text),
        [
            "user: ! echo hi",
            "client: hi",
            "assistant: Said hi.",
            "tool: User answered Claude's questions:\n· Which? → That",
            "assistant: I will now change all of it",
            "client: Interrupted · What should Claude do instead?",
            "assistant: It may be late.",
            "assistant: Yes! (really)"
        ]
    );
}

#[test]
fn what_is_to_be_remembered_and_the_box_below_are_not_the_assistants() {
    let text = "> hi\n\n● Hello.\n\n# always run the tests\n  ⎿  Got it.\n\n❯ one\n  two\n\n● Yes.\n\n╭──────╮\n│ > Try \"fix it\" │\n╰──────╯\n  ? for shortcuts\n";
    assert_eq!(
        turns(text),
        [
            "user: hi",
            "assistant: Hello.",
            "user: # always run the tests",
            "client: Got it.",
            "user: one\ntwo",
            "assistant: Yes.",
            "client: ? for shortcuts"
        ]
    );
    assert_eq!(
        turns("● It has:\n\n# A heading at the edge\n\n  text\n")[0],
        "assistant: It has:\n\n# A heading at the edge\n\ntext"
    );
}

#[test]
fn only_texts_with_speakers_look_like_an_export() {
    let like = |text: &str| likeness(&Text::decode(text.as_bytes()));
    assert_eq!(like("> hi\n\n● Bash(ls)\n  ⎿  a\n"), Likeness::Certain);
    assert_eq!(like("> hi\n\n● Hello\n"), Likeness::Likely);
    assert_eq!(like("# Notes\n\n> a quote\n\n- item\n"), Likeness::None);
    assert_eq!(like(""), Likeness::None);
}

/// Every line that holds something belongs to exactly one message, or is listed.
fn check_lines(text: &str) -> Result<(), TestCaseError> {
    let conversation = parse(text);
    let spans: Vec<_> = conversation
        .records
        .iter()
        .filter(|placed| placed.record.message.is_some())
        .map(|placed| placed.lines.clone())
        .collect();
    for (at, line) in Text::decode(text.as_bytes()).lines.iter().enumerate().filter(|(_, line)| !is_blank(&line.text)) {
        let number = at as u64 + 1;
        let holders = spans.iter().filter(|span| span.contains(&number)).count()
            + conversation.own.iter().filter(|own| **own == number).count();
        prop_assert_eq!(holders, 1, "line {} `{}` of\n{}", number, line.text, text);
    }
    Ok(())
}

proptest! {
    #[test]
    fn every_line_belongs_to_one_message_or_is_listed(
        lines in proptest::collection::vec("(> |❯ |● |⏺|# |  ⎿  |  |     |! |✻ |∴ Thinking|※ |═══════════|═════ a |╭──Claude Code|│ |╰──|────────────| ▐▛ Claude Code v1|)[a-zA-Z(). …+]{0,12}(\\(ctrl\\+o to expand\\))?( {4})?", 0..40)
    ) {
        check_lines(&lines.join("\n"))?;
    }

    #[test]
    fn reading_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..400), text in "\\PC{0,200}") {
        read(&Text::decode(&bytes));
        check_lines(&text)?;
    }
}
