// The one call that needs no credential: a guest accepts an invite.

import { SmartspaceError } from './http.ts';
import type { Schemas } from './types.ts';

/**
 * Accepts an invite as a new guest, without a token. Resolves to the guest with a token of its own,
 * for `createClient`. The deployment must admit guests.
 *
 * `url` is that of the deployment. The same `idempotencyKey` gives the same guest.
 */
export async function acceptInvite(
  url: string,
  invite: Schemas['Acceptance'],
  idempotencyKey: string,
): Promise<Schemas['AcceptedInvite']> {
  const response = await fetch(`${url.replace(/\/+$/, '')}/v1/invites/accept`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': idempotencyKey },
    body: JSON.stringify(invite),
  }).catch(() => {
    throw new SmartspaceError(0);
  });
  const answer = await response.json().catch(() => null);
  if (!response.ok || !answer) throw new SmartspaceError(response.status, answer, response.headers);
  return answer;
}
