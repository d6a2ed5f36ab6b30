// Why an invite was not accepted, in words for the reader. Pure.

/** The reader: nobody has signed in, a person, or a guest of a space. */
export type Reader = 'nobody' | 'person' | 'guest' | 'agent';

/** Why `POST /v1/invites/accept` failed. `detail` is the server's own text. */
export function refusalText(status: number, detail: string, reader: Reader): string {
  switch (status) {
    case 401:
      return 'Guests can’t join here. Sign in with your own token, then join.';
    case 403:
      if (reader === 'guest')
        return 'A guest can be in one space only. Sign out to join this one as another guest.';
      if (reader === 'agent') return 'Agents can’t accept invites. An owner adds them.';
      return 'Invites are turned off here. Ask an owner of the space to add you.';
    case 404:
      return 'This invite has ended: it has expired or was revoked. Ask for a new one.';
    case 409:
      return /used up/.test(detail)
        ? 'This invite is used up: others have joined with it. Ask for a new one.'
        : `You can’t join right now: ${detail}.`;
    case 429:
      return 'There were too many tries. Wait a minute, then try again.';
    case 0:
      return 'The server can’t be reached. Try again.';
    default:
      return `You have not joined: ${detail}`;
  }
}
