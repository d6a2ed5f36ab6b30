// The calls of a run from one of its steps on, and the request that forks it there. Pure.

import type { Run } from '@smartspace/client';
import { visible } from '../ui/visible.ts';

/** A message, a reason for silence, or another call of a run. */
export interface RunCall {
  key: string;
  kind: 'said' | 'silent' | 'called';
  text: string;
}

/** The calls of a run from the step with this index on. */
export function callsOf({ steps }: Run, fromStep: number): RunCall[] {
  return (steps ?? [])
    .filter(({ index }) => index >= fromStep)
    .flatMap(({ calls }) => calls)
    .map(({ callId, name, input }) => {
      const { text, reason } = (input ?? {}) as Record<string, unknown>;
      if (name === 'send_message' && typeof text === 'string')
        return { key: callId, kind: 'said', text };
      if (name === 'skip_response')
        return { key: callId, kind: 'silent', text: typeof reason === 'string' ? reason : '' };
      return { key: callId, kind: 'called', text: `${name} ${visible(JSON.stringify(input))}` };
    });
}

export interface Post {
  key: string;
  text: string;
  /** When it was posted; null if that is not known. */
  at: string | null;
}

/** The messages that a run posted, oldest first. */
export const postsOf = (run: Run): Post[] => {
  const calls = (run.steps ?? []).flatMap((step) => step.calls);
  const times = new Map(calls.map(({ callId, finishedAt }) => [callId, finishedAt]));
  return callsOf(run, 0)
    .filter(({ kind }) => kind === 'said')
    .map(({ key, text }) => ({ key, text, at: times.get(key) ?? null }));
};

/** Whether a run can be forked. A remote agent can't be asked again from the middle of its work. */
export const mayFork = ({ forkOf, remote, steps }: Run): boolean =>
  !forkOf && !remote && (steps?.length ?? 0) > 0;

/** The typed values of the form. */
export interface ForkInput {
  fromStep: number;
  /** `provider/name`, or empty: the same model. */
  model: string;
  /** Empty: the same instructions. */
  instructions: string;
}

/** The changes that a fork tries, as a part of the agent's configuration; or an error. */
export function changesOf({ model, instructions }: ForkInput): object | string {
  const changes: { model?: object; instructions?: string } = {};
  if (instructions.trim() !== '') changes.instructions = instructions;
  if (model.trim() === '') return changes;
  const [, provider, name] = /^\s*([^/\s]+)\/(.+?)\s*$/.exec(model) ?? [];
  if (!provider || !name) return 'Write provider/model, such as openai/gpt-5-mini.';
  changes.model = { provider, name };
  return changes;
}
