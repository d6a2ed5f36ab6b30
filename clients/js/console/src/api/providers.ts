// The providers of the hooks as components of Preact: their types are those of React.

import type { Client } from '@smartspace/client';
import { SmartspaceProvider, SpaceProvider } from '@smartspace/react';
import type { FunctionComponent } from 'preact';

/** Gives the client to the hooks below it. */
export const ClientScope = SmartspaceProvider as unknown as FunctionComponent<{ client: Client }>;

/** Names the space for the hooks below it. */
export const SpaceScope = SpaceProvider as unknown as FunctionComponent<{ id: string }>;
