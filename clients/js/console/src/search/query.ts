// The words and filters of a search: what its text has, and what is asked. Pure.

import type { SearchQuery, SpaceSummary } from '@smartspace/client';

/** A filter in a text, such as `in:"Ops room"`. */
export interface Filter {
  name: string;
  value: string;
  start: number;
  end: number;
}

/** A value that a filter can have. */
export interface Choice {
  id: string;
  name: string;
  /** From 0 to 9: the lowest ones come first. */
  rank?: number;
}

/** The filter that is being written, from `start` to the caret. */
export interface OpenFilter {
  name: 'in' | 'from';
  query: string;
  start: number;
}

const MOST_CHOICES = 8;

/** What `has:` may say, with its words. */
export const FEATURES: Readonly<Record<string, string>> = {
  file: 'Files',
  image: 'Pictures',
  link: 'Links',
  code: 'Code',
  card: 'Cards',
  reply: 'Replies',
};

// A phrase, a filter, or a word. Some keyboards write the quotes of a printed text. A dot is a
// closing quote.
const TOKEN =
  /-?["“”„][^"“”„]*.?|(in|from|has|before|after):(?:["“”„]([^"“”„]*)(.?)|(\S*))|[^\s"“”„]+/gi;
const TIME = /^\d{4}-\d\d-\d\d(T.+(Z|:\d\d))?$/i;
const PLAIN_WORD = /^[\p{L}\p{N}][\p{L}\p{M}\p{N}]+$/u;

interface Token extends Filter {
  text: string;
  /** Its value has closed quotes. */
  isClosed: boolean;
}

const tokensOf = (all: string): Token[] =>
  [...all.matchAll(TOKEN)].map((match) => {
    const [text, name = '', quoted, closing, plain = ''] = match;
    const { index: start } = match;
    const value = (quoted ?? plain).trim();
    const end = start + text.length;
    return { text, name: name.toLowerCase(), value, isClosed: !!closing, start, end };
  });

/** The filters of a text, in its order. */
export const filtersOf = (text: string): Filter[] =>
  tokensOf(text).filter(({ name, value }) => name && value);

/** The text without a filter. */
export const withoutFilter = (text: string, { start, end }: Filter): string =>
  `${text.slice(0, start).trimEnd()} ${text.slice(end).trimStart()}`.trim();

/** The filter of a text with this value. */
export const filterIn = (text: string, name: string, value: string): Filter | undefined =>
  filtersOf(text).find((each) => each.name === name && isAlike(each.value, value));

/** Adds a filter to a text, or removes it. */
export function toggled(text: string, name: string, value: string): string {
  const found = filterIn(text, name, value);
  return found ? withoutFilter(text, found) : `${text.trimEnd()} ${filterText(name, value)}`.trim();
}

/** A filter as text. */
export const filterText = (name: string, value: string): string =>
  [name, /\s/.test(value) ? `"${value}"` : value].join(':');

/** How a filter names a thing. Quotes have no escape. */
export const valueFor = ({ id, name }: Choice): string => (/["“”„]/.test(name) ? id : name);

/** The filter before the caret whose value is not complete, or null. */
export function openFilterAt(text: string, caret: number): OpenFilter | null {
  const last = tokensOf(text.slice(0, caret)).at(-1);
  if (last?.end !== caret || last.isClosed || !isNamed(last.name)) return null;
  return { name: last.name, query: last.value, start: last.start };
}

/** The values that a filter may mean: those that begin with its text first. */
export function choicesFor(all: readonly Choice[], query: string): Choice[] {
  const wanted = query.toLocaleLowerCase();
  const placeIn = ({ name }: Choice) => ` ${name.toLocaleLowerCase()}`.indexOf(` ${wanted}`);
  const rank = (each: Choice) => placeIn(each) * 10 + (each.rank ?? 0);
  const found = all.filter((each) => placeIn(each) >= 0);
  return found
    .sort((one, other) => rank(one) - rank(other) || one.name.localeCompare(other.name))
    .slice(0, MOST_CHOICES);
}

/** The text with the begun filter completed, and the position of the caret after it. */
export function completed(
  text: string,
  caret: number,
  { name, start }: OpenFilter,
  choice: Choice,
) {
  const before = `${text.slice(0, start)}${filterText(name, valueFor(choice))} `;
  return { text: before + text.slice(caret).replace(/^["“”„]?\s*/, ''), caret: before.length };
}

/**
 * The text without the filter that is still written at the caret: one whose value is not complete.
 * `known` are the names that are complete.
 */
export function finished(
  text: string,
  caret: number,
  known: Record<OpenFilter['name'], readonly Choice[]>,
): string {
  const open = tokensOf(text).find(
    (each) =>
      each.name && each.start < caret && caret <= each.end && !isComplete(each, caret, known),
  );
  return open ? withoutFilter(text, open) : text;
}

function isComplete(
  { name, value, isClosed, end }: Token,
  caret: number,
  known: Record<OpenFilter['name'], readonly Choice[]>,
): boolean {
  if (name === 'has') return Object.hasOwn(FEATURES, value.toLowerCase());
  if (!isNamed(name)) return TIME.test(value) && !isNaN(Date.parse(value));
  if (isClosed && value && caret === end) return true;
  return known[name].some((each) => each.id === value || isAlike(each.name, value));
}

/** The text whose last word, if it is a plain one, stands for all words that begin so. */
export function withPrefix(text: string): string {
  const last = tokensOf(text).at(-1);
  const isOpen = last?.end === text.length && PLAIN_WORD.test(last.text);
  return isOpen ? `${text}*` : text;
}

/** The spaces that the operator searches. */
export interface OperatorSpaces {
  spaces: readonly Pick<SpaceSummary, 'id' | 'name'>[];
  openId: string | null;
}

/**
 * What is asked for a text, or null if it is empty. The operator must name spaces by their ids:
 * those of the text, or else the open one. Without either nothing is asked.
 */
export function askedFor(text: string, operatorIn: OperatorSpaces | null): SearchQuery | null {
  if (text.trim() === '') return null;
  if (!operatorIn) return { q: text };
  const { spaces, openId } = operatorIn;
  const spaceIds: string[] = [];
  let q = text;
  for (const filter of filtersOf(text).reverse()) {
    const named = filter.name === 'in' ? spacesNamed(spaces, filter.value) : [];
    if (named.length === 0) continue;
    spaceIds.push(...named.map(({ id }) => id));
    q = withoutFilter(q, filter);
  }
  if (spaceIds.length > 0) return { q, spaceIds };
  return openId === null ? null : { q, spaceIds: [openId] };
}

/** How `in:` names a space: by its id if another one has the same name. */
export function spaceValue(spaces: readonly Choice[], id: string): string {
  const space = spaces.find((each) => each.id === id);
  return space && spacesNamed(spaces, space.name).length === 1 ? valueFor(space) : id;
}

const spacesNamed = (spaces: readonly Choice[], value: string) =>
  spaces.filter(({ id, name }) => id === value || isAlike(name, value));

const isNamed = (filter: string): filter is OpenFilter['name'] => /^(in|from)$/.test(filter);

const isAlike = (one: string, other: string) =>
  one.toLocaleLowerCase() === other.toLocaleLowerCase();
