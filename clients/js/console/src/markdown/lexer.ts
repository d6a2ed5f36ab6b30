// Reads Markdown into tokens, in a number of steps that grows with the length of the text, also
// when the text is made to be slow. A text that needs more steps is not parsed.

import { Lexer, Tokenizer, type Token, type Tokens } from 'marked';

/** The steps that a text may take. Usual texts take fewer than ten for each character. */
const STEPS = { each: 40, more: 2000 };

/** Deeper nesting is shown as text. */
const DEEPEST = 12;

/** How often the end of an unclosed mark is searched through the whole text. The rest are text. */
const SEARCHES = 200;

/** A search only looks for characters. It reads this many in one step. */
const SEARCHED_IN_A_STEP = 10;

/** So many characters are copied in one step. */
const COPIED_IN_A_STEP = 50;

/** A heading of several lines is not longer. */
const LONGEST_HEADING = 1000;

/** Longer addresses in a text are not links. */
const LONGEST_URL = 2000;

/** Longer than any word of a language. Looking for mail addresses in it is slow. */
const LONG_WORD = /^[\w.!#$%&'*+/=?`{|}~-]{500,}/;

/** The end of a paragraph: an empty line, or the line under a heading of several lines. */
const UNDERLINE = /\n(?: {0,3}(=+|-+))?[ \t]*(?:\n|$)/;

const { rules, tableHead } = cheapRules();

/** The steps that a text of this length may take. */
export const stepsFor = (length: number): number => STEPS.each * length + STEPS.more;

/** Counts the steps of one text. */
class Budget {
  constructor(public left: number) {}

  spend(steps: number): void {
    this.left -= steps;
    if (this.left < 0) throw new Error('too many steps');
  }
}

/** A lexer for one text. Its methods throw when the text needs too many steps. */
export class BoundedLexer extends Lexer {
  readonly budget: Budget;

  constructor({ length }: string) {
    const budget = new Budget(stepsFor(length));
    const tokenizer = new BoundedTokenizer(budget, SEARCHES * length);
    super({ gfm: true, tokenizer });
    tokenizer.rules = rules;
    this.budget = budget;
  }

  /** The blocks of a text, and of the blocks in it. The lines in them are queued. */
  override blockTokens<T extends Token[]>(source: string, tokens?: T, isClipped?: boolean): T {
    this.budget.spend(source.length);
    return super.blockTokens(source, tokens, isClipped) as T;
  }

  override inlineTokens(source: string, tokens?: Token[]): Token[] {
    this.budget.spend(source.length);
    return super.inlineTokens(source, tokens);
  }
}

/**
 * The rules of the library, without those that read the rest of the text again and again: rows
 * below each line that may be the head of a table, references, comments, and long runs of marks.
 */
function cheapRules() {
  const tokenizer = new Tokenizer();
  new Lexer({ gfm: true, tokenizer });
  const { block, inline, other } = tokenizer.rules;
  const rows = block.table.source.slice(block.table.source.indexOf('(?:\\n((?:'));
  const without = ({ source, flags }: RegExp, part: string, next: string) =>
    new RegExp(
      source.replaceAll(part, () => next),
      flags,
    );
  const runs = (rule: RegExp) => without(rule, '(`+)', '(`{1,99})');
  // Lists look for a rule after each mark of `* * * * a`. The rules that they look for are short.
  const hrs = [1, 2, 3, 4].map((indent) => without(other.hrRegex(indent), '{3,}', '{3,200}'));
  return {
    tableHead: without(block.table, rows, '(?:\\n|$)'),
    rules: {
      block: { ...block, paragraph: without(block.paragraph, rows, '(?:\\n|$)') },
      inline: {
        ...inline,
        code: runs(inline.code),
        anyPunctuationOutsideCode: runs(inline.anyPunctuationOutsideCode),
        reflinkSearch: /(?!)/g,
        tag: /^<\/?[a-z][^<>]*>/i,
      },
      other: {
        ...other,
        hrRegex: (indent: number) => hrs[Math.max(0, Math.min(3, indent - 1))] as RegExp,
      },
    },
  };
}

class BoundedTokenizer extends Tokenizer {
  private depth = 0;

  /** `searched` is the number of characters that searches without a result may read. */
  constructor(
    private budget: Budget,
    private searched: number,
  ) {
    super();
  }

  // The first rule that is tried for each block. A paragraph is copied for each line added to it.
  override space(source: string) {
    this.budget.spend(1 + (this.lexer.state.lastToken?.raw.length ?? 0) / COPIED_IN_A_STEP);
    return super.space(source);
  }

  override blockquote(source: string) {
    const quote = this.nested(() => super.blockquote(source));
    if (quote) this.budget.spend(paragraphLength(source));
    return quote;
  }

  override list(source: string) {
    const list = this.nested(() => super.list(source));
    if (list) this.budget.spend(list.raw.length);
    return list;
  }

  // Most lines that may be the head of a table are none: they have more columns than the line
  // below. Only then the rows are read. Each row gets all columns, also if it is a single word.
  override table(source: string): Tokens.Table | undefined {
    const head = tableHead.exec(source)?.[0];
    if (head === undefined) return undefined;
    const { inlineQueue } = this.lexer;
    const { length } = inlineQueue;
    const columns = super.table(head)?.header.length;
    inlineQueue.length = length;
    if (columns === undefined) return undefined;
    const whole = rules.block.table.exec(source)?.[0] ?? head;
    this.budget.spend(columns * whole.split('\n').length);
    return super.table(whole);
  }

  override lheading(source: string) {
    const isShort = source.length <= LONGEST_HEADING;
    const end = isShort ? source.length : source.lastIndexOf('\n', LONGEST_HEADING) + 1;
    const start = source.slice(0, end);
    const line = UNDERLINE.exec(start);
    this.budget.spend((line?.index ?? end) / SEARCHED_IN_A_STEP);
    if (line?.[1] === undefined) return undefined;
    this.budget.spend(line.index);
    return super.lheading(start);
  }

  override emStrong(source: string, masked: string, previous?: string) {
    return this.search(/^[*_]/, source, () => super.emStrong(source, masked, previous));
  }

  // Two marks: one is for ranges, as in "10~20, 30~40".
  override del(source: string, masked: string, previous?: string) {
    return this.search(/^~~/, source, () => super.del(source, masked, previous));
  }

  // The address is looked for in all that follows up to a blank.
  override link(source: string) {
    const link = this.search(/^!?\[/, source, () => super.link(source));
    if (link) this.budget.spend(source.slice(link.raw.length).search(/\s|$/) / SEARCHED_IN_A_STEP);
    return link;
  }

  override codespan(source: string) {
    return this.search(/^`/, source, () => super.codespan(source));
  }

  override url(source: string) {
    const link = super.url(source.slice(0, LONGEST_URL));
    return link && link.raw.length < LONGEST_URL ? link : undefined;
  }

  override inlineText(source: string) {
    const word = LONG_WORD.exec(source)?.[0];
    if (word === undefined) return super.inlineText(source);
    return { type: 'text' as const, raw: word, text: word, escaped: false };
  }

  // Markup of other people is text.
  override html(): undefined {}

  override tag(): undefined {}

  // Each block is read alone, so that links cannot refer to other blocks.
  override def(): undefined {}

  override reflink(): undefined {}

  private search<T>(opening: RegExp, source: string, read: () => T): T | undefined {
    if (this.searched <= 0 || !opening.test(source)) return undefined;
    const token = this.nested(read);
    if (token) return token;
    this.searched -= source.length;
    this.budget.spend(source.length / SEARCHED_IN_A_STEP);
    return undefined;
  }

  private nested<T>(read: () => T): T | undefined {
    if (this.depth >= DEEPEST) return undefined;
    this.depth += 1;
    const token = read();
    this.depth -= 1;
    return token;
  }
}

function paragraphLength(source: string): number {
  const end = source.indexOf('\n\n');
  return end < 0 ? source.length : end;
}
