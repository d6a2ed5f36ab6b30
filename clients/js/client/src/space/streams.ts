// The texts that agents are writing, assembled from frames. Frames can arrive in any order, twice,
// or never.

import type { StreamStarted, StreamText } from '../frames.ts';
import type { Mutable } from '../store.ts';
import { remembering } from './collections.ts';

/** One text that is being written. */
export interface Stream {
  readonly streamId: string;
  /** The known beginning of the text, up to the first gap. */
  readonly text: string;
  /** Pieces beyond a gap, by their offset in UTF-16 code units. */
  readonly pieces: ReadonlyMap<number, string>;
  /** When its last frame came, in milliseconds since 1970. */
  readonly lastFrameAt: number;
  /** It has ended, and may still be replaced by its message. */
  readonly isEnding: boolean;
  /** What `stream.started` says; unknown to a client that came later. */
  readonly about: Partial<StreamStarted>;
}

/** All streams of a space. */
export interface Streams {
  /** By their ids, in the order in which they began, also those without text. */
  readonly streams: ReadonlyMap<string, Stream>;
  /** A late frame must not reopen a stream that a message has replaced. */
  readonly closedStreams: ReadonlySet<string>;
  /** When silence last made the client check its connection, in milliseconds since 1970. */
  readonly checkedAt: number;
}

type Draft = Mutable<Streams>;

export const NO_STREAMS: Streams = {
  streams: new Map(),
  closedStreams: new Set(),
  checkedAt: 0,
};

/** Takes over a frame. */
export function putFrame(draft: Draft, frame: StreamStarted | StreamText, now: number) {
  const { streamId } = frame;
  if (draft.closedStreams.has(streamId)) return;
  const stream = { ...(draft.streams.get(streamId) ?? begun(streamId)), lastFrameAt: now };
  const isStart = frame.type === 'stream.started';
  const next = isStart ? { ...stream, about: frame } : write(stream, frame.offset ?? 0, frame.text);
  draft.streams = new Map(draft.streams).set(streamId, next);
  if (isStart) closeSuperseded(draft, frame);
}

const begun = (streamId: string): Omit<Stream, 'lastFrameAt'> => ({
  streamId,
  text: '',
  pieces: new Map(),
  isEnding: false,
  about: {},
});

// Of several tries of the same call, the last one counts.
function closeSuperseded(draft: Draft, { streamId, callId, attempt }: StreamStarted) {
  const tries = [...draft.streams.values()].filter(
    ({ streamId: id, about }) => id !== streamId && about.callId === callId,
  );
  closeStreams(
    draft,
    tries.map((other) => ((other.about.attempt ?? 0) < attempt ? other.streamId : streamId)),
  );
}

/** Whether a part of a stream is missing that is still being written. */
export function hasGap(known: Streams, streamId: string): boolean {
  const stream = known.streams.get(streamId);
  return !!stream && stream.pieces.size > 0 && !stream.isEnding;
}

/** Removes streams: messages have replaced them, or they ended without one. */
export function closeStreams(draft: Draft, ids: readonly string[]) {
  const streams = new Map(draft.streams);
  for (const id of ids) streams.delete(id);
  draft.streams = streams;
  draft.closedStreams = remembering(draft.closedStreams, ids);
}

/** Marks streams as ending, or as not ending any longer. */
export function markEnding(draft: Draft, marked: Iterable<Stream>, isEnding: boolean) {
  const streams = new Map(draft.streams);
  for (const stream of marked) streams.set(stream.streamId, { ...stream, isEnding });
  draft.streams = streams;
}

/** Whether two states have the same streams for a timeline, which shows all but their texts. */
export const areListedAlike = (one: Streams, other: Streams) =>
  one.streams.size === other.streams.size &&
  [...one.streams].every(([id, { about, text }]) => {
    const stream = other.streams.get(id);
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
