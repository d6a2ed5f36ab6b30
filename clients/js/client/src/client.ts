// `createClient` makes the connection, the HTTP client and the stores, and joins them to the public
// API.

import { createConnection } from './connection/connection.ts';
import { environmentWith, type Environment } from './environment.ts';
import { ClosedError } from './errors.ts';
import { agentPath, createHttp, runPath, spacePath, type Call } from './http.ts';
import { createInbox } from './inbox.ts';
import { createMentions } from './mention_list.ts';
import { createRun } from './run.ts';
import { createSearch } from './search.ts';
import { createSpace, type SpaceContext } from './space/space.ts';
import { createSpaces } from './spaces.ts';
import type { Token } from './tokens.ts';
import type {
  Apply,
  ApplyAnswer,
  ApplyOptions,
  Caller,
  ConnectionState,
  Entity,
  GateReport,
  Inbox,
  Mentions,
  Revision,
  RunState,
  Search,
  SearchQuery,
  Space,
  SpacesState,
  StopResult,
  Store,
} from './types.ts';
import { createUploads } from './uploads.ts';

/** What a client needs. */
export interface ClientOptions {
  /** The address of the deployment, without a path. Empty: that of the page. */
  url: string;
  /** The caller's token, or a function that returns one. It is asked again after a 401. */
  token: Token;
  /** Whether others see that the caller is present in the spaces that it has open. Default true. */
  presence?: boolean;
  /** Replaces parts of the platform, such as `WebSocket` in Node 20. */
  environment?: Partial<Environment>;
}

/** A client of one deployment, for one caller. */
export interface Client {
  /** The WebSocket, which all stores share. */
  readonly connection: Store<ConnectionState>;
  /** The spaces that the caller may read. */
  readonly spaces: Store<SpacesState>;
  /** What waits for the caller in all of its spaces: forms to answer, and calls to decide. */
  readonly inbox: Inbox;
  /**
   * The messages that mention the caller or reply to it, in all of its spaces: always the same
   * store.
   */
  mentions(): Mentions;
  /** Searches the messages of the caller: `for await (const item of client.search({ q })) …`. */
  search(query: SearchQuery): Search;
  /** A space by its id: always the same object. Nothing is loaded until somebody subscribes. */
  space(id: string): Space;
  /** A run by its id, live: always the same store. */
  run(id: string): Store<RunState>;
  readonly runs: {
    /** Stops a run. A run that has ended already is no error. */
    cancel(runId: string): Promise<void>;
    /** Runs again what a failed or stopped run was to do. Resolves to the id of the new run. */
    retry(runId: string): Promise<string>;
  };
  /** For the operator. */
  readonly agents: {
    /** What was changed in an agent: its last 50 revisions, newest first. */
    revisions(agentId: string): Promise<Revision[]>;
    /**
     * Gives an agent the name and the configuration of an earlier revision, as a new revision.
     * Resolves to the agent.
     */
    restore(agentId: string, revision: number): Promise<Entity>;
  };
  /**
   * Makes agents, spaces and plans as files say. For the operator. It may be repeated: what is so
   * already is not written. Rejects with the status 409 if something was changed by hand, and
   * nothing is written; the `problem` of the error has the `results` then.
   */
  apply(body: Apply, options?: ApplyOptions): Promise<ApplyAnswer>;
  /**
   * Stops what a message has set off: its runs in the space are canceled, for the operator all of
   * them, and later messages of the chain wake nobody there. It may be repeated.
   */
  stopChain(spaceId: string, seq: number): Promise<StopResult>;
  /** Pauses a space and cancels all of its runs. It may be repeated. */
  stopSpace(spaceId: string): Promise<StopResult>;
  /** What the wake gate of a space did, and would have done. For its owners and the operator. */
  gateReport(spaceId: string): Promise<GateReport>;
  /** The owner of the token. Asks the server once; rejects with a `SmartspaceError`. */
  me(): Promise<Caller>;
  /** Loads the list of spaces again. */
  reloadSpaces(): Promise<void>;
  /**
   * Closes the connection for good, and refuses further calls with a `ClosedError`. Messages that
   * wait are sent by the next client of the same caller. Call it when the caller signs out.
   */
  close(): void;
  /** Any call of the HTTP API: `client.request('GET', '/v1/spaces')`. */
  request: Call;
}

