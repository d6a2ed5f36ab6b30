'use client';

// The public API of the package, and a map of its files.
//
// context.ts       the providers, and how a hook finds its client and its space
// store.ts         `useStore`: a store of the client as the state of a component
// client_hooks.ts  the connection, the list of spaces, one run
// space_hooks.ts   one space: its timeline, threads, pins, streams, runs, members, presence, forms
// inbox.ts         what waits for the caller in all spaces, what mentions it, and one call that
//                  people decide
// me.ts            who the caller is
// preview.ts       whom a text would wake
// search.ts        what a search finds
// revisions.ts     what was changed in an agent
// uploads.ts       the files that a person adds to a message
// file_url.ts      the address of a file

export { useConnection, useRun, useSpaces, useUnread } from './client_hooks.ts';
export {
  SmartspaceProvider,
  SpaceProvider,
  useClient,
  type SmartspaceProviderProps,
  type SpaceProviderProps,
} from './context.ts';
export { useFileUrl, type FileUrl } from './file_url.ts';
export {
  useApproval,
  useInbox,
  useMentions,
  type ApprovalState,
  type InboxCards,
  type MentionList,
} from './inbox.ts';
export { useMe, type MeState } from './me.ts';
export { usePreview, type PreviewState } from './preview.ts';
export { useRevisions, type AgentRevisions } from './revisions.ts';
export { useSearch, type FoundMessages } from './search.ts';
export {
  useAnswer,
  useForms,
  useMembers,
  usePins,
  usePresence,
  useRuns,
  useSend,
  useSpace,
  useStream,
  useThread,
  useTimeline,
  type AnswerFunctions,
  type Timeline,
} from './space_hooks.ts';
export { useUploads, type Upload, type Uploads } from './uploads.ts';
