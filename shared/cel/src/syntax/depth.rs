//! The depth of an expression, counted by its tokens.

use cel::parser::pratt_parser::{Lexer, TokenKind};

use crate::{
    limits::{LONGEST_EXPRESSION, MOST_BRACKETS},
    syntax::{TOO_DEEP, at},
};

/// The depth of what has been read within a pair of brackets.
#[derive(Default)]
struct Level {
    closing: Option<TokenKind>,
    /// The deepest part between commas so far.
    deepest: usize,
    /// Since the last comma: the number of `?`, which nest in each other, and of `&&` and `||`,
    /// which form balanced trees around terms of at most `terms` levels.
    conditionals: usize,
    logicals: usize,
    terms: usize,
    /// Since the last logical operator: the number of other operators, the longest chain of
    /// selections such as `a.b[0]`, and the deepest brackets.
    operators: usize,
    longest_chain: usize,
    brackets: usize,
    /// Since the last operator: the length of the chain of selections.
    chain: usize,
}

impl Level {
    fn end_operand(&mut self) {
        self.longest_chain = self.longest_chain.max(self.chain);
        self.chain = 0;
    }

    fn end_term(&mut self) {
        self.end_operand();
        self.terms = self.terms.max(self.operators + self.longest_chain + self.brackets);
        self.operators = 0;
        self.longest_chain = 0;
        self.brackets = 0;
    }

    fn end_part(&mut self) {
        self.end_term();
        let logicals = self.logicals.checked_ilog2().map_or(0, |levels| 2 * (levels as usize + 2));
        self.deepest = self.deepest.max(self.conditionals + logicals + self.terms);
        self.conditionals = 0;
        self.logicals = 0;
        self.terms = 0;
    }

    /// Counts a token that is not a bracket.
    fn count(&mut self, kind: TokenKind) {
        match kind {
            TokenKind::TokComma => self.end_part(),
            TokenKind::TokQuestion => {
                self.end_operand();
                self.conditionals += 1;
            }
            TokenKind::TokLogicalAnd | TokenKind::TokLogicalOr => {
                self.end_term();
                self.logicals += 1;
            }
            TokenKind::TokDot => self.chain += 1,
            kind if is_operator(kind) => {
                self.end_operand();
                self.operators += 1;
            }
            _ => {}
        }
    }
}

/// The levels of brackets around the token that is read.
#[derive(Default)]
struct Levels {
    inner: Level,
    /// From the outermost to the next one.
    outer: Vec<Level>,
}

impl Levels {
    fn open(&mut self, bracket: TokenKind) -> Result<(), String> {
        if self.outer.len() == MOST_BRACKETS {
            return Err(TOO_DEEP.to_owned());
        }
        self.inner.chain += 1;
        let inner = Level { closing: closing(bracket), ..Level::default() };
        self.outer.push(std::mem::replace(&mut self.inner, inner));
        Ok(())
    }

    fn close(&mut self, bracket: TokenKind) -> Result<(), String> {
        self.inner.end_part();
        let fits = self.inner.closing == Some(bracket);
        let Some(around) = self.outer.pop().filter(|_| fits) else {
            return Err(format!("unexpected '{}'", bracket.as_str()));
        };
        let within = std::mem::replace(&mut self.inner, around);
        self.inner.brackets = self.inner.brackets.max(within.deepest + 1);
        Ok(())
    }
}

/// An upper bound of how deep the operations of an expression nest, so that recursion over them
/// does not overflow the stack. It is counted from tokens, without recursion.
///
/// # Errors
/// If the expression is too long, has too many brackets, or is not a sequence of tokens.
pub(crate) fn levels(expression: &str) -> Result<usize, String> {
    if expression.len() > LONGEST_EXPRESSION {
        return Err(format!(
            "the expression is too long; it may have at most {LONGEST_EXPRESSION} bytes"
        ));
    }
    let mut lexer = Lexer::new(expression);
    let mut levels = Levels::default();
    loop {
        let token = lexer.lex();
        let counted = match token.kind {
            TokenKind::TokEnd => break,
            TokenKind::TokError => {
                let text = lexer.get_error().map(|error| error.message.clone());
                Err(text.unwrap_or_else(|| "unexpected text".to_owned()))
            }
            TokenKind::TokLeftParen | TokenKind::TokLeftBracket | TokenKind::TokLeftBrace => {
                levels.open(token.kind)
            }
            TokenKind::TokRightParen | TokenKind::TokRightBracket | TokenKind::TokRightBrace => {
                levels.close(token.kind)
            }
            kind => {
                levels.inner.count(kind);
                Ok(())
            }
        };
        counted.map_err(|text| at(expression, token.start, &text))?;
    }
    let mut level = levels.inner;
    if let Some(closing) = level.closing {
        let text = format!("expected '{}' before the end", closing.as_str());
        return Err(at(expression, expression.len(), &text));
    }
    level.end_part();
    Ok(level.deepest)
}

fn closing(opening: TokenKind) -> Option<TokenKind> {
    match opening {
        TokenKind::TokLeftParen => Some(TokenKind::TokRightParen),
        TokenKind::TokLeftBracket => Some(TokenKind::TokRightBracket),
        TokenKind::TokLeftBrace => Some(TokenKind::TokRightBrace),
        _ => None,
    }
}

/// Whether a token is an operator other than `?`, `&&` and `||`.
fn is_operator(kind: TokenKind) -> bool {
    use TokenKind::{
        TokAsterisk, TokEqualEqual, TokExclamation, TokExclamationEqual, TokGreater,
        TokGreaterEqual, TokIn, TokLess, TokLessEqual, TokMinus, TokPercent, TokPlus, TokSlash,
    };
    let comparison = matches!(
        kind,
        TokEqualEqual
            | TokExclamationEqual
            | TokLess
            | TokLessEqual
            | TokGreater
            | TokGreaterEqual
            | TokIn
    );
    comparison
        || matches!(kind, TokPlus | TokMinus | TokAsterisk | TokSlash | TokPercent | TokExclamation)
}
