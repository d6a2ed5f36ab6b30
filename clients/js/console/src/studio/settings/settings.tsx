// The settings of a space: how it behaves, its members, its invites, and its end. Owners and the
// operator change them, others read them.

import { useMe, useSpace } from '@smartspace/react';
import type { JSX } from 'preact';
import { SpaceScope } from '../../api/providers.ts';
import { hashOf } from '../../navigation/address.ts';
import { isolated } from '../../ui/visible.ts';
import { Loaded, Page, Part } from '../frame/page.tsx';
import { ManagedBy } from '../managed/managed_by.tsx';
import { AddMember } from './add_member.tsx';
import { Allowances } from './allowances.tsx';
import { DeleteSpace } from './delete_space.tsx';
import { Facts } from './facts.tsx';
import { Invites } from './invites.tsx';
import { Members } from './members.tsx';
import { SettingsForm } from './settings_form.tsx';

export const Settings = ({ spaceId }: { spaceId: string }): JSX.Element => (
  <SpaceScope id={spaceId}>
    <OpenSettings spaceId={spaceId} />
  </SpaceScope>
);

function OpenSettings({ spaceId }: { spaceId: string }) {
  const { space, error, isLoading, isGone } = useSpace();
  const { me } = useMe();
  const isOperator = me?.kind === 'operator';
  const meId = me?.entity?.id ?? null;
  const own = space?.members.find(({ id }) => id === meId);
  const mayGovern = isOperator || own?.role === 'owner';
  const title = mayGovern ? 'Settings' : 'Members';
  const members = (
    <Part title="Members">
      {space ? <Members {...{ space, meId, isOperator, mayGovern }} /> : null}
      {space && mayGovern ? <AddMember space={space} isOperator={isOperator} /> : null}
    </Part>
  );
  return (
    <Page
      title={space ? `${title} of ${isolated(space.name)}` : title}
      actions={
        <a class="button" href={hashOf(spaceId)}>
          Open<span class="unseen"> the space</span>
        </a>
      }
    >
      <Loaded
        isLoading={isLoading}
        error={space ? null : error}
        isEmpty={!space || isGone}
        empty={isGone ? 'This space was deleted, or you have left it.' : ''}
      >
        {space ? (
          <>
            <ManagedBy managedBy={space.managedBy}>
              The next apply refuses a change of what the file says, or overwrites it.
            </ManagedBy>
            {mayGovern ? null : members}
            <Part title="How it works">
              {mayGovern ? (
                <SettingsForm space={space} isOperator={isOperator} />
              ) : (
                <Facts space={space} />
              )}
            </Part>
            {mayGovern ? members : null}
            {/* A guest may not read them. */}
            {own?.guest ? null : (
              <Part title="Allowances">
                <Allowances {...{ space, meId, mayGovern }} />
              </Part>
            )}
            {mayGovern ? (
              <>
                <Part title="Invites">
                  <Invites space={space} />
                </Part>
                <Part title="Delete this space">
                  <DeleteSpace id={spaceId} name={space.name} />
                </Part>
              </>
            ) : null}
          </>
        ) : null}
      </Loaded>
    </Page>
  );
}
