// The revisions of an agent, and one of them beside the list.

import type { Entity, Revision } from '@smartspace/client';
import { useClient, useRevisions } from '@smartspace/react';
import type { JSX, RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { entityPath } from '../../../api/paths.ts';
import { agentHash, open, revisionHash } from '../../../navigation/address.ts';
import { useAll } from '../../data/pages.ts';
import { Loaded, Part } from '../../frame/page.tsx';
import { Ago } from '../../runs/ago.tsx';
import type { AgentTabProps } from '../agent_tab.ts';
import { RevisionView } from './revision_view.tsx';
import { filesWords, whatWords, whoWords } from './revision_words.ts';
import { useRowKeys } from './use_row_keys.ts';

export interface RevisionsProps extends AgentTabProps {
  /** The revision that the address names; null for the newest one. */
  chosen: number | null;
}

/** The tab with the revisions of an agent, newest first. */
export function Revisions({ agent, onChanged, chosen }: RevisionsProps): JSX.Element {
  const { id } = agent;
  const { revisions: items, restore, reload, ...load } = useRevisions(id);
  const newest = items[0]?.revision ?? 0;
  const number = chosen ?? newest;
  const shown = items.find(({ revision }) => revision === number);
  const whoOf = useWho(items);
  const [said, setSaid] = useState('');
  const list = useRef<HTMLUListElement>(null);
  useRowKeys(list);
  useInView(list, shown);
  useInStep({ agent, onChanged }, newest, reload);
  const restoreIt = async () => {
    const changed = await restore(number);
    setSaid(`Revision ${number} is restored. The agent has revision ${changed.revision} now.`);
    onChanged(changed);
    open(agentHash(id, 'revisions'), true);
  };
  return (
    <>
      <p class="note" role="status">
        {said}
      </p>
      <Loaded
        {...load}
        isEmpty={items.length === 0}
        empty="No revision is kept yet. The next change of the agent is listed here."
      >
        <div class="revisions">
          <Part title="Revisions">
            <ul ref={list} aria-label="Revisions">
              {items.map((each) => (
                <li key={each.revision}>
                  <a
                    href={revisionHash(id, each.revision)}
                    aria-current={each.revision === number ? 'true' : undefined}
                  >
                    <strong>{`Revision ${each.revision} `}</strong>
                    <span>{`${whatWords(each)} `}</span>
                    <span class="note">
                      <Ago at={each.at} />
                      {` by ${whoOf(each)}${filesWords(each)}`}
                    </span>
                  </a>
                </li>
              ))}
            </ul>
            <p class="note keys">
              <span>
                <kbd>j</kbd> next
              </span>
              <span>
                <kbd>k</kbd> previous
              </span>
              <span>
                <kbd>Enter</kbd> open
              </span>
            </p>
          </Part>
          {shown ? (
            <RevisionView
              key={number}
              {...{ agent, newest }}
              revision={shown}
              who={whoOf(shown)}
              restore={restoreIt}
            />
          ) : (
            <p class="empty">{`Revision ${number} is not kept. The last 50 are.`}</p>
          )}
        </div>
      </Loaded>
    </>
  );
}

// The chosen row is in view when the list shows.
function useInView(list: RefObject<HTMLUListElement | null>, shown: Revision | undefined) {
  useLayoutEffect(() => {
    const row = list.current?.querySelector('[aria-current]');
    if (!list.current || !row) return;
    // `scrollIntoView` could move the page, too.
    const [all, one] = [list.current.getBoundingClientRect(), row.getBoundingClientRect()];
    if (one.top < all.top || one.bottom > all.bottom) list.current.scrollTop += one.top - all.top;
  }, [shown?.revision]);
}

// The function that says who made a revision. Names are loaded only if there are some to show.
function useWho(items: readonly Revision[]) {
  const hasNames = items.some(({ by }) => by.kind === 'entity');
  const entities = useAll<Entity>(hasNames ? '/v1/entities?limit=200' : null);
  const names = new Map(entities.items.map(({ id, name }) => [id, name]));
  return ({ by }: Revision) => whoWords(by, (id) => names.get(id));
}

// Another tab or the head of the page changes the agent, and so do others: what is older, the list
// or the agent, is loaded again.
function useInStep({ agent, onChanged }: AgentTabProps, listed: number, reload: () => void) {
  const client = useClient();
  const known = agent.revision ?? 0;
  useEffect(() => {
    if (listed === 0 || listed === known) return;
    if (listed < known) reload();
    // The list is right without it, too.
    else client.request<Entity>('GET', entityPath(agent.id)).then(onChanged, () => {});
  }, [listed, known]);
}
