// The names of the series of a report.

import { isolated } from '../../ui/visible.ts';
import type { Group, UsageItem } from './report.ts';

/** The id of the agent in the key of a series: `{agentId}`, or `{agentId} {model}`. */
export const agentIdOf = (key: string): string => key.split(' ', 1).join('');

/** The function that names a series by its key. */
export function namesOf(items: readonly UsageItem[], by: Group): (key: string | null) => string {
  const names = new Map(items.map(({ agentId, agentName }) => [agentId, agentName]));
  const agentName = (id: string) =>
    id === '' ? 'Routers' : isolated(names.get(id) ?? `Unknown agent …${id.slice(-4)}`);
  return (key) => {
    if (key === null) return 'All others';
    if (by === 'model') return key;
    const [id = '', model] = key.split(' ', 2);
    return model === undefined ? agentName(id) : `${agentName(id)} · ${isolated(model)}`;
  };
}
