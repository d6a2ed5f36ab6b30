// The runs of an agent.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { agentPath } from '../../../api/paths.ts';
import { listHash } from '../../../navigation/address.ts';
import { usePages } from '../../data/pages.ts';
import { Part } from '../../frame/page.tsx';
import { Choice, STATUSES } from '../../runs/filters.tsx';
import type { ListedRun } from '../../runs/listed.ts';
import { RunList, useLiveRuns } from '../../runs/run_list.tsx';

/** The tab with the runs of an agent, newest first. */
export function AgentRuns({ agentId }: { agentId: string }): JSX.Element {
  const [status, setStatus] = useState('');
  const query = status === '' ? '' : `?status=${status}`;
  const pages = usePages<ListedRun>(agentPath(agentId, 'runs') + query);
  useLiveRuns(pages.reload, pages.items);
  const empty =
    status === ''
      ? 'Each time something triggers the agent, its run is listed here. Write to it in a ' +
        'space, or run one of its plans.'
      : 'No run of the agent is in this state.';
  return (
    <Part title="Runs">
      <div class="filters">
        <Choice label="State" all="All states" value={status} onChoose={setStatus}>
          {STATUSES}
        </Choice>
        <a class="button" href={listHash('runs', { agentId })}>
          More filters
        </a>
      </div>
      <RunList label="Runs" pages={pages} empty={empty} onChanged={pages.reload} />
    </Part>
  );
}
