// The texts that agents are writing, assembled from frames. Frames can arrive in any order, twice,
// or never. Pure.

import type { StreamStarted, StreamText } from '../events.ts';

/** One text that is being written. */
export interface Stream {
  readonly streamId: string;
  /** The known beginning of the text, up to the first gap. */
  readonly text: string;
  /** Pieces beyond a gap, by their offset in UTF-16 code units. */
  readonly pieces: ReadonlyMap<number, string>;
  /** When its last frame came, in milliseconds since 1970. */
  readonly heardAt: number;
  /** It has ended, and may still be replaced by its message. */
  readonly isEnding: boolean;
  /** What `stream.started` says; unknown to a client that came later. */
  readonly about: Partial<StreamStarted>;
}

/** All streams of a space. */
export interface Streams {
  /** By their ids, in the order in which they began, also those without text. */
  readonly open: ReadonlyMap<string, Stream>;
  /** A late frame must not reopen a stream that a message has replaced. */
  readonly closed: ReadonlySet<string>;
  /** When silence last made the client check its connection, in milliseconds since 1970. */
  readonly checkedAt: number;
}

export const NO_STREAMS: Streams = { open: new Map(), closed: new Set(), checkedAt: 0 };

/** The streams after a frame. */
export function withFrame(streams: Streams, frame: StreamStarted | StreamText, now: number) {
  const { streamId } = frame;
  if (streams.closed.has(streamId)) return streams;
  const heard = { ...(streams.open.get(streamId) ?? begun(streamId)), heardAt: now };
  if (frame.type !== 'stream.started')
    return withStream(streams, write(heard, frame.offset ?? 0, frame.text));
  return superseded(withStream(streams, { ...heard, about: frame }), streamId, frame);
}

const begun = (streamId: string): Omit<Stream, 'heardAt'> => ({
  streamId,
  text: '',
  pieces: new Map(),
  isEnding: false,
  about: {},
});

const withStream = (streams: Streams, stream: Stream): Streams => ({
  ...streams,
  open: new Map(streams.open).set(stream.streamId, stream),
});

// Of several tries of the same call, the last one counts.
function superseded(streams: Streams, streamId: string, { callId, attempt }: StreamStarted) {
  const tries = [...streams.open.values()].filter(
    ({ streamId: id, about }) => id !== streamId && about.callId === callId,
  );
  return closeStreams(
    streams,
    tries.map((other) => ((other.about.attempt ?? 0) < attempt ? other.streamId : streamId)),
  );
}

/** Whether a part of a stream is missing that is still being written. */
export function hasGap({ open }: Streams, streamId: string): boolean {
  const stream = open.get(streamId);
  return stream !== undefined && stream.pieces.size > 0 && !stream.isEnding;
}

/** Removes streams: messages have replaced them, or they ended without one. */
export function closeStreams(streams: Streams, ids: readonly string[]): Streams {
  const left = ids.filter((id) => !streams.closed.has(id));
  if (left.length === 0) return streams;
  const open = new Map(streams.open);
  for (const id of left) open.delete(id);
  return { ...streams, open, closed: new Set([...streams.closed, ...left]) };
}

/** Marks streams as ending, or as not ending any longer. */
export function markEnding(
  streams: Streams,
  marked: readonly Stream[],
  isEnding: boolean,
): Streams {
  if (marked.length === 0) return streams;
  const open = new Map(streams.open);
  for (const stream of marked) open.set(stream.streamId, { ...stream, isEnding });
  return { ...streams, open };
}

/** Whether two states have the same streams for a timeline, which shows all but their texts. */
export const areListedAlike = (one: Streams, other: Streams) =>
  one.open.size === other.open.size &&
  [...one.open].every(([id, { about, text }]) => {
    const stream = other.open.get(id);
    return stream?.about === about && !stream.text === !text;
  });

function write(stream: Stream, offset: number, piece: string): Stream {
  const pieces = new Map(stream.pieces);
  let { text } = stream;
  if (piece.length > (pieces.get(offset)?.length ?? 0)) pieces.set(offset, piece);
  // A piece that closes a gap may join the text to pieces that came before it.
  for (let grew = true; grew;) {
    grew = false;
    for (const [at, part] of pieces) {
      if (at > text.length) continue;
      pieces.delete(at);
      if (at + part.length <= text.length) continue;
      text += part.slice(text.length - at);
      grew = true;
    }
  }
  return { ...stream, text, pieces };
}
