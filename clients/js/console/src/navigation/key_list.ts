// The keys of the page, for those who look for them.

type Keys = readonly (readonly [key: string, name: string])[];

/** The keys of the page with what waits. */
export const INBOX_KEYS: Keys = [
  ['g i', 'open this page'],
  ['j', 'next'],
  ['k', 'previous'],
  ['Enter', 'open the card'],
  ['a', 'approve'],
  ['e', 'edit'],
  ['r', 'respond'],
  ['x', 'decline'],
];

/** All keys, by the place where they are used. */
export const ALL_KEYS: readonly { place: string; keys: Keys }[] = [
  {
    place: 'Everywhere',
    keys: [
      ['Ctrl K', 'jump to a space or a page'],
      ['g i', 'open what needs you'],
      ['?', 'show these keys'],
    ],
  },
  {
    place: 'In the message box',
    keys: [
      ['Enter', 'send'],
      ['Shift Enter', 'make a new line'],
      ['↑', 'change your last message'],
      ['Esc', 'stop the agents, or leave the box'],
    ],
  },
  {
    place: 'On the messages',
    keys: [
      ['j', 'next'],
      ['k', 'previous'],
      ['r', 'reply'],
      ['t', 'open the thread'],
      ['w', 'why it was written'],
      ['+', 'react'],
      ['e', 'edit'],
      ['p', 'pin'],
      ['Delete', 'delete'],
      ['Esc', 'go to the message box'],
    ],
  },
  { place: 'On “Needs you”', keys: INBOX_KEYS.slice(1) },
];
