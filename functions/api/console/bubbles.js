// The order of a space from top to bottom: messages by seq, failed runs by time, and unfinished
// texts last. Consecutive messages of one run share a bubble. Pure.

/**
 * The bubbles of a room. An entry is `{key, sender, at, runId}` and one of `message`, `stream`,
 * `failure`. A stream and the message that replaces it have the same key, so the page updates one
 * node and does not flicker.
 */
export function bubblesOf(room) {
  const bubbles = [];
  for (const entry of entriesOf(room)) {
    const last = bubbles.at(-1);
    if (
      last &&
      entry.runId !== null &&
      last.runId === entry.runId &&
      last.sender.id === entry.sender.id
    )
      last.entries.push(entry);
    else
      bubbles.push({
        key: entry.key,
        sender: entry.sender,
        runId: entry.runId,
        at: entry.at,
        entries: [entry],
      });
  }
  return bubbles;
}

function entriesOf(room) {
  const entries = [];
  const failed = room.runs.failed();
  const failuresUntil = (time) => {
    while (failed.length > 0 && failed[0].at <= time)
      entries.push(failureEntry(room, failed.shift()));
  };
  for (const message of room.messages.ordered()) {
    const at = Date.parse(message.createdAt);
    failuresUntil(at - 1);
    entries.push({
      key: message.streamId ?? message.id,
      sender: message.sender,
      at,
      runId: message.runId,
      message,
    });
  }
  failuresUntil(Infinity);
  for (const stream of room.streams.all()) entries.push(streamEntry(room, stream));
  return entries;
}

function failureEntry(room, failure) {
  const sender = { id: failure.agentId, name: room.nameOf(failure.agentId), type: 'agent' };
  return { key: `failure ${failure.runId}`, sender, at: failure.at, runId: failure.runId, failure };
}

function streamEntry(room, stream) {
  return {
    key: stream.streamId,
    sender: writerOf(room, stream),
    at: null,
    runId: stream.runId ?? null,
    stream,
  };
}

// A page that joins in the middle of a stream may not know its writer. If only one run is active,
// the stream belongs to that run.
function writerOf(room, stream) {
  if (stream.sender) return stream.sender;
  const active = room.runs.active();
  const run =
    active.find(({ runId }) => runId === stream.runId) ?? (active.length === 1 ? active[0] : null);
  return {
    id: run?.agentId ?? '',
    name: run ? room.nameOf(run.agentId) : 'An agent',
    type: 'agent',
  };
}
