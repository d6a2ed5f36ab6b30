// The texts that a run has posted, as its calls have them. Pure.

import type { Step } from '@smartspace/client';

/** The texts of the calls of `send_message` that were made. */
export const postedTexts = (steps: readonly Step[]): string[] =>
  steps
    .flatMap(({ calls }) => calls)
    .filter(({ name, status }) => name === 'send_message' && status === 'completed')
    .map(({ input }) => textIn(input))
    .filter((text) => text !== '');

function textIn(input: unknown): string {
  if (input === null || typeof input !== 'object' || !('text' in input)) return '';
  return typeof input.text === 'string' ? input.text : '';
}
