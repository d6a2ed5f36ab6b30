// The filters of a search as chips: those that can be set with one press, and those of the text.

import type { JSX } from 'preact';
import { isolated } from '../ui/visible.ts';
import {
  FEATURES,
  filterIn,
  filtersOf,
  toggled,
  withoutFilter,
  type Choice,
  type Filter,
} from './query.ts';
import { focusBox } from './search_box.tsx';

export interface ChipsProps {
  text: string;
  onText: (text: string) => void;
  /** The spaces, since a filter may name one by its id. */
  spaces: readonly Choice[];
  isOperator: boolean;
  isNewestFirst: boolean;
  onSort: (isNewestFirst: boolean) => void;
}

export function Chips({
  text,
  onText,
  spaces,
  isOperator,
  isNewestFirst,
  onSort,
}: ChipsProps): JSX.Element {
  const chips = [
    // The operator writes no messages.
    ...(isOperator ? [] : [['from', 'me', 'From me']]),
    ...Object.entries(FEATURES).map(([value, words]) => ['has', value, words]),
  ] as [name: string, value: string, words: string][];
  const others = filtersOf(text).filter(
    ({ name, value }) => !chips.some((chip) => chip[0] === name && chip[1] === value.toLowerCase()),
  );
  const nameOf = ({ value }: Filter) => spaces.find(({ id }) => id === value)?.name ?? value;
  return (
    <div class="chips" role="group" aria-label="Filters">
      {others.map((filter) => (
        <button
          key={filter.start}
          type="button"
          class="chip"
          onClick={() => {
            onText(withoutFilter(text, filter));
            focusBox();
          }}
        >
          <span>
            {filter.name}: {isolated(nameOf(filter))}
          </span>
          <span aria-hidden="true">×</span>
          <span class="unseen">remove</span>
        </button>
      ))}
      {chips.map(([name, value, words]) => (
        <Chip
          key={value}
          words={words}
          isOn={filterIn(text, name, value) !== undefined}
          onPress={() => onText(toggled(text, name, value))}
        />
      ))}
      <Chip words="Newest first" isOn={isNewestFirst} onPress={() => onSort(!isNewestFirst)} />
    </div>
  );
}

interface ChipProps {
  words: string;
  isOn: boolean;
  onPress: () => void;
}

const Chip = ({ words, isOn, onPress }: ChipProps) => (
  <button type="button" class="chip" aria-pressed={isOn} onClick={onPress}>
    {words}
  </button>
);
