// The parts of a prompt, each below a line that names it: `INSTRUCTIONS:`, `TRIGGER: …`. Pure.

import { onOneLine } from '../../ui/visible.ts';
import type { Piece } from '../../why/prompt.ts';

/** A part of a block of a prompt. */
export interface PromptPart {
  /** Its name; null for text before the first name. */
  name: string | null;
  pieces: readonly Piece[];
  /** Its first words, without the name. */
  excerpt: string;
}

const NAME = /^([A-Z][A-Z ]+)(?=:| ")/;
const START = /^(?=[A-Z][A-Z ]+(?::| "))/m;
const MOST = 100;

/** Splits the text of a block. Known and new text stay separate. */
export function partsOf(pieces: readonly Piece[]): PromptPart[] {
  const parts: Piece[][] = [];
  // A part can begin in known text and end in new text.
  for (const { text, isKnown } of pieces)
    text.split(START).forEach((each, index) => {
      const isStart = index > 0 || (NAME.test(each) && endsLine(parts));
      const last = parts.at(-1);
      if (isStart || !last) parts.push([{ text: each, isKnown }]);
      else last.push({ text: each, isKnown });
    });
  return parts.map((part) => {
    const text = part.map((piece) => piece.text).join('');
    const name = NAME.exec(text)?.[1] ?? null;
    return { name: name && capitalized(name), pieces: part, excerpt: excerptOf(text, name) };
  });
}

const endsLine = (parts: readonly Piece[][]) => parts.at(-1)?.at(-1)?.text.endsWith('\n') ?? true;

const capitalized = (name: string) => `${name.slice(0, 1)}${name.slice(1).toLowerCase()}`;

function excerptOf(text: string, name: string | null): string {
  const rest = text.slice(name?.length ?? 0).replace(/^:/, '');
  return onOneLine(rest, MOST);
}
