// A client for Smartspace.
//
// client.ts      what is public: `createClient`
// connection.ts  the WebSocket, shared by all spaces
// http.ts        calls of the HTTP API, and `SmartspaceError`
// space.ts       one space. info.ts, messages.ts, streams.ts, runs.ts, presence.ts and outbox.ts
//                hold its parts. history.ts, live_texts.ts, space_runs.ts, space_presence.ts and
//                sends.ts keep them up to date. timeline.ts and forms.ts derive what it shows.
// attachments.ts the files of a space. uploads.ts sends them, with prepared.ts, pictures.ts and
//                put.ts
// spaces.ts      the list of spaces, and the open forms in them
// run.ts         one run
// invites.ts     how a guest gets in
// kept.ts        what survives a reload
// store.ts       the stores, with the interface of React's `useSyncExternalStore`

export { createClient, type Client, type ClientOptions } from './client.ts';
export type { Environment } from './environment.ts';
export type * from './events.ts';
export {
  ClosedError,
  SmartspaceError,
  type Call,
  type CallOptions,
  type Fault,
  type Token,
} from './http.ts';
export { acceptInvite } from './invites.ts';
export type * from './types.ts';