/** Makes a client. It connects when somebody subscribes to one of its stores. */
export function createClient(options: ClientOptions): Client {
  const { url, token, presence = true } = options;
  const env = environmentWith(options.environment);
  let known: Caller | null = null;
  let asked: Promise<Caller> | null = null;
  const onEnd = (isAnswered: boolean) => connection.callEnded(isAnswered);
  const http = createHttp({ env, url, onEnd }, token, () => known);
  const call: Call = (...given) =>
    http.call(...given).catch((error) => {
      if (error instanceof ClosedError) connection.close(error);
      throw error;
    });
  const connection = createConnection(env, call);
  const me = () =>
    (asked ??= call<Caller>('GET', '/v1/me').then(
      (found) => (known = found),
      (error) => {
        // The next call asks again.
        asked = null;
        throw error;
      },
    ));
  const space = memoizeById((id) => createSpace(id, context));
  const shared = { env, call, connection, me };
  const spaces = createSpaces({ ...shared, spaceOf: space });
  const { find, settling, ...inbox } = createInbox(env, call, connection);
  const readSeqOf = (id: string) => space(id).readSeq();
  const { changed: mentionsChanged, ...mentions } = createMentions({ ...shared, readSeqOf });
  const context: SpaceContext = {
    ...shared,
    closedBy: http.closedBy,
    uploads: createUploads(env, call),
    caller: () => known,
    inbox: { find, settling },
    storageName: () => `smartspace:${url}:${known?.entity?.id ?? 'operator'}:`,
    isPresent: presence,
    changed() {
      spaces.changed();
      mentionsChanged();
    },
  };
  return {
    connection: connection.store,
    spaces: spaces.list,
    inbox,
    mentions: () => mentions,
    search: (query) => createSearch(call, query),
    space,
    run: memoizeById((id) => createRun(env, call, connection, id)),
    ...callMethods(call),
    me,
    reloadSpaces: spaces.reload,
    close() {
      http.close(new ClosedError('The client is closed.'));
      connection.close();
    },
    request: call,
  };
}

// Makes a value for each id once.
function memoizeById<T>(make: (id: string) => T): (id: string) => T {
  const values = new Map<string, T>();
  return (id) => {
    const value = values.get(id) ?? make(id);
    values.set(id, value);
    return value;
  };
}

const callMethods = (call: Call) => ({
  runs: runMethods(call),
  agents: agentMethods(call),
  apply: (body: Apply, { dryRun = false }: ApplyOptions = {}): Promise<ApplyAnswer> =>
    call('POST', `/v1/apply?dryRun=${dryRun}`, { body, retry: true }),
  ...spaceMethods(call),
});

function spaceMethods(call: Call): Pick<Client, 'stopChain' | 'stopSpace' | 'gateReport'> {
  const act = (method: string, spaceId: string, path: string) =>
    call(method, `${spacePath(spaceId)}/${path}`, { retry: true });
  return {
    stopChain: (spaceId, seq) => act('POST', spaceId, `messages/${seq}/chain/cancel`),
    stopSpace: (spaceId) => act('POST', spaceId, 'stop'),
    gateReport: (spaceId) => act('GET', spaceId, 'gate'),
  };
}

function runMethods(call: Call): Client['runs'] {
  const act = (runId: string, action: string) =>
    call('POST', `${runPath(runId)}/${action}`, { retry: true });
  return {
    async cancel(runId) {
      await act(runId, 'cancel').catch((error) => {
        if (error.status !== 409) throw error;
      });
    },
    retry: async (runId) => (await act(runId, 'retry')).id,
  };
}

function agentMethods(call: Call): Client['agents'] {
  const act = (method: string, agentId: string, path = '') =>
    call(method, `${agentPath(agentId)}/revisions${path}`, { retry: true });
  return {
    revisions: async (agentId) => (await act('GET', agentId)).items,
    restore: (agentId, revision) => act('POST', agentId, `/${revision}/restore`),
  };
}
