// Check boxes of the spaces that a new agent joins.

import type { SpaceInfo } from '@smartspace/client';
import type { JSX } from 'preact';
import { wordsOf } from '../../../ui/notices.tsx';

export interface SpaceChoicesProps {
  spaces: readonly SpaceInfo[];
  isLoading: boolean;
  error: Error | null;
  /** There are more spaces than these. */
  hasMore: boolean;
  /** The ids of the chosen ones. */
  chosen: readonly string[];
  onChoose: (chosen: string[]) => void;
}

export function SpaceChoices(props: SpaceChoicesProps): JSX.Element {
  const { spaces, isLoading, error, hasMore, chosen, onChoose } = props;
  const toggle = (id: string, isChosen: boolean) =>
    onChoose(isChosen ? [...chosen, id] : chosen.filter((each) => each !== id));
  const empty = isLoading ? 'Loading…' : 'There is no space yet. “New space” makes one.';
  return (
    <fieldset>
      <legend>Add to these spaces</legend>
      {error ? (
        <p class="problem" role="alert">
          {wordsOf(error)}
        </p>
      ) : null}
      {spaces.length === 0 && !error ? <p class="note">{empty}</p> : null}
      <div class="choices">
        {spaces.map(({ id, name }) => (
          <label key={id}>
            <input
              type="checkbox"
              checked={chosen.includes(id)}
              onChange={(event) => toggle(id, event.currentTarget.checked)}
            />
            <span dir="auto">{name}</span>
          </label>
        ))}
      </div>
      {hasMore ? (
        <p class="note">These are the oldest 200. Add it to others in their settings.</p>
      ) : null}
    </fieldset>
  );
}
