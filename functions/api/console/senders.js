// The person who writes and answers in each space. The person is a member of the space.

import { preference, setPreference } from './preferences.js';

/** The people who are members of a space. */
export const peopleIn = ({ members }) => members.filter(({ type }) => type === 'human');

/** The selected person of each space. */
export class Senders {
  #chosen = new Map();

  /**
   * The id of the selected person, or null if the space has no people. It stays the same until
   * another person is selected or this one leaves.
   */
  in(space) {
    const people = peopleIn(space);
    const chosenId = this.#chosen.get(space.id) ?? preference(keyOf(space));
    const sender = people.find(({ id }) => id === chosenId) ?? people[0];
    if (!sender) return null;
    this.#chosen.set(space.id, sender.id);
    return sender.id;
  }

  /** Selects a person. The choice survives a reload. */
  choose(space, id) {
    this.#chosen.set(space.id, id);
    setPreference(keyOf(space), id);
  }
}

const keyOf = ({ id }) => `sender.${id}`;
