// The next step after an agent was made: to try it in a space that it has joined.

import { useSpace } from '@smartspace/react';
import type { JSX } from 'preact';
import { agentHash, hashOf } from '../../../navigation/address.ts';
import { isolated } from '../../../ui/visible.ts';

/** The page of an agent that was just made, and has joined this space. */
export const madeHash = (agentId: string, spaceId: string | undefined): string =>
  agentHash(agentId) + (spaceId === undefined ? '' : `?try=${encodeURIComponent(spaceId)}`);

/** Leads to the space that the address names. Nothing if it names none. */
export function NextStep({ name }: { name: string }): JSX.Element | null {
  const spaceId = new URLSearchParams(location.hash.split('?')[1]).get('try');
  return spaceId === null ? null : <TryIn spaceId={spaceId} name={name} />;
}

function TryIn({ spaceId, name }: { spaceId: string; name: string }) {
  const { space } = useSpace(spaceId);
  if (!space) return null;
  return (
    <div class="form-row next-step">
      <p>
        <strong>{`${isolated(name)} is ready.`}</strong> Write to it, and see what it answers.
      </p>
      <a class="button primary" href={hashOf(spaceId)}>
        {`Try it in ${isolated(space.name)}`}
      </a>
    </div>
  );
}
