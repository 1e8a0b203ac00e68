//! Terms of a text and how rare each is in its session: what coverage counts.

use std::collections::HashMap;

use unicode_segmentation::UnicodeSegmentation;

/// Numbers for terms, and in how many messages each stands.
#[derive(Debug, Default)]
pub(super) struct Terms {
    numbers: HashMap<String, u32>,
    document_counts: Vec<u32>,
    last_document: Vec<u32>,
    shape: Vec<f32>,
}

/// English function words: they carry no particulars whatever their count. Rarity alone cannot tell in a short session.
const FUNCTION_WORDS: &[&str] = &[
    "a", "about", "after", "again", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "been", "before",
    "being", "but", "by", "can", "could", "d", "did", "do", "does", "doing", "don", "down", "for", "from", "get",
    "got", "had", "has", "have", "having", "he", "her", "here", "him", "his", "how", "i", "if", "in", "into", "is",
    "it", "its", "just", "let", "ll", "m", "me", "might", "more", "must", "my", "no", "nor", "not", "now", "of", "off",
    "oh", "ok", "on", "or", "our", "out", "over", "re", "really", "s", "shall", "she", "should", "so", "some", "such",
    "t", "than", "that", "the", "their", "them", "then", "there", "these", "they", "this", "those", "to", "too", "up",
    "us", "ve", "very", "was", "we", "well", "were", "what", "when", "where", "which", "who", "whom", "whose", "why",
    "will", "with", "would", "yeah", "yes", "you", "your",
];

impl Terms {
    /// Terms of `text`, each once, in order of first use; counts them for message number `document`.
    pub(super) fn read(&mut self, text: &str, document: u32) -> Vec<u32> {
        let mut found: Vec<u32> = Vec::new();
        let mut word = String::new();
        let mut first = true;
        for piece in text.split(|character: char| !character.is_alphanumeric()) {
            if piece.is_empty() {
                continue;
            }
            // Scripts without spaces between words are cut by the rules of Unicode; the rest is one word already.
            if piece.is_ascii() {
                self.take(piece, first, document, &mut word, &mut found);
            } else {
                for part in piece.unicode_words() {
                    self.take(part, first, document, &mut word, &mut found);
                }
            }
            first = false;
        }
        found
    }

    fn take(&mut self, piece: &str, first: bool, document: u32, word: &mut String, found: &mut Vec<u32>) {
        word.clear();
        word.extend(piece.chars().flat_map(char::to_lowercase));
        if word.len() > 40 || FUNCTION_WORDS.binary_search(&word.as_str()).is_ok() {
            return;
        }
        stem(word);
        let number = match self.numbers.get(word.as_str()) {
            Some(number) => *number,
            None => {
                let number = self.document_counts.len() as u32;
                self.numbers.insert(word.clone(), number);
                self.document_counts.push(0);
                self.last_document.push(u32::MAX);
                self.shape.push(shape(piece, first));
                number
            }
        };
        let at = number as usize;
        if self.last_document[at] != document {
            self.last_document[at] = document;
            self.document_counts[at] += 1;
        }
        if !found.contains(&number) {
            found.push(number);
        }
    }

    /// Weight of each term among `documents` messages: its inverse document frequency, more for names and numbers.
    pub(super) fn weights(&self, documents: u32) -> Vec<f32> {
        self.document_counts
            .iter()
            .zip(&self.shape)
            .map(|(count, shape)| {
                let share = (f64::from(documents) + 1.0) / (f64::from(*count) + 0.5);
                (share.ln().max(0.0) * f64::from(*shape)) as f32
            })
            .collect()
    }
}

/// Names and numbers are particulars.
fn shape(piece: &str, first: bool) -> f32 {
    let digits = piece.chars().filter(char::is_ascii_digit).count();
    if digits == piece.len() {
        return if piece.len() <= 4 { 1.0 } else { 0.5 };
    }
    if digits > 0 && piece.len() > 8 {
        // Hashes and generated names: rare by nature, not by meaning.
        return 0.35;
    }
    if !first && piece.starts_with(char::is_uppercase) { 1.6 } else { 1.0 }
}

/// Cuts the commonest English endings, so that `painting` covers `paint`.
fn stem(word: &mut String) {
    if !word.is_ascii() || word.len() < 5 {
        return;
    }
    for (ending, least) in
        [("ings", 4), ("ing", 4), ("edly", 4), ("ied", 3), ("ies", 3), ("ed", 4), ("es", 4), ("ly", 4), ("s", 4)]
    {
        if let Some(root) = word.strip_suffix(ending)
            && root.len() >= least
            && !(ending == "s" && root.ends_with('s'))
        {
            let mut length = root.len();
            let bytes = root.as_bytes();
            if bytes[length - 1] == bytes[length - 2] && !matches!(bytes[length - 1], b'l' | b's' | b'e' | b'o') {
                length -= 1;
            }
            word.truncate(length);
            if word.ends_with('e') {
                word.pop();
            }
            return;
        }
    }
    if word.ends_with('e') {
        word.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_are_one_term_and_function_words_are_none() {
        let mut terms = Terms::default();
        let first = terms.read("I was painting the paint, PAINTED paints", 0);
        assert_eq!(first.len(), 1, "one root, function words aside");
        assert_eq!(terms.read("painting", 1), first);
    }

    #[test]
    fn what_stands_in_few_messages_weighs_more() {
        let mut terms = Terms::default();
        let rare = terms.read("zebra", 0)[0];
        for document in 0..9 {
            terms.read("horse", document);
        }
        let horse = terms.read("horse", 9)[0];
        let weights = terms.weights(10);
        assert!(weights[rare as usize] > 3.0 * weights[horse as usize]);
    }

    #[test]
    fn the_list_of_function_words_is_sorted() {
        assert!(FUNCTION_WORDS.is_sorted(), "it is searched by halves");
    }

    #[test]
    fn scripts_without_spaces_have_terms() {
        let mut terms = Terms::default();
        assert!(terms.read("会議は明日の午後です", 0).len() > 2);
    }
}
