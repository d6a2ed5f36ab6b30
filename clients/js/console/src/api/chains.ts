// Stops what a message has set off.

import type { Client, Run } from '@smartspace/client';

/** Cancels the active runs of the chain of a run that a message triggered. */
export async function cancelChain(
  client: Client,
  { trigger, activeSpaceId }: Pick<Run, 'trigger' | 'activeSpaceId'>,
): Promise<void> {
  if (!('seq' in trigger)) return;
  const spaceId = 'spaceId' in trigger ? trigger.spaceId : activeSpaceId;
  if (spaceId) await client.stopChain(spaceId, trigger.seq);
}
