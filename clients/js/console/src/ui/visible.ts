// Texts of others, so that a reader sees all of them and in their order, or how they begin. Pure.

// Controls, bidirectional marks and what has no shape, as in prompts. The joiners of scripts and
// emoji and the selectors of an emoji's form stay.
const HIDDEN = /(?!\r\n|[\t\n\u200c\u200d\ufe00-\ufe0f])[\p{Cc}\p{DI}\u2028\u2029\ufff9-\ufffb]/gu;

// The blocks of scripts that are written from right to left.
const RIGHT_TO_LEFT =
  /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** A text with each character that hides or reorders others as its number: `U+202E`. */
export const visible = (text: string): string =>
  text.replace(HIDDEN, (char) => {
    const number = char.codePointAt(0) ?? 0;
    return `U+${number.toString(16).toUpperCase().padStart(4, '0')}`;
  });

/**
 * A name in a text with other words. A name that is written from right to left does not move them.
 * It does what `<bdi>` does, also in attributes and questions.
 */
export function isolated(name: string): string {
  const shown = visible(name);
  return RIGHT_TO_LEFT.test(shown) ? `\u2068${shown}\u2069` : shown;
}

/** A person or an agent, in a text with other words. Guests are marked. */
export const shownName = (who: { name: string; guest?: boolean }): string =>
  isolated(who.name) + (who.guest ? ' (guest)' : '');

/** A sender by its present name. A guest who has left is still marked. */
export function senderName(
  sender: { id: string; name: string; guest?: boolean },
  nameOf: (id: string) => string,
): string {
  return (!sender.guest && nameOf(sender.id)) || shownName(sender);
}

/** Shortens a text to `longest` characters and marks the cut with an ellipsis. */
export function shortened(text: string, longest: number): string {
  const characters = [...text];
  return characters.length > longest ? `${characters.slice(0, longest).join('')}…` : text;
}

/** The beginning of a text, on one line. */
export const onOneLine = (text: string, longest: number): string =>
  shortened(text.replace(/\s+/g, ' ').trim(), longest);
