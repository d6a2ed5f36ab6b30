// The bar of a message, while the pointer or the focus is there.

import type { Message } from '@smartspace/client';
import type { JSX } from 'preact';
import type { SpaceMembers } from '../../members/space_members.ts';
import { useMessageCalls } from '../../message/use_message_calls.ts';
import { useLater } from '../scripts.ts';
import { useActive } from './use_active.ts';

interface BarProps {
  message: Message;
  members: SpaceMembers;
}

/** `host` is the node of the entry. */
export const BarAtHand = ({
  host,
  ...props
}: BarProps & { host: HTMLElement }): JSX.Element | null =>
  useActive(host) ? <Bar {...props} /> : null;

function Bar(props: BarProps) {
  const { script: later } = useLater();
  const calls = useMessageCalls(props.members);
  return later && <later.MessageBar {...props} calls={calls} />;
}
