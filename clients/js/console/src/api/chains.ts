// Stops what a message has set off.

import type { Client, Run } from '@smartspace/client';
import { spacePath } from './paths.ts';

/** Whether the client knows how to stop a chain. */
export const canStopChains = (client: Client): boolean => 'stopChain' in client;

/** Cancels the active runs of the chain of a run that a message triggered. */
export async function cancelChain(
  client: Client,
  { trigger, activeSpaceId }: Pick<Run, 'trigger' | 'activeSpaceId'>,
): Promise<void> {
  if (!('seq' in trigger)) return;
  const spaceId = 'spaceId' in trigger ? trigger.spaceId : activeSpaceId;
  if (!spaceId) return;
  const path = spacePath(spaceId, 'messages', String(trigger.seq), 'chain', 'cancel');
  await client.request('POST', path, { retry: true });
}
