// The errors of the client, and whether a failed call is worth repeating.

/** A fault in a request: where, as a JSON pointer into its body, and what. */
export interface Fault {
  pointer: string;
  detail: string;
}

/** Why a call failed. `message` says what was wrong and what was expected. */
export class SmartspaceError extends Error {
  override name = 'SmartspaceError';
  /** The HTTP status. 0: no response came, so the call may or may not have taken effect. */
  declare readonly status: number;
  /** The name of the status, such as `Not Found`. */
  declare readonly title: string;
  /** What was wrong and what was expected. */
  declare readonly detail: string;
  /** Identifies the request in the server's logs. */
  declare readonly requestId: string | null;
  /** Seconds to wait before the call is repeated. */
  declare readonly retryAfter: number | null;
  /** The faults of the request's body. */
  declare readonly errors: readonly Fault[];
  /** The body of the response. That of a refused apply has `results`. */
  declare readonly problem: Readonly<Record<string, unknown>>;
  /** Whether the same call may succeed later. Repeat it with the same idempotency key. */
  declare isTemporary: boolean;

  /** `problem` is the body of the response, whatever it is. */
  constructor(status: number, problem?: unknown, headers?: Headers) {
    const given = (problem ?? {}) as Record<string, unknown>;
    const faults = (Array.isArray(given.errors) ? given.errors : []).filter(
      (fault) => fault?.detail,
    );
    const text =
      typeof given.detail === 'string'
        ? given.detail
        : status
          ? `The server answered ${status}.`
          : 'The server can’t be reached.';
    super(faults.map((fault) => `${fault.pointer}: ${fault.detail}`).join('; ') || text);
    Object.assign(this, {
      status,
      title: String(given.title ?? ''),
      detail: text,
      requestId: headers?.get('x-request-id') ?? null,
      retryAfter: Number(headers?.get('retry-after')) || null,
      errors: faults,
      problem: given,
      isTemporary: status === 0 || status === 429 || status >= 500,
    });
  }
}

/** The client was closed, and makes no more calls. */
export class ClosedError extends SmartspaceError {
  override name = 'ClosedError';

  constructor(detail: string) {
    super(0, { detail });
    this.isTemporary = false;
  }
}

/** Throws for a file that the server refused, or would refuse. */
export function throwRefusal(detail = 'The file was refused.', status = 422): never {
  throw new SmartspaceError(status, { detail });
}

/** Whether a failed call may succeed later. An error of the platform may pass. */
export const isTemporary = (error: unknown) =>
  !(error instanceof SmartspaceError) || error.isTemporary;
