// The limits and times of the connection.

export const PING_MS = 30_000;
/** API Gateway closes a connection after ten silent minutes. */
export const HIDDEN_PING_MS = 240_000;
export const STALL_MS = 2500;
export const PONG_LIMIT_MS = 10_000;
export const CONNECT_LIMIT_MS = 10_000;
export const FIRST_DELAY_MS = 500;
export const LONGEST_DELAY_MS = 30_000;
/** API Gateway closes a connection after two hours. */
export const ROLL_OVER_MS = 6_600_000;
/** A connection that lasts this long ends an outage. */
export const STEADY_MS = 2000;
/** The spaces that one ping may name. */
export const MOST_PINGED = 20;
/** Close codes, as the server sends them in `goodbye`. */
export const SAID_ALL = 1000;
export const EXPIRED = 1008;
export const RESTARTING = 1012;
export const SUBSCRIBE_LIMIT_MS = 5000;
/** Time until a subscription that the server found invalid is sent again. */
export const REFUSED_MS = 30_000;
/** The server takes a few subscriptions at once, and then two a second. */
export const AT_ONCE = 6;
export const QUEUE_MS = 600;
