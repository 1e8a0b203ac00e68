//! Tests of the marker scanner.

use proptest::prelude::*;

use super::*;

/// Weights and contents of the markers of a text.
fn found(text: &str) -> Vec<(u8, &str)> {
    find(text).into_iter().map(|marker| (marker.weight.hundredths(), &text[marker.content.bytes])).collect()
}

#[test]
fn the_accepted_forms_are_found() {
    for (form, weight) in [
        ("##keepit0.80##", 80),
        ("##keepit1##", 100),
        ("##keepit.8##", 80),
        ("##keepit0.8##", 80),
        ("##KeepIt0.80##", 80),
        ("##KEEPIT1.00##", 100),
        ("##keepit7##", 100),
        ("##keepit-0.5##", 0),
        ("##keepit0.285##", 29),
    ] {
        assert_eq!(found(&format!("before {form} decided")), [(weight, "decided")], "{form}");
    }
}

#[test]
fn malformed_markers_are_text() {
    for text in [
        "##keepit##",
        "##keepitX##",
        "##keepit0.8#",
        "#keepit0.8##",
        "##keepit 0.8##",
        "##keepit0,8##",
        "##keepit0.8.1##",
        "##keepit1.##",
        "##keepit.##",
        "##keepit-##",
        "## keepit0.8##",
        "##/keepit##",
        "",
        "##",
        "##keepit",
    ] {
        assert_eq!(found(text), [], "{text:?}");
        assert_eq!(strip(text), text);
    }
    assert_eq!(found("##keepit0.5## see ##keepit## and ##keepitX##"), [(50, "see ##keepit## and ##keepitX##")]);
}

#[test]
fn content_runs_to_the_next_marker_the_closing_or_the_end() {
    let text = "a ##keepit0.5## one\n\ntwo ##keepit0.9##\nthree ##/keepit## not ##/KEEPIT## this ##keepit1##  four  ";
    assert_eq!(found(text), [(50, "one\n\ntwo"), (90, "three"), (100, "four")]);
    assert_eq!(found("##keepit0.5####keepit0.6##x"), [(50, ""), (60, "x")], "a marker may mark nothing");
    assert_eq!(found("####keepit0.5##x##keepit0.6##"), [(50, "x"), (60, "")], "more signs may stand before it");
    assert_eq!(found("###keepit0.5###"), [(50, "#")], "an odd number of signs hides none");
}

#[test]
fn places_are_in_bytes_and_in_characters() {
    let text = "Grüße 🙂 ##keepit0.80##  wählt Ω ##/keepit##.";
    let marker = find(text).remove(0);
    assert_eq!(&text[marker.syntax.bytes.clone()], "##keepit0.80##");
    assert_eq!(marker.syntax.characters, 8..22);
    assert_eq!(&text[marker.number.clone()], "0.80");
    assert_eq!(&text[marker.content.bytes.clone()], "wählt Ω");
    assert_eq!(marker.content.characters, 24..31);
    assert_eq!(marker.closing.map(|closing| &text[closing]), Some("##/keepit##"));
}

#[test]
fn markers_in_backtick_code_are_not_markers() {
    for text in [
        "write `##keepit0.8##` before it",
        "``a ` ##keepit0.8##``",
        "over `two\nlines ##keepit0.8##` of a paragraph",
        "```\n##keepit0.8## x\n```",
        "~~~text\n##keepit0.8## x\n~~~",
        "````md\n```\n##keepit0.8##\n```\n````",
        "```\nnever closed\n\n##keepit0.8##",
        "- item\n\n  ```\n  ##keepit0.8##\n  ```\n",
        "> ```\n> ##keepit0.8##\n> ```\n",
        "<note>\nwrite `##keepit0.8##`\n</note>",
        "text\n\n    indented `##keepit0.8##` code",
        "text\n\n    ```\n    ##keepit0.8##\n    ```\n",
    ] {
        assert_eq!(found(text), [], "{text:?}");
        assert_eq!(strip(text), text, "what is not a marker stays");
    }
}

