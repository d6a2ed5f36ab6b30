// The allowances of a space: calls that are made without asking, because people said so before.

import type { SpaceInfo } from '@smartspace/client';
import { useClient } from '@smartspace/react';
import type { JSX } from 'preact';
import type { Allowance } from '../../api/approvals.ts';
import { isolated, visible } from '../../ui/visible.ts';
import { timeText } from '../../ui/times.ts';
import { usePages } from '../data/pages.ts';
import { ActionButton } from '../frame/action_button.tsx';
import { Loaded, More } from '../frame/page.tsx';
import { TableHead } from '../frame/table_head.tsx';

export interface AllowancesProps {
  space: SpaceInfo;
  meId: string | null;
  /** The caller is the operator or an owner, who may delete all of them. */
  mayGovern: boolean;
}

/** The allowances. A person may delete its own. */
export function Allowances({ space, meId, mayGovern }: AllowancesProps): JSX.Element {
  const allowances = usePages<Allowance>(`/v1/allowances?spaceId=${encodeURIComponent(space.id)}`);
  const client = useClient();
  const remove = async ({ id }: Allowance) => {
    await client.request('DELETE', `/v1/allowances/${encodeURIComponent(id)}`, { retry: true });
    allowances.reload();
  };
  return (
    <>
      <p class="note">
        Somebody approved these calls and chose “always here”. They are made without asking. A
        change of the rule ends them.
      </p>
      <Loaded
        {...allowances}
        isEmpty={allowances.items.length === 0}
        empty="There are no allowances here."
      >
        <table class="list centered" aria-label="Allowances">
          <TableHead columns={['Tool', 'Agent', 'Calls', 'By', 'Ends']} />
          <tbody>
            {allowances.items.map((allowance) => (
              <Row
                key={allowance.id}
                allowance={allowance}
                space={space}
                remove={mayGovern || allowance.createdBy === meId ? () => remove(allowance) : null}
              />
            ))}
          </tbody>
        </table>
        <More pages={allowances} />
      </Loaded>
    </>
  );
}

interface RowProps {
  allowance: Allowance;
  space: SpaceInfo;
  /** Null: the person may not delete it. */
  remove: (() => Promise<void>) | null;
}

function Row({ allowance, space, remove }: RowProps): JSX.Element {
  const { agentId, tool, when, createdByName, createdAt, expiresAt } = allowance;
  const agent = space.members.find(({ id }) => id === agentId)?.name ?? 'a former member';
  return (
    <tr>
      <th scope="row" dir="auto">
        {visible(tool)}
      </th>
      <td data-label="Agent" dir="auto">
        {visible(agent)}
      </td>
      <td data-label="Calls" dir="auto">
        {when === null ? 'all' : <code>{visible(when)}</code>}
      </td>
      <td data-label="By" dir="auto">
        {`${isolated(createdByName)}, ${timeText(Date.parse(createdAt))}`}
      </td>
      <td data-label="Ends">{expiresAt === null ? 'never' : timeText(Date.parse(expiresAt))}</td>
      <td>
        {remove ? (
          <div class="row-actions">
            <ActionButton
              label={`Delete the allowance for ${isolated(tool)} of ${isolated(agent)}`}
              confirm="Delete this allowance? People are asked again before such calls."
              act={remove}
            >
              Delete
            </ActionButton>
          </div>
        ) : null}
      </td>
    </tr>
  );
}
