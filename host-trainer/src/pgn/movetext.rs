//! The text of a game's moves, in pieces: nothing is passed over that is not known to be no move.
//!
//! A reader that passes over words it does not know would go on after them as if they had not
//! been there, and find games that were never played.

/// A piece of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// What may be a move, its number, a result, or none of them; variations' are left out.
    Word(&'a [u8]),
    /// A comment, or a line's part of it; variations' are left out.
    Comment(&'a [u8]),
    /// A sign that cannot stand here.
    Stray(&'a [u8]),
}

/// What goes on from line to line.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Lexer {
    /// Whether a comment is open.
    pub comment: bool,
    /// How many variations are open.
    pub variations: u32,
}

impl Lexer {
    /// The next piece of a line, which is cut off from it; `None` at the line's end.
    pub(super) fn next<'a>(&mut self, line: &mut &'a [u8]) -> Option<Token<'a>> {
        loop {
            let text = *line;
            if self.comment {
                let end = memchr::memchr(b'}', text);
                *line = end.map_or(&[], |end| &text[end + 1..]);
                if text.is_empty() {
                    return None;
                }
                self.comment = end.is_none();
                if self.variations == 0 {
                    return Some(Token::Comment(&text[..end.unwrap_or(text.len())]));
                }
                continue;
            }
            let (&first, rest) = text.split_first()?;
            *line = rest;
            match first {
                b'{' => self.comment = true,
                // To the end of the line.
                b';' => *line = &[],
                b'(' => self.variations += 1,
                b')' if self.variations > 0 => self.variations -= 1,
                b')' | b'}' => return Some(Token::Stray(&text[..1])),
                b'!' | b'?' => {}
                b'$' => {
                    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
                    *line = &rest[digits..];
                    if digits == 0 {
                        return Some(Token::Stray(&text[..1]));
                    }
                }
                _ if is_space(first) => {}
                _ => {
                    let word = word(text);
                    *line = &text[word.len()..];
                    if self.variations == 0 {
                        return Some(Token::Word(word));
                    }
                }
            }
        }
    }
}

/// The word with which a text starts.
fn word(text: &[u8]) -> &[u8] {
    let end = text.iter().position(|&byte| ENDS[usize::from(byte)]).unwrap_or(text.len());
    // A promotion, as in `a8(Q)`, is no variation.
    let promotes = matches!(text[..end].last(), Some(b'1' | b'8'));
    match &text[end..] {
        [b'(', piece, b')', ..] if promotes && piece.is_ascii_alphabetic() => &text[..end + 3],
        _ => &text[..end],
    }
}

/// The bytes that end a word.
static ENDS: [bool; 256] = {
    let mut ends = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        ends[byte] = is_space(byte as u8)
            || matches!(byte as u8, b'{' | b'}' | b'(' | b')' | b';' | b'$' | b'!' | b'?');
        byte += 1;
    }
    ends
};

const fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(lines: &[&str]) -> String {
        let mut lexer = Lexer::default();
        let mut found = Vec::new();
        for line in lines {
            let mut line = line.as_bytes();
            while let Some(token) = lexer.next(&mut line) {
                let (sign, text) = match token {
                    Token::Word(text) => ("", text),
                    Token::Comment(text) => ("#", text),
                    Token::Stray(text) => ("stray ", text),
                };
                found.push(format!("{sign}{}", String::from_utf8_lossy(text)));
            }
        }
        found.join("|")
    }

    #[test]
    fn words_and_comments_are_told_from_variations_and_annotations() {
        assert_eq!(tokens(&["1. e4!? $14 e5?? {a b}d4;c"]), "1.|e4|e5|#a b|d4");
        assert_eq!(tokens(&["e4 (d4 {)} (c4)) e5", "d4"]), "e4|e5|d4");
        assert_eq!(tokens(&["e4 {one", "", "two} e5(d5", ")d4"]), "e4|#one|#two|e5|d4");
        assert_eq!(tokens(&["bxa8(Q)+ a1(n) a8(Q e4) h1(x y)"]), "bxa8(Q)|+|a1(n)|a8|h1");
        assert_eq!(tokens(&["e4 } e5 ) $x"]), "e4|stray }|e5|stray )|stray $|x");
        assert_eq!(tokens(&["{a {b} c}"]), "#a {b|c|stray }");
    }
}
