// The client: what its parts share, and its public face.

import { createConnection } from './connection.ts';
import { environmentWith, type Environment } from './environment.ts';
import { ClosedError, createHttp, type Call, type Token } from './http.ts';
import { createRun } from './run.ts';
import { createSpace, type OwnSpace, type SpaceContext } from './space.ts';
import { createSpaces } from './spaces.ts';
import type {
  Caller,
  ConnectionState,
  FormsState,
  RunState,
  Space,
  SpacesState,
  Store,
} from './types.ts';
import { createUploads } from './uploads.ts';

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
  readonly connection: Store<ConnectionState>;
  readonly spaces: Store<SpacesState>;
  /** The open forms in all spaces that the caller may answer. */
  readonly forms: Store<FormsState>;
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
  /** Who the caller is. */
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

export function createClient({ url, token, presence = true, environment }: ClientOptions): Client {
  const env = environmentWith(environment);
  const http = createHttp(
    env,
    url,
    token,
    () => caller,
    (isAnswered) => connection.called(isAnswered),
  );
  const call: Call = (...given) =>
    http.call(...given).catch((error) => {
      if (error instanceof ClosedError) connection.close(error);
      throw error;
    });
  const connection = createConnection(env, call);
  const known = new Map<string, OwnSpace>();
  const runs = new Map<string, Store<RunState>>();
  let asked: Promise<Caller> | null = null;

  let caller: Caller | null = null;

  const me = () =>
    (asked ??= call<Caller>('GET', '/v1/me').then(
      (found) => (caller = found),
      (error) => {
        asked = null;
        throw error;
      },
    ));
  const spaceOf = (id: string) => {
    const space = known.get(id) ?? createSpace(id, context);
    known.set(id, space);
    return space;
  };
  const spaces = createSpaces(env, call, connection, me, spaceOf);
  const context: SpaceContext = {
    env,
    call,
    connection,
    uploads: createUploads(env, call),
    me,
    caller: () => caller,
    findForm: spaces.findForm,
    storageName: () => `smartspace:${url}:${caller?.entity?.id ?? 'operator'}:`,
    isPresent: presence,
    changed: spaces.changed,
  };

  return {
    connection: connection.store,
    spaces: spaces.list,
    forms: spaces.forms,
    space: spaceOf,
    run(id) {
      const run = runs.get(id) ?? createRun(env, call, connection, id);
      runs.set(id, run);
      return run;
    },
    runs: {
      async cancel(runId) {
        await call('POST', `/v1/runs/${encodeURIComponent(runId)}/cancel`, { retry: true }).catch(
          (error) => {
            if (error.status !== 409) throw error;
          },
        );
      },
      retry: async (runId) =>
        (await call('POST', `/v1/runs/${encodeURIComponent(runId)}/retry`, { retry: true })).id,
    },
    me,
    reloadSpaces: spaces.reload,
    close() {
      http.close(new ClosedError('The client is closed.'));
      connection.close();
    },
    request: call,
  };
}
