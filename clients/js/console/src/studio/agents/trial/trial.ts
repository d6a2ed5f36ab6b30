// Asks an agent one question in a space of its own, which is deleted afterwards.

import type { Client, Entity, Message, Run, SpaceInfo } from '@smartspace/client';
import { newKey } from '../../../api/idempotency_key.ts';
import { runPath, spacePath } from '../../../api/paths.ts';
import { wordsOf } from '../../../ui/notices.tsx';
import { isolated } from '../../../ui/visible.ts';
import { refusalWords } from '../../../why/outcomes.ts';
import { callsOf } from '../../../why/run_calls.ts';

// The page does not follow the space of the test, so it gets no events of the run.
const POLL_MS = 500;
const MAX_NAME_LENGTH = 128;

/** How a test ended. */
export type TrialOutcome =
  { kind: 'notWoken'; why: string } | { kind: 'run'; run: Run; leftover: string | null };

/** A text in the result of a test. */
export interface Answer {
  /** The kind of the text, in words. */
  label: string;
  text: string;
}

/** What is asked, and in whose name. */
export interface TrialMessage {
  text: string;
  senderId: string;
}

/** Posts a message to the agent, and follows the run. */
export async function tryAgent(
  client: Client,
  agent: Entity,
  sent: TrialMessage,
  signal: AbortSignal,
): Promise<TrialOutcome> {
  const name = [...`Test of ${agent.name}`].slice(0, MAX_NAME_LENGTH).join('');
  // This call can't be aborted: its space has to be known, so that it can be deleted.
  const space = await client.request<SpaceInfo>('POST', '/v1/spaces', {
    body: { name, members: [sent.senderId, agent.id] },
    idempotencyKey: newKey(),
    retry: true,
  });
  const path = spacePath(space.id);
  const leave = () => deleteInPassing(client, path);
  addEventListener('pagehide', leave);
  let outcome: TrialOutcome;
  let leftover: string | null = null;
  try {
    signal.throwIfAborted();
    const options = { body: sent, idempotencyKey: newKey(), retry: true, signal };
    const message = await client.request<Message>('POST', `${path}/messages`, options);
    const [decision] = message.dispatch ?? [];
    outcome = decision?.runId
      ? { kind: 'run', run: await followed(client, decision.runId, signal), leftover }
      : { kind: 'notWoken', why: decision?.reasonText ?? refusalWords(decision?.reason ?? null) };
  } finally {
    removeEventListener('pagehide', leave);
    await client.request('DELETE', path, { retry: true }).catch((error) => {
      leftover = `The space “${isolated(name)}” was not deleted: ${wordsOf(error)}`;
    });
  }
  return outcome.kind === 'run' ? { ...outcome, leftover } : outcome;
}

// The run at its end, or when it waits for people.
async function followed(client: Client, runId: string, signal: AbortSignal): Promise<Run> {
  for (;;) {
    const path = runPath(runId);
    const run = await client.request<Run>('GET', path, { signal, retry: true });
    if (run.finishedAt !== null || run.status === 'waiting_tool') return run;
    await pause(signal);
  }
}

const pause = (signal: AbortSignal) =>
  new Promise<void>((resolve, reject) => {
    const timer = setTimeout(resolve, POLL_MS);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    });
  });

// When the page is closed, only a request that outlives it can still be sent.
function deleteInPassing(client: Client, path: string) {
  client.request('DELETE', path, { keepalive: true }).catch(() => {});
}

/** The texts of a run: its messages and its reason for silence, its error, or its private text. */
export function answersOf(run: Run): Answer[] {
  const calls = callsOf(run, 0);
  const answers = calls
    .filter(({ kind }) => kind !== 'called')
    .map(({ kind, text }) => ({ label: kind === 'said' ? 'It said' : 'It stayed silent', text }));
  if (run.error)
    answers.push({ label: 'It failed', text: `${run.error.message} (${run.error.code})` });
  if (run.status === 'waiting_tool')
    answers.push({ label: 'It waits', text: 'It asks people and waits. The test ends here.' });
  const written = (run.steps ?? []).map(({ text }) => text.trim()).filter(Boolean);
  if (answers.length === 0 && written.length > 0)
    answers.push({ label: 'It said nothing, but wrote for itself', text: written.join('\n\n') });
  return answers.length > 0 ? answers : [{ label: 'It said nothing', text: '' }];
}

/** The names of the tools that a run called, except those that post or skip. */
export const toolsOf = (run: Run): string[] => [
  ...new Set(
    (run.steps ?? [])
      .flatMap(({ calls }) => calls.map(({ name }) => name))
      .filter((name) => name !== 'send_message' && name !== 'skip_response'),
  ),
];
