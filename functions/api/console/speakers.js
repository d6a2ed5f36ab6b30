// As whom one writes and answers in a space: one of the people who are members of it.

import { choose, chosen } from './choices.js';

/** The people who are members of a space. */
export const peopleIn = ({ members }) => members.filter(({ type }) => type === 'human');

/** Who speaks in each space. */
export class Speakers {
  #held = new Map();

  /** The id of who speaks in this space, the same one until another is chosen or this one leaves; null where there are no people. */
  in(space) {
    const people = peopleIn(space);
    const wanted = this.#held.get(space.id) ?? chosen(keyOf(space));
    const speaker = people.find(({ id }) => id === wanted) ?? people[0];
    if (!speaker) return null;
    this.#held.set(space.id, speaker.id);
    return speaker.id;
  }

  /** Lets this person speak in this space, also when the page is opened again. */
  choose(space, id) {
    this.#held.set(space.id, id);
    choose(keyOf(space), id);
  }
}

const keyOf = ({ id }) => `sender.${id}`;
