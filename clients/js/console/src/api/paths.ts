// The paths of the HTTP API.

const pathOf =
  (root: string) =>
  (id: string, ...names: string[]): string =>
    `/v1/${root}/${[id, ...names].map(encodeURIComponent).join('/')}`;

/** A person or an agent. */
export const entityPath = pathOf('entities');
/** An agent, or something that belongs to it: `memories`, then a key. */
export const agentPath = pathOf('agents');
/** A space, or something in it: `members`, then an id. */
export const spacePath = pathOf('spaces');
/** A run, or an action on it: `fork`. */
export const runPath = pathOf('runs');
