// The names of agents in a report.

import type { Schemas } from '@smartspace/client';
import { useEffect } from 'preact/hooks';
import { usePages } from '../data/pages.ts';
import type { Group, Series } from './report.ts';

/** The id of the agent in the key of a series: `{agentId}`, or `{agentId} {model}`. */
export const agentIdOf = (key: string): string => key.split(' ', 1).join('');

/** The function that names a series. More agents are loaded while a series has no name. */
export function useNames(series: readonly Series[], by: Group): (key: string | null) => string {
  const { items, hasMore, isLoading, more } = usePages<Schemas['Entity']>(
    by === 'model' ? null : '/v1/entities?limit=200',
  );
  const names = new Map(items.map(({ id, name }) => [id, name]));
  const ids = by === 'model' ? [] : series.map(({ key }) => agentIdOf(key ?? ''));
  const isUnknown = ids.some((id) => id !== '' && !names.has(id));
  useEffect(() => {
    if (isUnknown && hasMore && !isLoading) more();
  }, [isUnknown, hasMore, isLoading, more]);

  const agentName = (id: string) =>
    id === '' ? 'Routers' : (names.get(id) ?? (isLoading ? '…' : `Retired agent …${id.slice(-4)}`));
  return (key) => {
    if (key === null) return 'All others';
    if (by === 'model') return key;
    const [id = '', model] = key.split(' ', 2);
    return model === undefined ? agentName(id) : `${agentName(id)} · ${model}`;
  };
}
