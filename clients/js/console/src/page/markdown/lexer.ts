// Reads Markdown into tokens, in a time that grows with the length of the text, also when the text
// is made to be slow.

import { Lexer, Tokenizer } from 'marked';

/** Deeper nesting is shown as text. */
const DEEPEST = 12;

/** How often the end of an unclosed mark is searched through the whole text. The rest are text. */
const SEARCHES = 200;

/** A heading of several lines is not longer. */
const LONGEST_HEADING = 1000;

/** Longer than any word of a language. Looking for mail addresses in it is slow. */
const LONG_WORD = /^[\w.!#$%&'*+/=?`{|}~-]{500,}/;

/** A lexer for one text. */
export function lexer(text: string): Lexer {
  const tokenizer = new BoundedTokenizer(SEARCHES * text.length);
  const made = new Lexer({ gfm: true, tokenizer });
  const { other } = tokenizer.rules;
  tokenizer.rules.other = { ...other, hrRegex: (indent) => shortRule(other.hrRegex(indent)) };
  return made;
}

// Lists look for a rule after each mark of `* * * * a`. The rules that they look for are short.
function shortRule({ source }: RegExp): RegExp {
  return new RegExp(source.replaceAll('{3,}', '{3,200}'));
}

class BoundedTokenizer extends Tokenizer {
  private depth = 0;

  /** `steps` is the number of characters that searches without a result may read. */
  constructor(private steps: number) {
    super();
  }

  override blockquote(source: string) {
    return this.nested(() => super.blockquote(source));
  }

  override list(source: string) {
    return this.nested(() => super.list(source));
  }

  override emStrong(source: string, masked: string, previous?: string) {
    return this.search(/^[*_]/, source, () => super.emStrong(source, masked, previous));
  }

  // Two marks: one is for ranges, as in "10~20, 30~40".
  override del(source: string, masked: string, previous?: string) {
    return this.search(/^~~/, source, () => super.del(source, masked, previous));
  }

  override link(source: string) {
    return this.search(/^!?\[/, source, () => super.link(source));
  }

  override codespan(source: string) {
    return this.search(/^`/, source, () => super.codespan(source));
  }

  override lheading(source: string) {
    const isShort = source.length <= LONGEST_HEADING;
    const end = isShort ? source.length : source.lastIndexOf('\n', LONGEST_HEADING) + 1;
    return super.lheading(source.slice(0, end));
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
    if (this.steps <= 0 || !opening.test(source)) return undefined;
    const token = this.nested(read);
    if (!token) this.steps -= source.length;
    return token;
  }

  private nested<T>(read: () => T): T | undefined {
    if (this.depth >= DEEPEST) return undefined;
    this.depth += 1;
    const token = read();
    this.depth -= 1;
    return token;
  }
}
