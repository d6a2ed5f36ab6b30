// The calls that need no credential: a guest previews an invite and accepts it.

import { environmentWith } from './environment.ts';
import { request } from './http.ts';
import type { Schemas } from './types.ts';

type Accepted = Schemas['AcceptedInvite'];
type Preview = Schemas['InvitePreview'];

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
  return (await post(url, 'accept', { body: invite, idempotencyKey })) as Accepted;
}

/** Where an invite leads. It needs no token, and does not use the invite. */
export async function previewInvite(url: string, token: string): Promise<Preview> {
  return (await post(url, 'preview', { body: { token } })) as Preview;
}

function post(url: string, what: string, call: Parameters<typeof request>[4]) {
  const requests = { env: environmentWith(), url, isRenewable: false, onEnd() {} };
  return request(requests, '', 'POST', `/v1/invites/${what}`, call);
}
