// The one call that needs no credential: a guest accepts an invite.

import { SmartspaceError, type Schemas } from '@smartspace/client';

/** Accepts an invite as a new guest. The same key gives the same guest. */
export async function acceptAsGuest(
  body: Schemas['Acceptance'],
  key: string,
): Promise<Schemas['AcceptedInvite']> {
  const response = await fetch('/v1/invites/accept', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': key },
    body: JSON.stringify(body),
  }).catch(() => {
    throw new SmartspaceError(0);
  });
  const answer = await response.json().catch(() => null);
  if (!response.ok || !answer) throw new SmartspaceError(response.status, answer, response.headers);
  return answer;
}
