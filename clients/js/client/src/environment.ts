// What the client takes from the platform. Each part can be replaced, for tests and for runtimes
// that lack it.

/** The platform. What is left out comes from `globalThis`. */
export interface Environment {
  fetch: typeof fetch;
  /** Node before version 22 has none; pass the one of the package `ws`. */
  WebSocket: typeof WebSocket | undefined;
  /** Reports the progress of uploads. Where there is none, `fetch` uploads without it. */
  XMLHttpRequest: typeof XMLHttpRequest | undefined;
  /** Both together draw pictures anew. Where one is missing, pictures are uploaded as they are. */
  createImageBitmap: typeof createImageBitmap | undefined;
  OffscreenCanvas: typeof OffscreenCanvas | undefined;
  /** Keeps drafts and unsent messages over a reload. Null keeps them in memory only. */
  storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem' | 'key' | 'length'> | null;
  /** Milliseconds since 1970. */
  now: () => number;
  setTimeout: (act: () => void, delayMs: number) => unknown;
  // A method, so that platforms with timers of different types fit.
  clearTimeout(timer: unknown): void;
  /** From 0 to 1, for the spread of attempts to connect. */
  random: () => number;
  /** Whether the person can't see the page. */
  isHidden: () => boolean;
  /** Calls `act` with `online`, `offline` or `visibilitychange`, until the result is called. */
  listen: (act: (event: string) => void) => () => void;
}

const EVENTS = ['online', 'offline', 'visibilitychange'];

/** The platform, with the parts that `parts` replaces. */
export function environmentWith(parts: Partial<Environment> = {}): Environment {
  const {
    document,
    addEventListener,
    removeEventListener,
    WebSocket,
    XMLHttpRequest,
    createImageBitmap,
    OffscreenCanvas,
  } = globalThis;
  let storage: Environment['storage'] = null;
  try {
    storage = globalThis.localStorage ?? null;
  } catch {
    // Some browsers refuse access to storage.
  }
  return {
    fetch: (...request) => globalThis.fetch(...request),
    WebSocket,
    XMLHttpRequest,
    createImageBitmap,
    OffscreenCanvas,
    storage,
    now: () => Date.now(),
    setTimeout: (act, delayMs) => globalThis.setTimeout(act, delayMs),
    clearTimeout: (timer) => globalThis.clearTimeout(timer as number),
    random: Math.random,
    isHidden: () => !!document?.hidden,
    listen(act) {
      const listener = (event: { type: string }) => act(event.type);
      // `visibilitychange` bubbles to the window. Edge runtimes and Node have no such events.
      if (!document) return () => {};
      EVENTS.forEach((event) => addEventListener(event, listener));
      return () => EVENTS.forEach((event) => removeEventListener(event, listener));
    },
    ...parts,
  };
}
