// The one call that needs no credential: a guest accepts an invite.

import { environmentWith } from './environment.ts';
import { request } from './http.ts';
import type { Schemas } from './types.ts';

type Accepted = Schemas['AcceptedInvite'];

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
): Promise<Accepted> {
  const requests = { env: environmentWith(), url, isRenewable: false, onEnd() {} };
  const call = { body: invite, idempotencyKey };
  return (await request(requests, '', 'POST', '/v1/invites/accept', call)) as Accepted;
}
