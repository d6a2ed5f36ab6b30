// The providers, and how a hook finds its client and its space.

import type { Client, Space } from '@smartspace/client';
import { createContext, createElement, useContext, type ReactElement, type ReactNode } from 'react';

const ClientContext = createContext<Client | null>(null);
const SpaceContext = createContext<string | null>(null);

/** The props of `SmartspaceProvider`. */
export interface SmartspaceProviderProps {
  /** The client, made once with `createClient` and kept outside of components. */
  client: Client;
  children?: ReactNode;
}

/**
 * Gives the client to the hooks below it. It opens no connection: the first hook that shows live
 * data does, and the connection closes a second after the last such hook has unmounted.
 */
export function SmartspaceProvider({ client, children }: SmartspaceProviderProps): ReactElement {
  return createElement(ClientContext.Provider, { value: client }, children);
}

/** The props of `SpaceProvider`. */
export interface SpaceProviderProps {
  /** The id of the space. */
  id: string;
  children?: ReactNode;
}

/** Names the space for the hooks below it, so that they need no id. The innermost one counts. */
export function SpaceProvider({ id, children }: SpaceProviderProps): ReactElement {
  if (!id) throw new Error('<SpaceProvider> needs the id of a space.');
  return createElement(SpaceContext.Provider, { value: id }, children);
}

/**
 * Returns the client of the nearest `SmartspaceProvider`. Use it for what no hook offers, such as
 * `useClient().runs.cancel(runId)` or `useClient().space(id).markRead()`.
 */
export const useClient = (): Client => useClientFor('useClient');

/** The client for the hook with this name. */
export function useClientFor(hook: string): Client {
  const client = useContext(ClientContext);
  if (!client) throw new Error(`${hook} needs a <SmartspaceProvider> above its component.`);
  return client;
}

/** The id of the nearest `SpaceProvider`, or null. */
export const useSpaceId = (): string | null => useContext(SpaceContext);

/** The space with this id, or that of the nearest `SpaceProvider`, for the hook with this name. */
export function useSpaceFor(hook: string, id: string | undefined): Space {
  const client = useClientFor(hook);
  const spaceId = useSpaceId();
  const found = id ?? spaceId;
  if (!found) throw new Error(`${hook} needs the id of a space, or a <SpaceProvider> above it.`);
  return client.space(found);
}
