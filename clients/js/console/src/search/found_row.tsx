// A message that was found, between its neighbours. It opens the space there.

import type { SearchItem, SearchNeighbour } from '@smartspace/client';
import type { JSX } from 'preact';
import { excerptOf } from '../message/message_words.ts';
import { hashOf } from '../navigation/address.ts';
import { timeText } from '../ui/times.ts';
import { isolated, shownName } from '../ui/visible.ts';
import { Excerpt } from './excerpt.tsx';

export function FoundRow({ item }: { item: SearchItem }): JSX.Element {
  const { spaceId, spaceName, seq, at, sender, alsoSeqs, before, after } = item;
  const shown = [...before, ...after].map((each) => each.seq);
  const more = alsoSeqs.filter((each) => !shown.includes(each)).length;
  // The excerpt may be the name of a file.
  const files = item.files.filter((name) => !item.excerpt.includes(name));
  const near = (each: SearchNeighbour) => (
    <Neighbour key={each.messageId} near={each} isFound={alsoSeqs.includes(each.seq)} />
  );
  return (
    <li>
      <a class="mention-row" href={hashOf(spaceId, seq)}>
        {before.map(near)}
        <span>
          <strong>
            <bdi>{shownName(sender)}</bdi>
          </strong>{' '}
          <bdi>
            <Excerpt excerpt={item.excerpt} matches={item.matches} />
          </bdi>
        </span>
        {files.length > 0 ? <span>{files.map(isolated).join(', ')}</span> : null}
        {after.map(near)}
        <span class="note">
          {`in ${isolated(spaceName)} · `}
          <time dateTime={at}>{timeText(Date.parse(at))}</time>
          {more > 0 ? ` · and ${more} more nearby` : ''}
        </span>
      </a>
    </li>
  );
}

interface NeighbourProps {
  near: SearchNeighbour;
  /** It was found itself. */
  isFound: boolean;
}

const Neighbour = ({ near: { sender, text }, isFound }: NeighbourProps) => (
  <span class={isFound ? 'note also' : 'note'}>
    {isFound ? <span class="unseen">Found too: </span> : null}
    <bdi>{shownName(sender)}</bdi>
    {': '}
    <bdi>{excerptOf(text)}</bdi>
  </span>
);
