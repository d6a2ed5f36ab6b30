// The person in whose name the operator writes and decides. It is chosen openly, and remembered for
// this tab: nobody at first. It counts in the spaces that the person is in.

import { setTabPreference, tabPreference } from '../ui/preferences.ts';
import { sharedValue } from '../ui/shared_value.ts';

interface Person {
  id: string;
}

const NAME = 'sender';

const chosenId = sharedValue(tabPreference(NAME) ?? '');

const among = (people: readonly Person[], id: string) =>
  people.find((person) => person.id === id)?.id ?? null;

/** The id of that person, or null if it is none of these people. */
export const chosenSender = (people: readonly Person[]): string | null =>
  among(people, chosenId.get());

/** Remembers a person. '' is nobody. */
export function chooseSender(id: string): void {
  setTabPreference(NAME, id);
  chosenId.set(id);
}

/** The same as `chosenSender`, kept up to date. */
export const useChosenSender = (people: readonly Person[]): string | null =>
  among(people, chosenId.use());