#[test]
fn backticks_that_make_no_code_hide_nothing() {
    for text in [
        "a ` lone one ##keepit0.8##x",
        "a `` uneven ` ##keepit0.8##x",
        "a ` here\n\nand there ` ##keepit0.8##x",
        "escaped \\` ##keepit0.8##x",
        "`code` ##keepit0.8##x",
        "```\ncode\n```\n##keepit0.8##x",
        "> ```\n> code\n\n##keepit0.8##x",
        "text\n\n    ##keepit0.8##x",
        "<note>\n##keepit0.8##x",
        "# ##keepit0.8##x",
    ] {
        assert_eq!(found(text), [(80, "x")], "{text:?}");
    }
    assert_eq!(
        found("##keepit0.5## run `##keepit0.9##` and ```rs``` ##/keepit## end"),
        [(50, "run `##keepit0.9##` and ```rs```")],
        "code is content like any other"
    );
}

#[test]
fn stripping_leaves_the_words_as_they_would_be_written_without_marks() {
    for (text, bare) in [
        ("##keepit0.80## This is it", "This is it"),
        ("so ##keepit0.80## this ##/keepit## and on", "so this and on"),
        ("end ##keepit1##", "end"),
        ("a\n##keepit0.5##\nb", "a\nb"),
        ("(##keepit1##x##/keepit##)", "(x)"),
        ("a ##keepit0.5##\nb", "a\nb"),
        ("one ##keepit0.5## two ##keepit0.7## three", "one two three"),
        ("##keepit1####keepit1## x", "x"),
        ("##kee##keepit1##pit1## x", "x"),
        ("plain ##/keepit## stays", "plain ##/keepit## stays"),
    ] {
        assert_eq!(strip(text), bare, "{text:?}");
    }
}

#[test]
fn markers_put_together_on_purpose_are_gone_too() {
    let mut text = "x".to_owned();
    for _ in 0..50 {
        text = format!("##keep##keepit1##it1## {text}").replace("it1##", "i##keepit1##t1##");
        text.truncate(20_000);
    }
    let bare = strip(&text);
    assert_eq!(found(&bare), []);
    assert_eq!(strip(&bare), bare);
}

#[test]
fn a_large_text_full_of_signs_is_read_in_one_go() {
    let text = format!("{}{}", "#".repeat(2_000_000), "##keepit0.5##x `\n\n".repeat(50_000));
    assert_eq!(find(&text).len(), 50_000);
}

/// Texts in which markers, code and their halves are likely.
fn texts() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        Just("##keepit0.80##".to_owned()),
        Just("##Keepit1##".to_owned()),
        Just("##/keepit##".to_owned()),
        Just("##keep".to_owned()),
        Just("it.5##".to_owned()),
        "[`~]{1,4}",
        "[\n #<>*-]{1,5}",
        "\\PC{0,4}",
        "[a-zé🙂 ]{0,6}",
    ];
    proptest::collection::vec(part, 0..24).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn places_slice_back_to_the_content(text in texts()) {
        let characters: Vec<char> = text.chars().collect();
        let mut end = 0;
        for marker in find(&text) {
            let content = &text[marker.content.bytes.clone()];
            prop_assert_eq!(content.trim(), content);
            for span in [&marker.syntax, &marker.content] {
                let by_characters: String = characters[span.characters.clone()].iter().collect();
                prop_assert_eq!(by_characters.as_str(), &text[span.bytes.clone()]);
            }
            prop_assert!(marker.syntax.bytes.start >= end, "markers are in order and apart");
            prop_assert!(marker.content.bytes.start >= marker.syntax.bytes.end);
            prop_assert!(text[marker.syntax.bytes.clone()].to_lowercase().starts_with("##keepit"));
            prop_assert_eq!(Weight::parse(&text[marker.number.clone()]), Some(marker.weight));
            end = marker.content.bytes.end;
        }
    }

    #[test]
    fn stripping_leaves_no_marker_and_is_idempotent(text in texts()) {
        let bare = strip(&text);
        prop_assert_eq!(find(&bare), vec![], "in {:?}", bare);
        prop_assert_eq!(strip(&bare), bare);
    }

    #[test]
    fn marked_words_survive_stripping(before in "[a-z .\n]{0,20}", words in "[a-z]{1,8}( [a-z]{1,8}){0,4}", after in "[a-z .\n]{0,20}") {
        let bare = strip(&format!("{before}##keepit0.8## {words} ##/keepit##{after}"));
        prop_assert!(bare.contains(&words));
    }
}
