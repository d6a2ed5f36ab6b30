// The HTTP side of the product: calls with the admin key, lists page by page, and writes that are safe to repeat.

const TIME_LIMIT_MS = 20_000;
const TRIES = 4;

/** Why a call was not done. `status` 0: no answer came, so it is not known whether it took effect. */
export class Problem extends Error {
  constructor(status, body = {}, retryAfterSeconds = null) {
    super(problemText(status, body));
    this.status = status;
    /** What is wrong with the body, and where: `{pointer, detail}`. */
    this.faults = body.errors ?? [];
    this.retryAfterSeconds = retryAfterSeconds;
  }

  /** Whether the very same call may succeed later: then it has to be repeated with the same key. */
  get isPassing() {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }
}

function problemText(status, body) {
  if (status === 0) return 'The server can’t be reached.';
  const faults = (body.errors ?? []).map((fault) => (fault.pointer ? `${fault.pointer}: ${fault.detail}` : fault.detail));
  const text = faults.length > 0 ? faults.join('; ') : body.detail || body.title;
  return text ? String(text) : `The server answered ${status}.`;
}

/** Calls the product as the operator. */
export class Api {
  #key;
  #refused;

  /** `refused` is told when the key does not count, or no longer. */
  constructor(key, refused) {
    this.#key = key;
    this.#refused = refused;
  }

  /** One call; the answer's body, or null where there is none. */
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
    if (response.ok) return text === '' ? null : parsed(text);
    if (response.status === 401) this.#refused();
    const retryAfter = Number(response.headers.get('retry-after'));
    throw new Problem(response.status, parsed(text) ?? {}, retryAfter > 0 ? retryAfter : null);
  }

  /** What stands at `path`. */
  get(path) {
    return this.call('GET', path);
  }

  /** Everything in a list, over all of its pages. */
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

  /** Makes something, once: what is not known to be kept is repeated, a few times, under the same key. */
  async make(path, body, idempotencyKey) {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.call('POST', path, { body, idempotencyKey });
      } catch (problem) {
        if (!(problem instanceof Problem) || !problem.isPassing || attempt === TRIES) throw problem;
        const seconds = Math.min(problem.retryAfterSeconds ?? 0.3 * 2 ** attempt, 10);
        await new Promise((resume) => setTimeout(resume, seconds * 1000));
      }
    }
  }

  /** Messages of a space, oldest first; `where` is `after` or `before` with a seq. */
  async messages(spaceId, where, limit = 50) {
    const query = new URLSearchParams({ ...where, limit });
    return (await this.get(`/v1/spaces/${encodeURIComponent(spaceId)}/messages?${query}`)).items;
  }
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
