/** The path of something that an agent keeps: `memories`, then a key. */
export const agentPath = (agentId: string, ...names: string[]): string =>
  `/v1/agents/${[agentId, ...names].map(encodeURIComponent).join('/')}`;
