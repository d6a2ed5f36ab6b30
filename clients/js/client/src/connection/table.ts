// The connection as a table: what each event does in each state, and the state that follows.

import { isTemporary } from '../http.ts';
import type { Goodbye } from '../events.ts';
import { EXPIRED, RESTARTING, SAID_ALL } from './limits.ts';
import {
  abandonNext,
  begin,
  beginOutage,
  connect,
  endOutage,
  lose,
  open,
  ping,
  reconnect,
  showLive,
  stall,
  stop,
  takeOver,
  tryAgain,
} from './actions.ts';
import type { Core, EventType, Happened, Name } from './core.ts';
import { isReady } from './subscriptions.ts';


/**
 * The next state, or null if it stays; what is done, and under which condition. The first line that
 * fits counts.
 */
type Line = readonly [
  to: Name | null,
  act: (core: Core, event: Happened) => void,
  when?: (core: Core, event: Happened) => boolean,
];
type Row = { [T in EventType]?: readonly Line[] };

const isNext = ({ next }: Core, { link }: Happened) => link === next;
const isLinkReady = (core: Core, { link }: Happened) => !!link && isReady(core, link);
const isFinal = (_: Core, { error }: Happened) => !isTemporary(error);
const isUnasked = ({ timers }: Core) => !timers.has('pongDue');
const isRestart = (goodbye?: Goodbye) => goodbye?.code === RESTARTING || goodbye?.code === EXPIRED;
const nothing = () => {};

const LOST: Row['closed'] = [['waiting', lose]];
const PING: Row['check'] = [[null, ping, isUnasked]];
const ONLINE: Row['online'] = [[null, beginOutage]];

// What ends every state that is held.
const HELD: Row = { release: [['idle', stop]], end: [['ended', stop]], offline: LOST };

const GOODBYE: readonly Line[] = [
  ['refused', stop, (_, { goodbye }) => goodbye?.code === SAID_ALL],
  // While the present socket is ready, the other one may go.
  [null, nothing, ({ link }, event) => !!link && event.link !== link],
  ['delayed', lose, (_, { goodbye }) => !!goodbye?.retryAfter],
  // Only the first one of an outage: a server may restart again and again.
  ['connecting', reconnect, ({ lostAt }, { goodbye }) => lostAt === 0 && isRestart(goodbye)],
  ['waiting', lose],
];

// What may happen while a socket is ready.
const READY: Row = {
  ...HELD,
  ready: [[null, showLive, isLinkReady]],
  closed: LOST,
  goodbye: GOODBYE,
  check: PING,
  unanswered: PING,
  pingDue: [[null, ping]],
  stallDue: [[null, stall]],
  pongDue: LOST,
  steadyDue: [[null, endOutage]],
};

/** A pair that is not listed can't happen, or has no effect. */
export const TABLE: { readonly [N in Name]: Row } = {
  /** Nobody holds the connection. */
  idle: { hold: [['connecting', begin]], end: [['ended', stop]] },
  /** The first socket is being made: its ticket, its opening, its subscriptions. */
  connecting: {
    ...HELD,
    unsupported: [['refused', stop]],
    ticket: [[null, open]],
    failed: [
      ['refused', stop, isFinal],
      ['waiting', lose],
    ],
    ready: [['live', takeOver, isLinkReady]],
    closed: LOST,
    goodbye: GOODBYE,
    connectDue: LOST,
    online: ONLINE,
  },
  /** One socket is ready. */
  live: { ...READY, moveDue: [['moving', connect]] },
  /** One socket is ready, and the one that takes its place is being made. */
  moving: {
    ...READY,
    ticket: [[null, open]],
    failed: [['live', abandonNext]],
    connectDue: [['live', abandonNext]],
    ready: [
      ['live', takeOver, (core, event) => isNext(core, event) && isLinkReady(core, event)],
      [null, showLive, (core, event) => !isNext(core, event) && isLinkReady(core, event)],
    ],
    closed: [
      ['live', abandonNext, isNext],
      ['waiting', lose],
    ],
  },
  /** The connection was lost. The next attempt is timed, and may be made at once. */
  waiting: {
    ...HELD,
    retryDue: [['connecting', connect]],
    check: [['connecting', connect]],
    // The server is back. An error that it gave would only come again.
    answered: [['connecting', connect, ({ shown }) => !shown.error]],
    online: ONLINE,
  },
  /** As `waiting`, but the server asked for the pause, and nothing shortens it. */
  delayed: { ...HELD, retryDue: [['connecting', connect]], online: ONLINE },
  /** The server refused the caller, or has no more to say. Only a check tries again. */
  refused: { ...HELD, check: [['connecting', tryAgain]], online: ONLINE },
  /** The client was closed for good. */
  ended: {},
};

/** Does what the table says. */
export function step(core: Core, event: Happened) {
  const { link } = event;
  // What an earlier socket still brings comes too late.
  if (link && link !== core.link && link !== core.next) return;
  const line = TABLE[core.name][event.type]?.find(([, , when]) => when?.(core, event) ?? true);
  if (!line) return;
  // An action may dispatch at once; it then finds the next state.
  core.name = line[0] ?? core.name;
  line[1](core, event);
}
