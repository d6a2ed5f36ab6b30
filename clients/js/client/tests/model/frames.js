// Frames of the server for tests.

import { ADA, message } from './room.js';

/** A message was posted. */
export const created = (...given) => ({ type: 'message.created', message: message(...given) });

/** A stream that begins with its own id as its text. */
export const begin = (streamId, more = {}) => [
  {
    type: 'stream.started',
    streamId,
    runId: `run of ${streamId}`,
    callId: streamId,
    attempt: 1,
    sender: ADA,
    kind: 'message',
    ...more,
  },
  { type: 'stream.delta', streamId, offset: 0, text: streamId },
];

const STATUSES = { started: 'running', resumed: 'running' };

/** What became of a run: `event` is the second half of the frame's type. */
export const run = (id, event, more = {}) => ({
  type: `run.${event}`,
  run: {
    id,
    agentId: 'ada',
    status: STATUSES[event] ?? event,
    stepCount: 0,
    createdAt: '2026-01-01T00:00:00Z',
    ...more,
  },
});
