// The person in whose name the operator writes and decides. It is chosen openly, and remembered for
// this tab: nobody at first. It counts in the spaces that the person is in.

import { useEffect, useState } from 'preact/hooks';
import { setTabPreference, tabPreference } from '../ui/preferences.ts';

interface Person {
  id: string;
}

const NAME = 'sender';

const listeners = new Set<(id: string) => void>();
let chosenId = tabPreference(NAME) ?? '';

const among = (people: readonly Person[], id: string) =>
  people.find((person) => person.id === id)?.id ?? null;

/** The id of that person, or null if it is none of these people. */
export const chosenSender = (people: readonly Person[]): string | null => among(people, chosenId);

/** Remembers a person. '' is nobody. */
export function chooseSender(id: string): void {
  chosenId = id;
  setTabPreference(NAME, id);
  for (const listener of listeners) listener(id);
}

/** The same as `chosenSender`, kept up to date. */
export function useChosenSender(people: readonly Person[]): string | null {
  const [id, setId] = useState(chosenId);
  useEffect(() => {
    setId(chosenId);
    listeners.add(setId);
    return () => void listeners.delete(setId);
  }, []);
  return among(people, id);
}
