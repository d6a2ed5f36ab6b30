// What the agents do now, what has failed in 24 hours, and what the day has cost.

import type { Client, Run } from '@smartspace/client';
import { useClient } from '@smartspace/react';
import { useState } from 'preact/hooks';
import { lastDays, type UsageItem } from '../studio/usage/report.ts';
import { usePolling } from './use_polling.ts';

const DAY_MS = 24 * 60 * 60_000;
const RELOAD_MS = 15_000;
const PAGE = 50;

export interface Today {
  running: readonly Run[];
  waiting: readonly Run[];
  failed: readonly Run[];
  /** Null: no price is known. */
  cost: number | null;
}

/** Null until it is loaded. It is loaded again after events, and while nothing happens. */
export function useToday(): Today | null {
  const client = useClient();
  const [today, setToday] = useState<Today | null>(null);
  // The connection says that there is no network.
  usePolling(() => void loadToday(client).then(setToday, () => {}), RELOAD_MS);
  return today;
}

async function loadToday(client: Client): Promise<Today> {
  const now = Date.now();
  const get = async <T>(path: string) =>
    (await client.request<{ items: T[] }>('GET', path, { retry: true })).items;
  const since = encodeURIComponent(new Date(now - DAY_MS).toISOString());
  const runs = (query: string) => get<Run>(`/v1/runs?${query}`);
  const { from, to } = lastDays(1, now);
  const [running, waiting, failed, days] = await Promise.all([
    runs(`status=running&limit=${PAGE}`),
    runs(`status=waiting_tool&limit=${PAGE}`),
    runs(`status=failed&since=${since}&limit=${PAGE}`),
    get<UsageItem>(`/v1/usage?from=${from}&to=${to}&by=day`),
  ]);
  const cost = days.length === 0 ? 0 : (days[0]?.cost ?? null);
  return { running, waiting, failed, cost };
}

/** A number of runs: a full page may not be all. */
export const countText = ({ length }: readonly Run[]): string =>
  length < PAGE ? `${length}` : `${PAGE}+`;
