// What the rows of a table of runs share.

import type { InboxItem } from '@smartspace/client';
import type { ListedRun, RunMessages } from './listed.ts';

/** The data and functions of one table. */
export interface RunTable {
  now: number;
  /** Without it, the column of the agent is left out. */
  agentName: ((id: string) => string) | undefined;
  messages: RunMessages;
  /** The cards that wait for the caller, by their runs. */
  waiting: ReadonlyMap<string, InboxItem>;
  /** The run that repeats another one, by the id of the other one. */
  repeats: ReadonlyMap<string, string>;
  spaceOf: (run: ListedRun) => { name: string } | undefined;
  /** Called after a run was stopped or repeated. */
  onChanged: () => void;
}
