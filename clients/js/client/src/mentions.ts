// Mentions: `@` followed by a member's name, or by `all` for every agent. They are those that the
// server finds: both read one table of cases.

/** A mention in a text. It has `entityId`, or `all`, which mentions every agent. */
export interface Mention {
  entityId?: string;
  all?: true;
  /** Where it begins in the text, with its `@`, in UTF-16 code units. */
  start: number;
  /** Where it ends in the text. */
  end: number;
}

interface Named {
  readonly id: string;
  readonly name: string;
}

const MOST_SIGNS = 1000;
const MOST_MENTIONS = 50;

/** Characters of which readers see nothing. */
const HIDDEN = '\\p{DI}\\u070f\\ufff9-\\ufffc\\ufffe\\uffff\\u{13430}-\\u{1343f}\\u{1d159}';
const hidden = new RegExp(`[${HIDDEN}]`, 'gu');
/** A character with its marks. Grapheme clusters would do, but they differ between browsers. */
const cluster = new RegExp(
  `[^${HIDDEN}](?:[${HIDDEN}]*[\\p{M}\\u1160-\\u11ff\\ud7b0-\\ud7fb\\uff9e\\uff9f])*`,
  'gu',
);
/** The scripts that write no blanks between words. */
const JOINED =
  '\\p{scx=Hani}\\p{scx=Hira}\\p{scx=Kana}\\p{scx=Bopo}\\p{scx=Hang}' +
  '\\p{scx=Thai}\\p{scx=Laoo}\\p{scx=Khmr}\\p{scx=Mymr}';
