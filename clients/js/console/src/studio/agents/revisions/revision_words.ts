// A revision in words, and how an agent has changed since then. Pure.

import type { Revision, Schemas } from '@smartspace/client';
import { isolated } from '../../../ui/visible.ts';
import { fileWords } from '../../managed/managed_words.ts';

// So many fields a row names.
const MOST_FIELDS = 3;

/** A change of a field. A side is absent if the field had no value. */
export type Change = Schemas['FieldChange'];

/** The part of an agent that has revisions. */
export type Revised = Pick<Schemas['ShownRevision'], 'name' | 'agent'>;

/** The field at a pointer: `model / name`. */
export const fieldWords = (pointer: string): string =>
  pointer
    .split('/')
    .slice(1)
    .map((name) => isolated(name.replaceAll('~1', '/').replaceAll('~0', '~')))
    .join(' / ');

/** What made a revision: `changed instructions, model / name`. */
export function whatWords({ revision, source, changes }: Revision): string {
  if (source.kind === 'restore') return `restored ${source.restoredFrom}`;
  if (changes.length === 0) return revision === 1 ? 'created' : 'changed nothing';
  const named = changes.slice(0, MOST_FIELDS).map(({ pointer }) => fieldWords(pointer));
  const more = changes.length - named.length;
  return `changed ${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Which files made a revision: `from files: support, agents/ada.yaml at 4f2c9e1`, or nothing. */
export const filesWords = ({ source }: Pick<Revision, 'source'>): string =>
  source.kind === 'apply' ? `, from files: ${fileWords(source)}` : '';

/** Who made a revision. `nameOf` is undefined for somebody who is not known. */
export function whoWords(by: Revision['by'], nameOf: (id: string) => string | undefined): string {
  switch (by.kind) {
    case 'admin_key':
      return 'the admin key';
    case 'entity':
      return isolated(nameOf(by.id) ?? by.id);
    default:
      return 'somebody';
  }
}

/** The fields that differ, by pointer, as the server finds them: lists count as a whole. */
export const differences = (before: Revised, after: Revised): Change[] =>
  compare(fieldsOf(before), fieldsOf(after), '');

type Fields = Record<string, unknown>;

const fieldsOf = ({ name, agent }: Revised): Fields => ({ name, ...agent });

const isObject = (value: unknown): value is Fields =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

function compare(before: Fields, after: Fields, place: string): Change[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names.flatMap((name) => {
    const pointer = `${place}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    const [from, to] = [before[name], after[name]];
    if (isObject(from) && isObject(to)) return compare(from, to, pointer);
    return JSON.stringify(from) === JSON.stringify(to) ? [] : [{ pointer, from, to }];
  });
}
