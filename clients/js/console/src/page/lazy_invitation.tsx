// Loads the page that an invite opens.

import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { InvitationProps } from '../studio/people/invitation.tsx';

type Page = typeof import('../studio/studio.tsx').Invitation;

/** The page of an invite. */
export function LazyInvitation(props: InvitationProps): JSX.Element {
  const [Invitation, setPage] = useState<Page | null>(null);
  const [hasFailed, setHasFailed] = useState(false);
  useEffect(() => {
    import('../studio/studio.tsx').then(
      (studio) => setPage(() => studio.Invitation),
      () => setHasFailed(true),
    );
  }, []);
  if (Invitation) return <Invitation {...props} />;
  return (
    <main class="sign-in">
      <p class="problem" role="alert">
        {hasFailed ? 'The invite was not loaded: there is no network. Reload the page.' : ''}
      </p>
    </main>
  );
}
