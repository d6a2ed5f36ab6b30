// The sidebar of the page: the state of the connection, the spaces, and the caller's actions.

import type { Caller } from '@smartspace/client';
import { useSpaces } from '@smartspace/react';
import type { JSX } from 'preact';
import { BUILD_PAGES, LIST, type Address } from '../../navigation/address.ts';
import { useIsWide } from '../../ui/is_wide.ts';
import { Status } from '../../ui/status.tsx';
import { shownName } from '../../ui/visible.ts';
import { useHomeScript } from '../scripts.ts';
import { MentionsLink } from './mentions_link.tsx';
import { SpaceList } from './space_list.tsx';

export interface SidebarProps {
  /** The caller; null until it is known. */
  me: Caller | null;
  address: Address;
  onJump: () => void;
  onNewSpace: () => void;
  onSignOut: () => void;
}

export function Sidebar({ me, address, onJump, onNewSpace, onSignOut }: SidebarProps): JSX.Element {
  const { spaces } = useSpaces();
  const { script: home } = useHomeScript();
  const currentId = 'spaceId' in address ? address.spaceId : null;
  // In a narrow window the list is a page.
  const isWide = useIsWide();
  const isPage = !isWide && (address.page === 'list' || address.page === 'nowhere');
  const Brand = isPage ? 'h1' : 'strong';
  const isOperator = me?.kind === 'operator';
  const mayCreate = me?.capabilities.includes('create_spaces') ?? false;
  return (
    <div class="sidebar" role={isPage ? 'main' : 'complementary'}>
      <div class="brand">
        <Brand>Smartspace</Brand>
        <Status id="status" />
      </div>
      <button type="button" class="switcher" onClick={onJump}>
        Jump to… <kbd aria-hidden="true">Ctrl K</kbd>
      </button>
      {home && (isWide || isPage) && isOperator ? <home.LoopAlarm /> : null}
      {home && isPage && isOperator ? <home.Overview /> : null}
      {home ? <home.NeedsYou isCurrent={address.page === 'inbox'} /> : null}
      {home ? <home.Notifications /> : null}
      {me?.entity ? <MentionsLink isCurrent={address.page === 'mentions'} /> : null}
      <nav class="all-spaces" aria-labelledby="spaces-title">
        <div class="inbox-head">
          <h2 id="spaces-title">Spaces</h2>
          {mayCreate ? (
            <button type="button" id="new-space" aria-label="New space" onClick={onNewSpace}>
              +
            </button>
          ) : null}
        </div>
        <SpaceList {...{ spaces, currentId }} />
      </nav>
      {home && isOperator ? <home.FirstSteps address={address} /> : null}
      {isOperator ? <Build page={address.page} /> : null}
      <div class="sidebar-actions">
        {me ? (
          <p id="caller" class="caller">
            {me.entity ? `Signed in as ${shownName(me.entity)}` : 'Signed in as the operator'}
          </p>
        ) : null}
        <button
          type="button"
          id="sign-out"
          onClick={() => {
            if (!me?.entity?.guestOf || confirm(NO_WAY_BACK)) onSignOut();
          }}
        >
          Sign out
        </button>
      </div>
    </div>
  );
}

// The token of a guest is in this tab only.
const NO_WAY_BACK =
  'Sign out? You can’t come back as this guest. An invite that is used up, such as one for a ' +
  'single person, does not let you in again: you would need a new one.';

// The pages for operators.
const Build = ({ page }: { page: Address['page'] }) => (
  <nav class="build" aria-labelledby="build">
    <h2 id="build">Build</h2>
    <ul>
      <li class="home-link">
        <a href={LIST} aria-current="page">
          Home
        </a>
      </li>
      {BUILD_PAGES.map(({ name, href, pages }) => (
        <li key={href}>
          <a href={href} aria-current={pages.includes(page) ? 'page' : undefined}>
            {name}
          </a>
        </li>
      ))}
    </ul>
  </nav>
);
