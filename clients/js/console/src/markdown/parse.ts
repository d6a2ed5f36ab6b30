// From a text to the tokens of its Markdown.

import type { Token } from 'marked';
import { BoundedLexer } from './lexer.ts';

/** The blocks of a text. The lines in them are not parsed. */
export function blockTokensOf(source: string): Token[] {
  return orText(source, () => new BoundedLexer(source).blockTokens(source));
}

/** The tokens of a text. */
export function parse(source: string): Token[] {
  return orText(source, () => {
    const reader = new BoundedLexer(source);
    const tokens = reader.blockTokens(source);
    // The page keeps spaces, Markdown drops those at the start of a line.
    for (const { src, tokens } of reader.inlineQueue)
      reader.inlineTokens(src.replace(/\n[ \t]+/g, '\n'), tokens);
    return tokens;
  });
}

// A text that takes too many steps shows as plain text. So does one of megabytes, which can be too
// much for the parser.
function orText(source: string, read: () => Token[]): Token[] {
  try {
    return read();
  } catch {
    return [{ type: 'escape', raw: source, text: source }];
  }
}

/** `&lt;` is `<`. The browser knows all names; only a name gets to it, never markup. */
export function decoded(text: string): string {
  return text.replace(/&(?:#x[\da-f]{1,6}|#\d{1,7}|[a-z][a-z\d]{1,31});/gi, (reference) => {
    const area = document.createElement('textarea');
    area.innerHTML = reference;
    // Browsers also read the start of a name, as in `&notes;`. Markdown does not.
    return area.value.length > 2 ? reference : area.value;
  });
}
