// The people and agents that the caller may know.

import type { Client, Entity } from '@smartspace/client';

/** All of them, oldest first. The operator knows all, a person the members of the same spaces. */
export const allEntities = (client: Client): Promise<Entity[]> => everyPage(client, '/v1/entities');

/** All items of a list. */
export async function everyPage<T>(client: Client, path: string): Promise<T[]> {
  const found: T[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const after: string = cursor && `&cursor=${encodeURIComponent(cursor)}`;
    const page: { items: T[]; nextCursor?: string | null } = await client.request(
      'GET',
      `${path}?limit=200${after}`,
      { retry: true },
    );
    found.push(...page.items);
    cursor = page.nextCursor ?? null;
  }
  return found;
}
