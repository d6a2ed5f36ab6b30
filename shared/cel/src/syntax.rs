//! Reads an expression: the crate `cel` parses it, once it is sure that nothing in it nests too deep for that.

use std::rc::Rc;

use cel::{
    common::ast::{CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedEntryExpr, IdedExpr, LiteralValue, operators},
    parser::pratt_parser::{Lexer, PrattParser, TokenKind},
};

use super::{
    functions::{self, Function},
    limits::{DEEPEST_EXPRESSION, LONGEST_EXPRESSION, MOST_BRACKETS, quoted},
    values::Value,
};

/// The name of the input in expressions.
const INPUT: &str = "input";
/// The names of types, which are values.
const TYPES: [&str; 10] = ["bool", "bytes", "double", "int", "list", "map", "null_type", "string", "type", "uint"];
const TOO_DEEP: &str = "the expression is nested too deep; make it simpler";

/// An expression, every name and function of which is known.
#[derive(Debug)]
pub(crate) enum Node {
    Constant(Value),
    Input,
    /// The variable of a macro, counted from the outermost.
    Variable(usize),
    Field(Box<Node>, Rc<str>),
    /// Whether there is such a field.
    HasField(Box<Node>, Rc<str>),
    List(Vec<Node>),
    Map(Vec<(Node, Node)>),
    And(Box<[Node; 2]>),
    Or(Box<[Node; 2]>),
    /// The condition, and what it chooses from.
    Conditional(Box<[Node; 3]>),
    Unary(Function, Box<Node>),
    Binary(Function, Box<[Node; 2]>),
    Macro(Macro, Box<Node>),
}

/// What is done with each item of a list, or each key of a map.
#[derive(Debug)]
pub(crate) enum Macro {
    All(Box<Node>),
    Exists(Box<Node>),
    ExistsOne(Box<Node>),
    /// A list of what the second makes of the items for which the first holds.
    Map(Option<Box<Node>>, Box<Node>),
}

/// Reads an expression. Err says what is wrong and where.
pub(crate) fn parse(expression: &str) -> Result<Node, String> {
    if levels(expression)? > DEEPEST_EXPRESSION {
        return Err(TOO_DEEP.to_owned());
    }
    // No way to a panic is known; the parser is not ours, though.
    let parsed = std::panic::catch_unwind(|| PrattParser::new().parse(expression)).map_err(|_| unreadable())?;
    let parsed = parsed.map_err(|errors| {
        // Those that have no place only say that there are more.
        let error = errors.errors.iter().find(|error| error.pos.0 > 0).or(errors.errors.first());
        error.map_or_else(unreadable, |error| {
            let (line, column) = error.pos;
            at(expression, offset(expression, line as usize, column as usize), error.msg.trim_start_matches("Syntax error: "))
        })
    })?;
    Reader::default().node(&parsed)
}

fn unreadable() -> String {
    "the expression can't be read".to_owned()
}

/// What nests within a pair of brackets, as far as it has been read.
#[derive(Default)]
struct Level {
    closing: Option<TokenKind>,
    /// Of all that stands between commas.
    deepest: usize,
    /// Since the last comma: `?` nest in each other, `&&` and `||` form balanced trees around what has `terms` levels.
    conditionals: usize,
    logicals: usize,
    terms: usize,
    /// Since the last logical operator: other operators, the longest chain of selections such as `a.b[0]`, and the deepest brackets.
    operators: usize,
    longest_chain: usize,
    brackets: usize,
    /// Since the last operator.
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
        (self.operators, self.longest_chain, self.brackets) = (0, 0, 0);
    }

    fn end_part(&mut self) {
        self.end_term();
        let logicals = self.logicals.checked_ilog2().map_or(0, |levels| 2 * (levels as usize + 2));
        self.deepest = self.deepest.max(self.conditionals + logicals + self.terms);
        (self.conditionals, self.logicals, self.terms) = (0, 0, 0);
    }
}

