// The mentions of a message, marked in its text as they were sent. Before the text is parsed, each
// mention becomes one private character, so that a name is never read as Markdown. Pure.

import type { Message } from '@smartspace/client';

const FIRST = 0xe000;
const MOST = 256;
// A text that has such characters itself is not marked.
const PRIVATE = /[\ue000-\ue0ff]/u;

/** A mention in a text. */
export interface Mark {
  start: number;
  end: number;
  /** It mentions the reader. */
  isOwn: boolean;
}

/** No marks: always the same list. */
export const NO_MARKS: readonly Mark[] = [];

const known = new WeakMap<object, readonly Mark[]>();

/** The marks of a message: the same list for the same message. */
export function marksOf({ mentions }: Message, meId: string | null): readonly Mark[] {
  if (!mentions || mentions.length === 0) return NO_MARKS;
  const before = known.get(mentions);
  if (before) return before;
  const marks = mentions.map((mention) => ({
    start: mention.start,
    end: mention.end,
    isOwn: meId !== null && 'entityId' in mention && mention.entityId === meId,
  }));
  known.set(mentions, marks);
  return marks;
}

/** A text with its marks as single characters, and what these stand for. */
export interface MarkedText {
  source: string;
  /** A part of the text as it was written. */
  written: (part: string) => string;
  /** A part of the text as words and marks in turn. */
  pieces: (part: string) => readonly (string | ShownMark)[];
}

export interface ShownMark {
  text: string;
  isOwn: boolean;
}

const plain = (source: string): MarkedText => ({
  source,
  written: (part) => part,
  pieces: (part) => [part],
});

export function markedText(text: string, marks: readonly Mark[]): MarkedText {
  if (marks.length === 0 || PRIVATE.test(text)) return plain(text);
  const shown: ShownMark[] = [];
  let source = '';
  let end = 0;
  for (const mark of [...marks].sort((one, other) => one.start - other.start).slice(0, MOST)) {
    // Several members may have the name.
    const last = shown.at(-1);
    if (last && mark.start < end) last.isOwn ||= mark.isOwn;
    if (mark.start < end || mark.end > text.length) continue;
    source += text.slice(end, mark.start) + String.fromCharCode(FIRST + shown.length);
    shown.push({ text: text.slice(mark.start, mark.end), isOwn: mark.isOwn });
    end = mark.end;
  }
  const markOf = (char: string) => shown[char.charCodeAt(0) - FIRST];
  const pieces = (part: string) =>
    part
      .split(/([\ue000-\ue0ff])/u)
      .filter((piece) => piece !== '')
      .map((piece) => (PRIVATE.test(piece) && markOf(piece)) || piece);
  return {
    source: source + text.slice(end),
    written: (part) =>
      pieces(part)
        .map((piece) => (typeof piece === 'string' ? piece : piece.text))
        .join(''),
    pieces,
  };
}
