// What a search has found, in words. Pure.

import type { SearchItem, SmartspaceError } from '@smartspace/client';
import { wordsOf } from '../ui/notices.tsx';

/** The items without those that an earlier answer has brought. */
export const unique = (items: readonly SearchItem[]): SearchItem[] => [
  ...new Map(items.map((each) => [each.messageId, each])).values(),
];

/** How many messages the items stand for. */
export const countOf = (items: readonly SearchItem[]): number =>
  items.reduce((count, { alsoSeqs }) => count + 1 + alsoSeqs.length, 0);

/** Whether the same search may succeed later. */
export const mayPass = (error: Error): boolean =>
  (error as Partial<SmartspaceError>).isTemporary ?? true;

/** An error in sentences, without the places in the call. */
export function problemOf(error: Error): string {
  const { errors = [] } = error as Partial<SmartspaceError>;
  const details = errors.map(({ detail }) => detail).join('; ');
  return details ? `${details[0]?.toUpperCase()}${details.slice(1)}.` : wordsOf(error);
}
