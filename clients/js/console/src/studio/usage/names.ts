// The names of the series of a report.

import { isolated } from '../../ui/visible.ts';
import type { Group, UsageItem } from './report.ts';

/** The id of the agent in the key of a series: `{agentId}`, or `{agentId} {model}`. */
export const agentIdOf = (key: string): string => key.split(' ', 1).join('');

/** Whether a series is an agent, whose runs can be listed. */
export const isAgent = (key: string | null, people: ReadonlySet<string>): key is string =>
  key !== null && key.startsWith('ent_') && !people.has(agentIdOf(key));

/**
 * The function that names a series by its key. What `people` cost, by their ids, are the routers
 * that their messages asked.
 */
export function namesOf(
  items: readonly UsageItem[],
  by: Group,
  people: ReadonlySet<string>,
): (key: string | null) => string {
  const names = new Map(items.map(({ agentId, agentName }) => [agentId, agentName]));
  const agentName = (id: string) => {
    if (id === '') return 'Routers';
    const name = names.get(id) ?? `Unknown agent …${id.slice(-4)}`;
    return people.has(id) ? `Router, asked by ${isolated(name)}` : isolated(name);
  };
  return (key) => {
    if (key === null) return 'All others';
    if (by === 'model') return key;
    const [id = '', model] = key.split(' ', 2);
    return model === undefined ? agentName(id) : `${agentName(id)} · ${isolated(model)}`;
  };
}
