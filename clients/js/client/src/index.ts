// The public API of the package, and a map of its files.
//
// client.ts      `createClient`, which joins the other files
// connection/    the WebSocket, shared by all spaces. transitions.ts has the table of its states,
//                actions.ts the actions, sockets.ts and subscriptions.ts the frames.
// http.ts        calls of the HTTP API, with tokens.ts and errors.ts
// space/         one space. reducer.ts makes the next state.ts from a change, and asks for
//                effects.ts, which interpreter.ts runs with jobs.ts and delayed_changes.ts. The
//                changes are in frame_changes.ts, loading.ts, stream_lifetime.ts, outbox.ts,
//                opening.ts, members.ts and threads.ts. optimistic.ts has those that the server has
//                not confirmed yet. views.ts, timeline.ts and stores.ts derive what is shown.
//                messages.ts and message_changes.ts have methods. space.ts joins them.
// spaces.ts      the list of spaces
// inbox.ts       the cards of all spaces that wait for the caller, and mention_list.ts the messages
//                that mention it. listing.ts loads both.
// run.ts         one run
// search.ts      a search, which reads on as its items are asked for
// mentions.ts    finds mentions in a text, as the server does
// uploads.ts     uploads, with upload_preparation.ts, picture_metadata.ts and signed_upload.ts
// invites.ts     accepts an invite as a guest
// storage.ts     the storage of the browser, without its errors
// store.ts       the stores, with the interface of React's `useSyncExternalStore`
// timers.ts      named timers, and attempts that are repeated until they succeed
// frames.ts      the types of the frames; types.ts the other public types, with schemas.ts,
//                search_types.ts and options.ts

export { createClient, type Client, type ClientOptions } from './client.ts';
export type { Environment } from './environment.ts';
export { ClosedError, SmartspaceError, type Fault } from './errors.ts';
export type * from './frames.ts';
export type { Call, CallOptions } from './http.ts';
export { acceptInvite, previewInvite } from './invites.ts';
export { findMentions } from './mentions.ts';
export type { Token } from './tokens.ts';
export type * from './types.ts';
