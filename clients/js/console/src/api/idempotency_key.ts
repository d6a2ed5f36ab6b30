/** An idempotency key. `crypto.randomUUID` exists on secure pages only. */
export const newKey = (): string => crypto.getRandomValues(new Uint32Array(4)).join('-');
