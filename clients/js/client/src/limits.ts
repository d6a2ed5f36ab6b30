// The limits, delays and timeouts of the client, by the part that they concern.

// HTTP.
/** A call or a function that returns a token is given up after this time. */
export const TIME_LIMIT_MS = 20_000;
export const MOST_ATTEMPTS = 4;
export const FIRST_PAUSE_MS = 300;
export const LONGEST_PAUSE_MS = 10_000;
/** The number of messages of a page of the timeline. */
export const PAGE = 50;
/** A page before this seq has the latest messages. */
export const AFTER_ALL = 2 ** 53 - 1;
/** The most messages or spaces that one call returns. */
export const LARGEST_PAGE = 200;
/** The answers that are kept, and those of one path that a call names. */
export const MOST_KEPT = 64;
export const MOST_OFFERED = 6;
/** Runs that a page of them has at least: besides those that are missing there may be new ones. */
export const FEWEST_RUNS = 10;

// Work that is repeated until it succeeds.
export const FIRST_RETRY_MS = 2000;
export const LONGEST_RETRY_MS = 30_000;

// Stores.
/** A page that leaves a space and returns at once, as React does in StrictMode, keeps it open. */
export const GRACE_MS = 1000;

// The list of spaces.
export const MOST_WATCHED = 20;
export const RELOAD_MS = 30_000;

// The inbox and the mentions.
export const INBOX_MS = 120_000;
/** Several cards may open at once, and a new one is listed a moment later than it is shown. */
export const INBOX_DELAY_MS = 500;
/** Longer than the time between two subscriptions. */
export const INBOX_SETTLED_MS = 1500;

// The connection.
/** Presence expires after five minutes, and a silent connection on AWS after ten. */
export const PING_MS = 240_000;
export const STALL_MS = 2500;
export const PONG_LIMIT_MS = 10_000;
export const CONNECT_LIMIT_MS = 10_000;
export const FIRST_DELAY_MS = 500;
export const LONGEST_DELAY_MS = 30_000;
/** API Gateway closes a connection after two hours. */
export const ROLL_OVER_MS = 6_600_000;
/** A connection that lasts this long ends an outage. */
export const STEADY_MS = 2000;
/** The spaces that each list of a ping may have. */
export const MOST_PINGED = 20;
/** Close codes, as the server sends them in `goodbye`. */
export const CLOSE_NORMAL = 1000;
export const CLOSE_EXPIRED = 1008;
export const CLOSE_RESTARTING = 1012;
export const SUBSCRIBE_LIMIT_MS = 5000;
/** Time until a subscription that the server found invalid is sent again. */
export const REFUSED_MS = 30_000;
/** The server takes a few subscriptions at once, and then two a second. */
export const SUBSCRIBE_BURST = 6;
export const SUBSCRIBE_INTERVAL_MS = 600;

// The messages of a space.
/** With a larger gap only the last page is loaded again. */
export const LARGEST_GAP = 1000;
/** The characters of a parent's text that its replies show. */
export const LONGEST_EXCERPT = 200;
/** The pages of the longest thread that is loaded. */
export const MOST_THREAD_PAGES = 10;
/** Time for a late message to arrive by itself before it is fetched. */
export const GAP_DELAY_MS = 300;

// Ids of streams that are closed, so that a late frame does not open one again.
export const MOST_REMEMBERED = 1000;

// The sends of a space.
export const SEND_DELAY_MS = 500;
export const LONGEST_SEND_DELAY_MS = 15_000;
/** The server knows a key for 24 hours. After that a repeated message could be posted twice. */
export const LONGEST_AGE_MS = 82_800_000;

// The runs of a space.
/** The longest time from the end of a run to its last message. */
export const LAST_MESSAGE_MS = 1000;
/** Time from a cancellation until the worker of the run notices it. */
export const CANCELLATION_MS = 5000;
/** Events can be lost. The active runs are loaded again if no frame came for this long. */
export const STALE_MS = 30_000;
export const LONGEST_STALE_MS = 600_000;

// The texts that agents write.
/** Time from the end of a stream to the message that replaces it. */
export const REPLACEMENT_MS = 2000;
/** Time for a late piece to arrive, or in a small space the next snapshot. */
export const SNAPSHOT_DELAY_MS = 1000;
/** Everyone in a large space sees a gap at the same moment. */
export const SNAPSHOT_SPREAD_MS = 500;
export const SILENCE_MS = 60_000;
export const SUSPICIOUS_SILENCE_MS = 10_000;
export const SILENCE_CHECK_MS = 1000;

// Presence.
export const TYPING_MS = 3000;

// Files.
/** A download may take a while to begin. */
export const URL_RESERVE_MS = 60_000;
/** How long the server lets a URL live. The clock of this computer may differ from the server's. */
export const URL_LIFE_MS = 900_000;
/** 20 MiB. */
export const LARGEST_FILE_BYTES = 20_971_520;
export const LONGEST_NAME = 255;
export const MOST_UPLOADS = 3;
/** An upload without progress for this long has no network. */
export const UPLOAD_STALL_MS = 60_000;
/** `fetch` reports no progress. */
export const LONGEST_UPLOAD_MS = 600_000;
export const LONGEST_SIDE_PX = 2048;
export const PICTURE_QUALITY = 0.9;
