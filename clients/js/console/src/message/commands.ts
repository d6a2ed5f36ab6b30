// What a person can start with a message, wherever it is shown.

import type { Message } from '@smartspace/client';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';

/** The commands that need another part of the page than the message. */
export interface MessageCommands {
  /** Lets the next message reply to this one. */
  reply: (message: Message) => void;
  /** Puts the text into the composer, to change it. */
  edit: (message: Message) => void;
  /** Asks before the message is deleted. */
  askToDelete: (message: Message) => void;
  /** Offers emoji to react with. */
  chooseEmoji: (message: Message) => void;
}

const nothing = () => {};

export const CommandsContext = createContext<MessageCommands>({
  reply: nothing,
  edit: nothing,
  askToDelete: nothing,
  chooseEmoji: nothing,
});

export const useCommands = (): MessageCommands => useContext(CommandsContext);
