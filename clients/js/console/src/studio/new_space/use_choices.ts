// The members that the dialog "New space" offers, and those that are chosen.

import type { Client, Entity } from '@smartspace/client';
import { useEffect, useState } from 'preact/hooks';
import { allEntities } from '../../api/entities.ts';
import { newKey } from '../../api/idempotency_key.ts';
import { wordsOf } from '../../ui/notices.tsx';
import { isolated } from '../../ui/visible.ts';
import { entityBody, NOTHING, type Faults, type NewMember } from './new_members.ts';

const TYPES = ['human', 'agent'] as const;
const NO_NAMES = { human: '', agent: '' };

/** A new member, and the key of the request that creates it. */
type Draft = NewMember & { key: string };

/** The choice of members. `setFaults` shows what failed. */
export function useChoices(client: Client, setFaults: (faults: Faults) => void) {
  const [entities, setEntities] = useState<Entity[]>([]);
  const [drafts, setDrafts] = useState<Draft[]>([]);
  const [checked, setChecked] = useState<ReadonlySet<string>>(new Set());
  const [typed, setTyped] = useState(NO_NAMES);
  useEffect(() => {
    allEntities(client).then(
      // Members may have been created while the list was loaded.
      (found) => setEntities((created) => [...found, ...created]),
      (error) => setFaults({ ...NOTHING, others: wordsOf(error) }),
    );
  }, []);

  const toggle = (id: string) =>
    setChecked((before) => {
      const after = new Set(before);
      if (!after.delete(id)) after.add(id);
      return after;
    });
  const drop = (draft: Draft) => setDrafts(drafts.filter((other) => other !== draft));
  const add = () => {
    const named = TYPES.map((type) => ({ type, name: typed[type].trim(), key: newKey() }));
    const wanted = [...drafts, ...named.filter(({ name }) => name !== '')];
    setDrafts(wanted);
    setTyped(NO_NAMES);
    return wanted;
  };

  /**
   * Creates the drafts one after the other. The created ones stay when a later one is refused.
   * Returns the ids of all chosen members, or null after a failure.
   */
  const create = async (): Promise<string[] | null> => {
    const ids = [...checked];
    const wanted = add();
    for (const [index, draft] of wanted.entries()) {
      const options = { body: entityBody(draft), idempotencyKey: draft.key, retry: true };
      try {
        const created = await client.request<Entity>('POST', '/v1/entities', options);
        setEntities((before) => [...before, created]);
        setChecked((before) => new Set(before).add(created.id));
        setDrafts(wanted.slice(index + 1));
        ids.push(created.id);
      } catch (error) {
        setFaults({
          ...NOTHING,
          members: `${isolated(draft.name)} was not added: ${wordsOf(error)}`,
        });
        return null;
      }
    }
    return ids;
  };
  return { entities, drafts, checked, typed, setTyped, toggle, drop, add, create };
}
