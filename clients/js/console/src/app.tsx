// The console: signs in, and shows the spaces of the caller. A folder imports only from the folders
// above it:
//
// api/         paths, idempotency keys and lists of the HTTP API, and the providers of the hooks
// ui/          notices, the copy button, the clock, and the state of the window and the connection
// navigation/  addresses, the head of a page, and the question before unsaved text is left
// members/     the members of the open space
// message/     what one can do with a message: commands, rights, reactions, the line of a parent
// files/       the files of messages
// forms/       the cards of tool calls, and their forms: schema/, fields/, form/, card/
// why/         the drawer that explains a run: why, chain, fork
// search/      the page of a search and the switcher's dialog, loaded once the page shows
// studio/      the pages for operators and owners, loaded when the first of them is opened
// home/        what waits for the caller and the first screen, loaded in the same way
// page/        the page: session/ (key), shell/ (frame, list of spaces), space/ (one space) with
//              its timeline/ and composer/
// styles/      the styles that all of these share
//
// Everything from the server comes through the client library and its hooks.

import { render } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useState } from 'preact/hooks';
import { ClientScope } from './api/providers.ts';
import { clearDrafts } from './forms/form/drafts.ts';
import { mayLeave } from './navigation/unsaved.ts';
import {
  REFUSED,
  clientWith,
  forgetInvite,
  forgetKey,
  forgetReplaced,
  isSendable,
  storeKey,
  replacedKey,
  storedInvite,
  storedKey,
  takeInviteFromAddress,
  takeKeyFromAddress,
} from './page/session/session.ts';
import { SignIn } from './page/session/sign_in.tsx';
import { Console } from './page/shell/console.tsx';
import { LazyInvitation } from './page/shell/lazy_invitation.tsx';

function App() {
  const [key, setKey] = useState(storedKey);
  const [problem, setProblem] = useState('');
  const [invite, setInvite] = useState(storedInvite);
  const [isSigningIn, setIsSigningIn] = useState(false);
  const leave = () => {
    forgetKey();
    if (replacedKey() === null) clearDrafts();
    setProblem(REFUSED);
    setKey(null);
  };
  const enter = () => {
    setProblem('');
    setIsSigningIn(false);
    setKey(storedKey());
  };
  const signIn = (given: string) => {
    if (given !== replacedKey()) clearDrafts();
    storeKey(given);
    enter();
  };
  const isWrong = key !== null && !isSendable(key);
  const client = useMemo(
    () => (key === null || isWrong ? null : clientWith(key, leave)),
    [key, isWrong],
  );
  useEffect(() => () => client?.close(), [client]);
  useEffect(() => {
    if (isWrong) leave();
  }, [isWrong]);
  // Before the first paint: a fragment that changed until then would never be read.
  useLayoutEffect(() => {
    // Opening the printed address again in the same tab changes the fragment only.
    const changed = () => {
      if (takeKeyFromAddress()) enter();
      if (takeInviteFromAddress()) {
        setIsSigningIn(false);
        setInvite(storedInvite());
      }
    };
    addEventListener('hashchange', changed);
    return () => removeEventListener('hashchange', changed);
  }, []);

  if (invite !== null && !isSigningIn && !problem)
    return (
      <LazyInvitation
        key={key ?? ''}
        token={invite}
        client={client}
        onDone={(given) => {
          forgetInvite();
          setInvite(null);
          if (given !== undefined) signIn(given);
        }}
        onSignIn={() => {
          // A reader with a key can become a guest instead.
          if (key === null) return setIsSigningIn(true);
          forgetKey();
          clearDrafts();
          setKey(null);
        }}
      />
    );
  const before = replacedKey();
  if (client === null)
    return (
      <SignIn
        problem={problem}
        onKey={signIn}
        onBack={before === null ? null : () => signIn(before)}
      />
    );
  return (
    <ClientScope key={key ?? ''} client={client}>
      <Console
        // The address may have brought another key in the meantime.
        onAccepted={() => storedKey() === key && accepted()}
        onSignOut={signOut}
      />
    </ClientScope>
  );
}

// What the person before has typed is not for this one.
function accepted() {
  if (replacedKey() !== null && replacedKey() !== storedKey()) clearDrafts();
  forgetReplaced();
}

function signOut() {
  if (!mayLeave()) return;
  forgetKey();
  forgetInvite();
  // A reload removes everything that was shown from the page.
  history.replaceState(null, '', location.pathname);
  location.reload();
}

takeKeyFromAddress();
takeInviteFromAddress();
const root = document.getElementById('app');
if (root) {
  root.replaceChildren();
  render(<App />, root);
}
