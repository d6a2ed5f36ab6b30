// The approval rules of an agent: a list of rows that saves as a whole, and a test.

import { useClient } from '@smartspace/react';
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ApprovalRule } from '../../../api/approvals.ts';
import { entityPath } from '../../../api/paths.ts';
import { placeFaults } from '../../../forms/schema/faults.ts';
import { isEqual } from '../../../forms/schema/json.ts';
import { wordsOf } from '../../../ui/notices.tsx';
import { FaultContext } from '../../save_form/fields.tsx';
import type { AgentEntity } from '../agent_tab.ts';
import { ApprovalRow } from './approval_row.tsx';
import { FIELDS, rowOf, ruleOf, type Row } from './approval_rules.ts';
import { ApprovalTest } from './approval_test.tsx';

const ROOT = '/agent/approvals';
const MARKED = 'See the marked fields.';
const CHANGED = 'Somebody else has changed the rules since you opened them. Undo to see theirs.';

export interface ApprovalsProps {
  agent: AgentEntity;
  onSaved: (agent: AgentEntity) => void;
}

const rulesIn = (agent: AgentEntity): readonly ApprovalRule[] =>
  (agent.agent as { approvals?: readonly ApprovalRule[] }).approvals ?? [];

/** The rules. The first that fits a call counts, so their order matters. */
export function Approvals({ agent, onSaved }: ApprovalsProps): JSX.Element {
  const { rows, faults, problem, state, set, add, move, undo, save } = useRules(agent, onSaved);
  return (
    <>
      <form class="save-form rules" aria-label="Approvals" autocomplete="off" onSubmit={save}>
        <p class="note">
          Calls that a rule names wait for people, or are refused. Of the rules that fit a call, one
          that refuses comes first, then the first that asks.
        </p>
        <FaultContext.Provider value={faults}>
          {rows.map((row, index) => (
            <ApprovalRow
              key={row.key}
              {...{ row, index, count: rows.length }}
              root={`${ROOT}/${index}`}
              onChange={(next) => set(rows.map((each) => (each.key === row.key ? next : each)))}
              onMove={(by) => move(index, by)}
              onRemove={() => set(rows.filter((each) => each.key !== row.key))}
            />
          ))}
        </FaultContext.Provider>
        <div class="form-row">
          <p class="problem" role="alert">
            {problem}
          </p>
          <button type="submit" class="primary" disabled={state === 'sending'}>
            Save rules
          </button>
          <button type="button" onClick={add}>
            Add a rule
          </button>
          <button type="button" class="quiet" onClick={undo}>
            Undo changes
          </button>
          <span class="note" role="status">
            {state === 'done' ? 'Saved' : ''}
          </span>
        </div>
      </form>
      <ApprovalTest agentId={agent.id} />
    </>
  );
}

// The errors of the rules that have not changed. They name places in the list, so none is left if
// rules have come or gone.
function faultsLeft(
  faults: ReadonlyMap<string, string>,
  before: readonly Row[],
  next: readonly Row[],
): ReadonlyMap<string, string> {
  if (next.length !== before.length) return new Map();
  const isSame = (pointer: string) => {
    const index = parseInt(pointer.slice(ROOT.length + 1), 10);
    return next[index] === before[index];
  };
  return new Map([...faults].filter(([pointer]) => isSame(pointer)));
}

function useRules(agent: AgentEntity, onSaved: (agent: AgentEntity) => void) {
  const client = useClient();
  const lastKey = useRef(0);
  const rowsOf = (rules: readonly ApprovalRule[]) =>
    rules.map((rule) => rowOf(rule, (lastKey.current += 1)));
  const base = useRef(rulesIn(agent));
  const [rows, setRows] = useState<readonly Row[]>(() => rowsOf(base.current));
  const [isChanged, setChanged] = useState(false);
  const [faults, setFaults] = useState<ReadonlyMap<string, string>>(new Map());
  const [problem, setProblem] = useState('');
  const [state, setState] = useState<'ready' | 'sending' | 'done'>('ready');
  const show = (next: AgentEntity) => {
    base.current = rulesIn(next);
    setRows(rowsOf(base.current));
    setChanged(false);
    setFaults(new Map());
    setProblem('');
  };
  useEffect(() => {
    if (!isChanged && !isEqual(base.current, rulesIn(agent))) show(agent);
  }, [agent]);
  const set = (next: readonly Row[]) => {
    setRows(next);
    setChanged(true);
    const left = faultsLeft(faults, rows, next);
    setFaults(left);
    if (left.size === 0 && problem === MARKED) setProblem('');
    setState('ready');
  };
  const add = () => set([...rows, ...rowsOf([{ tools: [] }])]);
  const move = (index: number, by: number) => {
    const next = [...rows];
    next.splice(index + by, 0, ...next.splice(index, 1));
    set(next);
  };
  const save = async (event: Event) => {
    event.preventDefault();
    const path = entityPath(agent.id);
    setState('sending');
    try {
      const current = await client.request<AgentEntity>('GET', path, { retry: true });
      if (!isEqual(base.current, rulesIn(current))) throw new Error(CHANGED);
      const body = { agent: { approvals: rows.map(ruleOf) } };
      const saved = await client.request<AgentEntity>('PATCH', path, { body, retry: true });
      show(saved);
      setState('done');
      onSaved(saved);
    } catch (error) {
      const { errors = [] } = error as { errors?: { pointer: string; detail: string }[] };
      const slots = rows.flatMap((_, index) => FIELDS.map((name) => `${ROOT}/${index}/${name}`));
      const placed = placeFaults(errors, slots);
      setFaults(placed.at);
      setProblem(placed.others || (errors.length > 0 ? MARKED : wordsOf(error as Error)));
      setState('ready');
    }
  };
  return { rows, faults, problem, state, set, add, move, undo: () => show(agent), save };
}