/// How many operations nest within each other, at most: what recurses over them must not overflow the stack. Counts tokens, so that
/// nothing recurses here. Refuses what is too long, has too many brackets, or is no sequence of tokens.
pub(crate) fn levels(expression: &str) -> Result<usize, String> {
    if expression.len() > LONGEST_EXPRESSION {
        return Err(format!("the expression is too long; it may have {LONGEST_EXPRESSION} bytes"));
    }
    let mut lexer = Lexer::new(expression);
    let mut level = Level::default();
    let mut outer = Vec::new();
    loop {
        let token = lexer.lex();
        match token.kind {
            TokenKind::TokEnd => break,
            TokenKind::TokError => {
                let text = lexer.get_error().map_or("this can't be read", |error| error.message.as_str());
                return Err(at(expression, token.start, text));
            }
            TokenKind::TokLeftParen | TokenKind::TokLeftBracket | TokenKind::TokLeftBrace => {
                if outer.len() == MOST_BRACKETS {
                    return Err(at(expression, token.start, TOO_DEEP));
                }
                level.chain += 1;
                outer.push(std::mem::replace(&mut level, Level { closing: closing(token.kind), ..Level::default() }));
            }
            TokenKind::TokRightParen | TokenKind::TokRightBracket | TokenKind::TokRightBrace => {
                level.end_part();
                let (Some(around), true) = (outer.pop(), level.closing == Some(token.kind)) else {
                    return Err(at(expression, token.start, &format!("unexpected '{}'", token.kind.as_str())));
                };
                let within = std::mem::replace(&mut level, around);
                level.brackets = level.brackets.max(within.deepest + 1);
            }
            TokenKind::TokComma => level.end_part(),
            TokenKind::TokQuestion => {
                level.end_operand();
                level.conditionals += 1;
            }
            TokenKind::TokLogicalAnd | TokenKind::TokLogicalOr => {
                level.end_term();
                level.logicals += 1;
            }
            TokenKind::TokDot => level.chain += 1,
            kind if is_operator(kind) => {
                level.end_operand();
                level.operators += 1;
            }
            _ => {}
        }
    }
    if let Some(closing) = level.closing {
        return Err(at(expression, expression.len(), &format!("expected '{}' before the end", closing.as_str())));
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

/// Other than `?`, `&&` and `||`.
fn is_operator(kind: TokenKind) -> bool {
    use TokenKind::{
        TokAsterisk, TokEqualEqual, TokExclamation, TokExclamationEqual, TokGreater, TokGreaterEqual, TokIn, TokLess, TokLessEqual,
        TokMinus, TokPercent, TokPlus, TokSlash,
    };
    let comparison = matches!(kind, TokEqualEqual | TokExclamationEqual | TokLess | TokLessEqual | TokGreater | TokGreaterEqual | TokIn);
    comparison || matches!(kind, TokPlus | TokMinus | TokAsterisk | TokSlash | TokPercent | TokExclamation)
}

/// A text about a place of the expression.
fn at(expression: &str, offset: usize, text: &str) -> String {
    let before = expression.get(..offset).unwrap_or(expression);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
    format!("line {line}, column {column}: {text}")
}

/// The byte at a line, and a column in bytes, both counted from one.
fn offset(expression: &str, line: usize, column: usize) -> usize {
    expression.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum::<usize>() + column.saturating_sub(1)
}

/// Turns what the parser made into what is evaluated.
#[derive(Default)]
struct Reader {
    /// The variables of the macros around what is read.
    variables: Vec<String>,
}

impl Reader {
    fn boxed(&mut self, expression: &IdedExpr) -> Result<Box<Node>, String> {
        self.node(expression).map(Box::new)
    }

    fn node(&mut self, expression: &IdedExpr) -> Result<Node, String> {
        match &expression.expr {
            Expr::Literal(literal) => Ok(Node::Constant(constant(literal))),
            Expr::Ident(name) => self.name(name),
            Expr::Select(select) => {
                let (of, name) = (self.boxed(&select.operand)?, select.field.as_str().into());
                Ok(if select.test { Node::HasField(of, name) } else { Node::Field(of, name) })
            }
            Expr::List(list) => list.elements.iter().map(|item| self.node(item)).collect::<Result<_, _>>().map(Node::List),
            Expr::Map(map) => map.entries.iter().map(|entry| self.entry(entry)).collect::<Result<_, _>>().map(Node::Map),
            Expr::Call(call) => self.call(call),
            Expr::Comprehension(comprehension) => self.comprehension(comprehension),
            Expr::Struct(message) => {
                Err(format!("{} {{…}}: messages are unknown here; a map is written {{'key': value}}", message.type_name))
            }
            Expr::Unspecified => Err(unreadable()),
        }
    }

    fn name(&self, name: &str) -> Result<Node, String> {
        if let Some(index) = self.variables.iter().rposition(|variable| variable == name) {
            return Ok(Node::Variable(index));
        }
        // A leading dot says that no variable of a macro is meant.
        let name = name.strip_prefix('.').unwrap_or(name);
        let kind = || TYPES.iter().find(|&&kind| kind == name).map(|kind| Node::Constant(Value::Type(kind)));
        let node = if name == INPUT { Some(Node::Input) } else { kind() };
        node.ok_or_else(|| format!("the name {} is unknown; expressions see '{INPUT}' and the variables of macros", quoted(name)))
    }

    fn entry(&mut self, entry: &IdedEntryExpr) -> Result<(Node, Node), String> {
        match &entry.expr {
            EntryExpr::MapEntry(entry) => Ok((self.node(&entry.key)?, self.node(&entry.value)?)),
            EntryExpr::StructField(field) => Err(format!("{} is no entry of a map", quoted(&field.field))),
        }
    }

    fn call(&mut self, call: &CallExpr) -> Result<Node, String> {
        match (call.func_name.as_str(), call.args.as_slice()) {
            (operators::CONDITIONAL, [condition, one, other]) => {
                Ok(Node::Conditional(Box::new([self.node(condition)?, self.node(one)?, self.node(other)?])))
            }
            (operators::LOGICAL_AND, [one, other]) => Ok(Node::And(Box::new([self.node(one)?, self.node(other)?]))),
            (operators::LOGICAL_OR, [one, other]) => Ok(Node::Or(Box::new([self.node(one)?, self.node(other)?]))),
            (name, arguments) => {
                let arguments: Vec<&IdedExpr> = call.target.as_deref().into_iter().chain(arguments).collect();
                let name = name.strip_prefix('.').unwrap_or(name);
                let function = functions::find(name, call.target.is_some(), arguments.len())?;
                match arguments.as_slice() {
                    [one] => Ok(Node::Unary(function, self.boxed(one)?)),
                    [one, other] => Ok(Node::Binary(function, Box::new([self.node(one)?, self.node(other)?]))),
                    _ => Err(format!("{} has too many arguments", quoted(name))),
                }
            }
        }
    }

    /// A macro, which the parser has written out as a loop, in one of few forms.
    fn comprehension(&mut self, comprehension: &ComprehensionExpr) -> Result<Node, String> {
        let over = self.boxed(&comprehension.iter_range)?;
        self.variables.push(comprehension.iter_var.clone());
        let kind = self.macro_of(comprehension);
        self.variables.pop();
        Ok(Node::Macro(kind?, over))
    }

    fn macro_of(&mut self, comprehension: &ComprehensionExpr) -> Result<Macro, String> {
        let unknown = || "the macro is unknown".to_owned();
        let step = call_of(&comprehension.loop_step).ok_or_else(unknown)?;
        match (&comprehension.accu_init.expr, step) {
            (Expr::Literal(LiteralValue::Boolean(_)), (operators::LOGICAL_AND, [_, predicate])) => Ok(Macro::All(self.boxed(predicate)?)),
            (Expr::Literal(LiteralValue::Boolean(_)), (operators::LOGICAL_OR, [_, predicate])) => Ok(Macro::Exists(self.boxed(predicate)?)),
            (Expr::Literal(LiteralValue::Int(_)), (operators::CONDITIONAL, [predicate, _, _])) => {
                Ok(Macro::ExistsOne(self.boxed(predicate)?))
            }
            (Expr::List(_), (operators::CONDITIONAL, [predicate, step, _])) => {
                let item = appended(call_of(step)).ok_or_else(unknown)?;
                Ok(Macro::Map(Some(self.boxed(predicate)?), self.boxed(item)?))
            }
            (Expr::List(_), step) => Ok(Macro::Map(None, self.boxed(appended(Some(step)).ok_or_else(unknown)?)?)),
            _ => Err(unknown()),
        }
    }
}

fn call_of(expression: &IdedExpr) -> Option<(&str, &[IdedExpr])> {
    match &expression.expr {
        Expr::Call(call) => Some((&call.func_name, &call.args)),
        _ => None,
    }
}

/// What a step of a loop adds to its list.
fn appended<'a>(step: Option<(&str, &'a [IdedExpr])>) -> Option<&'a IdedExpr> {
    match step {
        Some((operators::ADD, [_, IdedExpr { expr: Expr::List(list), .. }])) => list.elements.first(),
        _ => None,
    }
}

fn constant(literal: &LiteralValue) -> Value {
    match literal {
        LiteralValue::Null => Value::Null,
        LiteralValue::Boolean(value) => Value::Bool(*value.inner()),
        LiteralValue::Int(value) => Value::Int(*value.inner()),
        LiteralValue::UInt(value) => Value::Uint(*value.inner()),
        LiteralValue::Double(value) => Value::Double(*value.inner()),
        LiteralValue::String(value) => Value::string(value.inner()),
        LiteralValue::Bytes(value) => Value::Bytes(value.inner().into()),
    }
}
