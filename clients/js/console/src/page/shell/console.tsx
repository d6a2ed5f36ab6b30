// The page between signing in and signing out.

import type { SpaceInfo } from '@smartspace/client';
import { useClient, useConnection, useMe, useSpaces } from '@smartspace/react';
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import { isNowhere, openSpace, useAddress } from '../../navigation/address.ts';
import { useGoKeys } from '../../navigation/keys.ts';
import { PageHead } from '../../navigation/page_head.tsx';
import { useIsWide } from '../../ui/is_wide.ts';
import { NoticeContext, NoticeLine, NoticeTextContext, wordsOf } from '../../ui/notices.tsx';
import { preference, setPreference } from '../../ui/preferences.ts';
import { NoSuchPage } from '../../navigation/no_such_page.tsx';
import { SpaceView } from '../space/space_view.tsx';
import { FAILED } from '../scripts.ts';
import { Keys } from './keys.tsx';
import { LazyNewSpace } from './lazy_new_space.tsx';
import { LazySearch, LazyStudio } from './lazy_pages.tsx';
import { Sidebar } from './sidebar.tsx';
import { Switcher } from './switcher.tsx';

export interface ConsoleProps {
  /** The server has accepted the key. */
  onAccepted: () => void;
  onSignOut: () => void;
}

/** Shows the spaces and the open one. */
export function Console({ onAccepted, onSignOut }: ConsoleProps): JSX.Element {
  const client = useClient();
  const { me, error } = useMe();
  const address = useAddress();
  const { page } = address;
  const spaceId = 'spaceId' in address ? address.spaceId : null;
  const [notice, setNotice] = useState('');
  const [isCreating, setIsCreating] = useState(false);
  const [isJumping, setIsJumping] = useState(false);
  const [isHelping, setIsHelping] = useState(false);
  const { isEmpty, failed } = useLastSpace(page === 'space' ? spaceId : null, page);

  useEffect(() => setNotice(''), [page, spaceId]);
  useLayoutEffect(() => {
    if (me) onAccepted();
  }, [me]);
  useUnlisted(spaceId);
  useGoKeys(() => setIsHelping(true));
  const created = (space: SpaceInfo) => {
    setIsCreating(false);
    client.reloadSpaces().catch((problem) => setNotice(wordsOf(problem)));
    openSpace(space.id);
  };
  // Until the server has answered, the key may be wrong.
  if (!me && !error) return <p class="loading">Smartspace</p>;
  const text = notice || (failed ?? (me || !error ? '' : wordsOf(error)));
  return (
    <NoticeContext.Provider value={setNotice}>
      <NoticeTextContext.Provider value={text}>
        <button type="button" class="skip" onClick={skip}>
          {page === 'space' ? 'Skip to the message' : 'Skip to the page'}
        </button>
        <div id="console" class="console" data-page={page}>
          <Sidebar
            me={me}
            address={address}
            onJump={() => setIsJumping(true)}
            onNewSpace={() => setIsCreating(true)}
            onSignOut={onSignOut}
          />
          {address.page === 'nowhere' || address.page === 'list' ? (
            <NoSpace notice={text || (isEmpty ? noSpaceText(me?.capabilities ?? []) : '')} />
          ) : address.page === 'unknown' ? (
            <NoSuchPage what="page" />
          ) : address.page === 'space' ? (
            <SpaceView {...address} notice={text} />
          ) : address.page === 'search' ? (
            <LazySearch {...address} />
          ) : (
            <LazyStudio address={address} />
          )}
          {/* The sidebar is hidden in narrow windows, and would hide the dialog. */}
          <Switcher
            isOperator={me?.kind === 'operator'}
            spaceId={spaceId}
            isOpen={isJumping}
            onOpen={() => setIsJumping(true)}
            onClose={() => setIsJumping(false)}
          />
          <Keys isOpen={isHelping} onClose={() => setIsHelping(false)} />
        </div>
      </NoticeTextContext.Provider>
      {isCreating ? (
        <LazyNewSpace
          onCreated={created}
          onClose={() => setIsCreating(false)}
          onFailed={() => {
            setIsCreating(false);
            setNotice(FAILED);
          }}
        />
      ) : null}
    </NoticeContext.Provider>
  );
}

// The sidebar may have hundreds of spaces.
const skip = () =>
  (document.getElementById('text') ?? document.querySelector<HTMLElement>('.page h1'))?.focus();

const noSpaceText = (capabilities: readonly string[]) =>
  capabilities.includes('create_spaces')
    ? 'There is no space yet. Create one with “New space”.'
    : 'You are in no space yet.';

const NoSpace = ({ notice }: { notice: string }) => (
  <main class="page">
    <PageHead title="Smartspace" />
    <NoticeLine text={notice} />
  </main>
);

// Loads the list again when a space is opened that is not in it: it was made elsewhere.
function useUnlisted(spaceId: string | null) {
  const client = useClient();
  const { spaces, isLoading } = useSpaces();
  const isUnlisted = spaceId !== null && !isLoading && !spaces.some(({ id }) => id === spaceId);
  useEffect(() => {
    // The view of the space shows its own error.
    if (isUnlisted) client.reloadSpaces().catch(() => {});
  }, [spaceId, isUnlisted]);
}

// Without a space in the address, the one that was open last is opened, or else the one with the
// latest message, or else the oldest one.
function useLastSpace(spaceId: string | null, page: string) {
  const { spaces, isLoading, error } = useSpaces();
  const isLive = useConnection().state === 'live';
  // While the connection is lost, its status says so.
  const failed = error && (isLive || spaces.length === 0) ? wordsOf(error) : null;
  const isReady = !isLoading && !error;
  // In a narrow window the list is a page of its own.
  const isWide = useIsWide();
  useEffect(() => {
    if (spaceId !== null) return setPreference('space', spaceId);
    const lastId = preference('space');
    const active = spaces.find(({ lastMessage }) => lastMessage !== null);
    const last = spaces.find(({ id }) => id === lastId) ?? active ?? spaces.at(-1);
    if (isReady && last && isWide && isNowhere()) openSpace(last.id, true);
  }, [spaceId, page, isReady, isWide, spaces.length]);
  return { isEmpty: isReady && spaces.length === 0, failed };
}
