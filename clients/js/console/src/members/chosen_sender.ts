// The person in whose name the operator writes and approves in a space. It is chosen openly, and
// remembered for this tab.

const nameOf = (spaceId: string) => `smartspace.sender.${spaceId}`;

/** The id of that person, or null. */
export const chosenSender = (spaceId: string): string | null =>
  sessionStorage.getItem(nameOf(spaceId)) || null;

/** Remembers a person. '' is nobody. */
export const chooseSender = (spaceId: string, id: string): void =>
  sessionStorage.setItem(nameOf(spaceId), id);
