// The files that manage an object or made a revision, in words. Pure.

import type { Schemas } from '@smartspace/client';
import { isolated, visible } from '../../ui/visible.ts';

/** What names a file. */
export type FileSource = Pick<Schemas['ManagedBy'], 'project' | 'path' | 'commit'>;

/** A file with its project and commit: `support, agents/ada.yaml at 4f2c9e1`. */
export function fileWords({ project, path, commit }: FileSource): string {
  const file = path ? `, ${isolated(path)}` : '';
  return `${isolated(project)}${file}${commit ? ` at ${commitWords(commit)}` : ''}`;
}

// A hash as Git shortens it. What follows it stays, such as `-dirty`.
const commitWords = (commit: string): string =>
  visible(commit).replace(/^([\da-f]{7})[\da-f]+/i, '$1');
