// The deliveries of services to an agent, with their status.

import type { Entity, Schemas } from '@smartspace/client';
import { useClient } from '@smartspace/react';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { newKey } from '../../../api/idempotency_key.ts';
import { agentPath, entityPath } from '../../../api/paths.ts';
import { bytesText } from '../../../files/file_words.ts';
import { runHash } from '../../../navigation/address.ts';
import { useActivity } from '../../data/activity.ts';
import { useAnswer } from '../../data/answer.ts';
import { usePages } from '../../data/pages.ts';
import { ActionButton } from '../../frame/action_button.tsx';
import { Loaded, More, Part } from '../../frame/page.tsx';
import { TableHead } from '../../frame/table_head.tsx';
import { Ago } from '../../runs/ago.tsx';
import { Choice } from '../../runs/filters.tsx';
import { isStored, reasonWords, STATES } from './delivery_words.ts';

const COLUMNS = ['Service', 'Received', 'Key', 'Status', 'Size', 'Run'];

type Delivery = Schemas['Page_Delivery']['items'][number];

const STATUSES = Object.entries(STATES).map(([value, text]) => ({ value, text }));

/** The tab with the deliveries to an agent. */
export function Deliveries({ agentId }: { agentId: string }): JSX.Element {
  const [service, setService] = useState('');
  const [status, setStatus] = useState('');
  const set = Object.entries({ service, status }).filter(([, value]) => value !== '');
  const query = set.length > 0 ? `?${new URLSearchParams(set)}` : '';
  const pages = usePages<Delivery>(agentPath(agentId, 'deliveries') + query);
  const services = useServices(agentId, service);
  useActivity(pages.reload);
  const empty =
    query === ''
      ? 'Nothing has called this agent. Once the agent has a webhook for a service, it posts to ' +
        `${location.origin}/v1/hooks/${agentId}/${services[0] ?? 'SERVICE'}.`
      : 'No delivery fits these filters.';
  return (
    <Part title="Deliveries">
      <div class="filters">
        <Choice label="Service" all="All services" value={service} onChoose={setService}>
          {services.map((name) => ({ value: name, text: name }))}
        </Choice>
        <Choice label="Status" all="All" value={status} onChoose={setStatus}>
          {STATUSES}
        </Choice>
        <button type="button" onClick={pages.reload}>
          Refresh
        </button>
      </div>
      <Loaded {...pages} isEmpty={pages.items.length === 0} empty={empty}>
        <table class="list deliveries" aria-label="Deliveries">
          <TableHead columns={COLUMNS} numbers={['Size']} />
          <tbody>
            {pages.items.map((delivery) => (
              <DeliveryRow
                key={delivery.id}
                delivery={delivery}
                path={agentPath(agentId, 'deliveries', delivery.id)}
                onReplayed={pages.reload}
              />
            ))}
          </tbody>
        </table>
        <More pages={pages} />
      </Loaded>
    </Part>
  );
}

// The services with a webhook, and those of the newest deliveries: the operator triggers in the
// name of any service.
function useServices(agentId: string, current: string): string[] {
  const { answer: entity } = useAnswer<Entity>(entityPath(agentId));
  const { answer } = useAnswer<{ items: Delivery[] }>(
    `${agentPath(agentId, 'deliveries')}?limit=200`,
  );
  const names = [
    ...Object.keys(entity?.agent?.webhooks ?? {}),
    ...(answer?.items ?? []).map(({ service }) => service),
    current,
  ];
  return [...new Set(names)].filter((name) => name !== '').sort();
}

interface RowProps {
  delivery: Delivery;
  path: string;
  onReplayed: () => void;
}

function DeliveryRow({ delivery, path, onReplayed }: RowProps) {
  const client = useClient();
  const { service, key, status, reason, bytes, runId, receivedAt } = delivery;
  const replay = async () => {
    await client.request('POST', `${path}/replay`, { idempotencyKey: newKey(), retry: true });
    onReplayed();
  };
  return (
    <tr>
      <th scope="row">{service}</th>
      <td data-label="Received">
        <Ago at={receivedAt} />
      </td>
      <td data-label="Key">{key ?? '–'}</td>
      <td data-label="Status">
        <span class="delivery-state" data-status={status}>
          {STATES[status]}
        </span>
        {reason ? <span class="note">{` ${reasonWords(reason)}`}</span> : null}
      </td>
      <td class="number" data-label="Size">
        {bytesText(bytes)}
      </td>
      <td data-label="Run">{runId ? <a href={runHash(runId)}>Open run</a> : '–'}</td>
      <td>
        <div class="row-actions">
          {isStored(status) ? (
            <ActionButton label={`Replay ${service} ${key ?? ''}`.trim()} act={replay}>
              Replay
            </ActionButton>
          ) : null}
        </div>
      </td>
    </tr>
  );
}
