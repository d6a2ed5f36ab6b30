// A client for Smartspace.
//
// client.ts      what is public: `createClient`
// connection/    the WebSocket, shared by all spaces. table.ts says what each event does in each
//                state, actions.ts, sockets.ts and subscriptions.ts do it.
// http.ts        calls of the HTTP API, with tokens.ts and errors.ts
// space/         one space. reducer.ts makes the next state.ts from a change, and asks for
//                effects.ts, which interpreter.ts runs with the calls of jobs.ts. The changes are
//                in frames.ts, loading.ts, writing.ts, outbox.ts and session.ts. views.ts,
//                timeline.ts and stores.ts derive what is shown. space.ts joins them.
// spaces.ts      the list of spaces, and the open forms in them
// run.ts         one run
// uploads.ts     uploads, with upload_preparation.ts, pictures.ts and signed_upload.ts
// invites.ts     how a guest gets in
// storage.ts     what survives a reload
// store.ts       the stores, with the interface of React's `useSyncExternalStore`

export { createClient, type Client, type ClientOptions } from './client.ts';
export type { Environment } from './environment.ts';
export { ClosedError, SmartspaceError, type Fault } from './errors.ts';
export type * from './events.ts';
export type { Call, CallOptions } from './http.ts';
export { acceptInvite } from './invites.ts';
export type { Token } from './tokens.ts';
export type * from './types.ts';
