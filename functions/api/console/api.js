// The HTTP client: calls with the admin key, whole lists, and writes that are safe to repeat.

const TIME_LIMIT_MS = 20_000;
const TRIES = 4;

/**
 * Why a call failed. With `status` 0 no response came, so the call may or may not have taken
 * effect.
 */
export class Problem extends Error {
  constructor(status, body = {}, retryAfterSeconds = null) {
    super(problemText(status, body));
    this.status = status;
    /** The errors in the request body: `{pointer, detail}`. */
    this.faults = body.errors ?? [];
    this.retryAfterSeconds = retryAfterSeconds;
  }

  /** Whether the same call may succeed later. The retry must use the same idempotency key. */
  get isTemporary() {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }
}

function problemText(status, body) {
  if (status === 0) return 'The server can’t be reached.';
  const faults = (body.errors ?? []).map((fault) =>
    fault.pointer ? `${fault.pointer}: ${fault.detail}` : fault.detail,
  );
  const text = faults.length > 0 ? faults.join('; ') : body.detail || body.title;
  return text ? String(text) : `The server answered ${status}.`;
}

/** Calls the API as the operator. */
export class Api {
  #key;
  #onRefused;

  /** `onRefused` is called when the server does not accept the key. */
  constructor(key, onRefused) {
    this.#key = key;
    this.#onRefused = onRefused;
  }

  /** Makes one call. Returns the response body, or null if it is empty. */
  async call(method, path, { body, idempotencyKey } = {}) {
    const headers = { authorization: `Bearer ${this.#key}`, accept: 'application/json' };
    if (body !== undefined) headers['content-type'] = 'application/json';
    if (idempotencyKey) headers['idempotency-key'] = idempotencyKey;
    let response;
    let text;
    try {
      response = await fetch(path, {
        method,
        headers,
        body: body === undefined ? undefined : JSON.stringify(body),
        cache: 'no-store',
        credentials: 'omit',
        signal: AbortSignal.timeout(TIME_LIMIT_MS),
      });
      text = await response.text();
    } catch {
      throw new Problem(0);
    }
    if (response.ok) return text === '' ? null : parseJson(text);
    if (response.status === 401) this.#onRefused();
    const retryAfter = Number(response.headers.get('retry-after'));
    throw new Problem(response.status, parseJson(text) ?? {}, retryAfter > 0 ? retryAfter : null);
  }

  get(path) {
    return this.call('GET', path);
  }

  /** All items of a list, from all of its pages. */
  async all(path) {
    const items = [];
    let cursor = null;
    do {
      const query = cursor ? `?limit=200&cursor=${encodeURIComponent(cursor)}` : '?limit=200';
      const page = await this.get(path + query);
      items.push(...page.items);
      cursor = page.nextCursor ?? null;
    } while (cursor);
    return items;
  }

  /**
   * Creates something once. A call with an unknown outcome is repeated a few times under the same
   * key.
   */
  async create(path, body, idempotencyKey) {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.call('POST', path, { body, idempotencyKey });
      } catch (problem) {
        if (!(problem instanceof Problem) || !problem.isTemporary || attempt === TRIES)
          throw problem;
        const seconds = Math.min(problem.retryAfterSeconds ?? 0.3 * 2 ** attempt, 10);
        await new Promise((resume) => setTimeout(resume, seconds * 1000));
      }
    }
  }

  /** Messages of a space, oldest first. `range` is `{after: seq}` or `{before: seq}`. */
  async messages(spaceId, range, limit = 50) {
    const query = new URLSearchParams({ ...range, limit });
    return (await this.get(`/v1/spaces/${encodeURIComponent(spaceId)}/messages?${query}`)).items;
  }
}

function parseJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
