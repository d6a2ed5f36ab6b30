// The page that an invite opens, once it is loaded.

import type { JSX } from 'preact';
import type { InvitationProps } from '../../studio/people/invitation.tsx';
import { useStudio } from '../scripts.ts';

export function LazyInvitation(props: InvitationProps): JSX.Element {
  const { script: studio, hasFailed } = useStudio();
  if (studio) return <studio.Invitation {...props} />;
  return (
    <main class="sign-in">
      <p class="problem" role="alert">
        {hasFailed ? 'The invite was not loaded: there is no network. Reload the page.' : ''}
      </p>
    </main>
  );
}
