// The line below a card with the tool's name and status. It opens to show the whole input and
// output.

import type { JSX } from 'preact';
import { onOneLine, visible } from '../../ui/visible.ts';
import { isObject, wordsFor } from '../schema/json.ts';
import { FlatTable, tableOf } from './flat_table.tsx';
import { GrowingText } from './growing_text.tsx';
import type { CardPart } from './parts.ts';

const LONGEST_CHARS = 120;

/** The details of one call. The element stays open while the call goes on. */
export function Details({ part }: { part: CardPart }): JSX.Element {
  const output = 'raw' in part ? null : (part.output ?? null);
  return (
    <details>
      <summary>
        <span>{`${visible(part.name)} · ${part.status}`}</span>{' '}
        <span class="result" dir="auto">
          {visible(resultText(part))}
        </span>
      </summary>
      <div class="tool-label">Input</div>
      {'raw' in part ? <GrowingText text={part.raw} /> : <Value value={part.input} />}
      {output === null ? null : (
        <>
          <div class="tool-label">Output</div>
          <Value value={output} />
        </>
      )}
    </details>
  );
}

/** A value as a table, or as text. */
export function Value({ value }: { value: unknown }): JSX.Element {
  const table = tableOf(value);
  if (table) return <FlatTable table={table} />;
  return <GrowingText text={typeof value === 'string' ? value : jsonOf(value)} />;
}

/**
 * What came of a call without a form, on one line: in the words of its tool, or its output. A call
 * with a form has an outcome instead.
 */
export function resultText(part: CardPart): string {
  if ('raw' in part || typeof part.ui === 'string') return '';
  if ('title' in part && typeof part.title === 'string' && part.title !== '') return part.title;
  if (part.output === null || part.output === undefined || isPicture(part.output)) return '';
  return onOneLine(flatWords(part.output), LONGEST_CHARS);
}

// `found: 7`, not JSON.
function flatWords(output: unknown): string {
  if (!isObject(output)) return wordsFor(output);
  const members = Object.entries(output);
  if (members.some(([, value]) => typeof value === 'object' && value !== null))
    return wordsFor(output);
  return members.map(([key, value]) => `${key}: ${wordsFor(value)}`).join(', ');
}

// A call that returned a picture alone. The card shows it.
const isPicture = (output: unknown): boolean =>
  isObject(output) && Object.keys(output).join() === 'attachmentId';

const jsonOf = (value: unknown): string => JSON.stringify(value, null, 2) ?? '';