/** A letter or digit of another script. */
const word = new RegExp(`^(?![${JOINED}])[\\p{L}\\p{N}]`, 'u');
/** A break, the underline of a heading, a heading, or a blank line. */
const alone = /^(?:|=+|-+|([-*_])(?:[ \t]*\1){2,}|#{1,6}(?:[ \t][^]*)?)[ \t]*$/;
const itemMark = /^([-+*]|\d{1,9}[.)])(?![^ \t])([ \t]*)/;
const address = /(?:[a-z\d+.-]:\/\/|(?<![a-z\d])www\.)[!#-;=?-_a-~]*/gi;
/** An escaped character, a code span, or a row of backticks that opens none. */
const span = /\\[^]|(`+)(?!`)[^]*?[^`]\1(?!`)|`+/g;

/** Finds the mentions of `members` in a text, in their order. The longest name counts. */
export function findMentions(text: string, members: readonly Named[]): Mention[] {
  const { parts, ends, signs, folded } = fold(text);
  const found: Mention[] = [];
  if (!signs.length) return found;
  const names = byName(members);
  // A look-up for each length instead of one for each name: all names may begin alike.
  const lengths = [...new Set([...names.keys()].map((name) => name.length))];
  lengths.sort((one, other) => other - one);
  const code = unread(text);
  const is = (at: number, kind: RegExp) => kind.test(parts[at]?.[0] ?? '');
  const mayBegin = (at: number) => {
    do at--;
    while (is(at, /^[_-]/));
    return !is(at, word) && !is(at, /^[./+]/);
  };
  const mayEnd = (at: number) =>
    is(at, word) ? !is(at - 1, word) : !is(at, /^[_/@-]/) || !is(at + 1, word);

  let next = 0;
  for (const { sign, start, from } of signs.slice(0, MOST_SIGNS)) {
    if (sign < next || code[start] || !mayBegin(sign)) continue;
    for (const length of lengths) {
      const after = ends.get(from + length);
      const named = after && names.get(folded.slice(from, from + length));
      if (!named || !mayEnd(after.part)) continue;
      next = after.part;
      found.push(...named.map((each) => ({ ...each, start, end: after.end })));
      break;
    }
    if (found.length >= MOST_MENTIONS) break;
  }
  return found.slice(0, MOST_MENTIONS);
}

/** Whom each folded name mentions. */
function byName(members: readonly Named[]) {
  const names = new Map<string, Pick<Mention, 'entityId' | 'all'>[]>();
  for (const { id, name } of members) {
    const folded = fold(name).folded.trim();
    if (folded) names.set(folded, [...(names.get(folded) ?? []), { entityId: id }]);
  }
  // A member with the name `all` takes its place.
  if (!names.has('all')) names.set('all', [{ all: true }]);
  return names;
}

/** A text in the form in which names are compared: each row of blanks is one. */
function fold(text: string) {
  /** The characters with their marks. */
  const parts = [...text.matchAll(cluster)];
  /** The part that follows a place of `folded`, and where the part before it ends in the text. */
  const ends = new Map<number, { part: number; end: number }>();
  /** Each `@`: which part it is, where it is in the text, and what follows it in `folded`. */
  const signs: { sign: number; start: number; from: number }[] = [];
  let folded = '';
  let last = '';
  parts.forEach(({ 0: part, index: start }, sign) => {
    const plain = part.replace(hidden, '').normalize('NFKC').toUpperCase().toLowerCase();
    const own = plain.normalize('NFKC').replace(/[\p{White_Space}\u2800]+/gu, ' ');
    folded += last === ' ' ? own.replace(/^ /, '') : own;
    last = own.at(-1) ?? last;
    const from = folded.length;
    if (own === '@') signs.push({ sign, start, from });
    ends.set(from, { part: sign + 1, end: start + part.length });
  });
  return { parts, ends, signs, folded };
}

/** For each place of a text, whether it is in code, after CommonMark, or in an address. */
function unread(text: string): Uint8Array {
  const places = new Uint8Array(text.length);
  /** Where the paragraph began. */
  let start = 0;
  /** The block quotes around it. */
  let quotes = 0;
  /** The column at which the text of its list item begins. */
  let item = 0;
  let fence: { marks: string; quotes: number; item: number } | undefined;
  const hide = (found: RegExpMatchArray, from = 0) => {
    const at = from + (found.index ?? 0);
    places.fill(1, at, at + found[0].length);
  };
  const endParagraph = (end: number) => {
    for (const found of text.slice(start, end).matchAll(span)) if (found[1]) hide(found, start);
    start = end;
  };
  for (const all of text.matchAll(/([^\r\n]*)(?:\r\n?|\n|$)/g)) {
    const { index } = all;
    const next = index + all[0].length;
    const [, prefix = '', blanks = '', rest = ''] =
      /^((?: {0,3}> ?)*)([ \t]*)([^]*)/.exec(all[1] ?? '') ?? [];
    const depth = prefix.split('>').length - 1;
    let indent = width(blanks);
    let body = rest;
    if (fence && depth >= fence.quotes && (!body || indent >= fence.item)) {
      hide(all);
      start = next;
      const closes = /^(`+|~+)[ \t]*$/.test(body) && body.startsWith(fence.marks);
      if (closes && depth === fence.quotes && indent < fence.item + 4) fence = undefined;
      continue;
    }
    fence = undefined;
    if (body && indent < item) item = 0;
    const standsAlone = alone.test(body);
    if (standsAlone || depth > quotes) endParagraph(index);
    quotes = body ? Math.max(quotes, depth) : depth;
    if (standsAlone) {
      endParagraph(next);
      continue;
    }
    for (let mark; indent < item + 4 && (mark = itemMark.exec(body));) {
      endParagraph(index);
      indent = item = indent + (mark[1] ?? '').length + width(mark[2] ?? '');
      body = body.slice(mark[0].length);
    }
    const [marks] = /^(?:`{3,}(?=[^`]*$)|~{3,})/.exec(body) ?? [];
    if (marks && indent < item + 4) {
      endParagraph(index);
      hide(all);
      start = next;
      fence = { marks, quotes: depth, item };
    }
  }
  endParagraph(text.length);
  for (const found of text.matchAll(address)) hide(found);
  return places;
}

/** The columns that blanks take. */
function width(blanks: string): number {
  return blanks.replaceAll('\t', '    ').length;
}
