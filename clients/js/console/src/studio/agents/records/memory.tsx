// The memory of an agent: a value for each key.

import type { Schemas } from '@smartspace/client';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { agentPath } from '../../../api/paths.ts';
import { isolated } from '../../../ui/visible.ts';
import { useKnown, type Known } from '../../data/known.ts';
import { Loaded, Part } from '../../frame/page.tsx';
import { Ago } from '../../runs/ago.tsx';
import { TextArea, TextField } from '../../save_form/fields.tsx';
import { SaveForm } from '../../save_form/save_form.tsx';
import { Folded } from './folded.tsx';
import { RecordItem, useRecords, type RecordLineProps } from './record.tsx';

type MemoryItem = Schemas['Memory'];

/** The tab with the memories of an agent. */
export function Memory({ agentId }: { agentId: string }): JSX.Element {
  const path = agentPath(agentId, 'memories');
  const { items, isLoading, error, reload } = useRecords<MemoryItem>(path);
  const known = useKnown({ taken: items.map(({ key }) => key), error }, isLoading);
  return (
    <>
      <Part title="Memory">
        <Loaded
          isLoading={isLoading}
          error={error}
          isEmpty={items.length === 0}
          empty={
            'The agent remembers nothing yet. It stores facts here when it calls set_memories, ' +
            'or you add one below. Its prompt shows them.'
          }
        >
          <ul class="records" aria-label="Memories">
            {items.map((memory) => (
              <MemoryLine
                key={memory.key}
                record={memory}
                path={agentPath(agentId, 'memories', memory.key)}
                onChanged={reload}
              />
            ))}
          </ul>
        </Loaded>
      </Part>
      <AddMemory agentId={agentId} known={known} onSaved={reload} />
    </>
  );
}

function MemoryLine({ record, ...props }: RecordLineProps<MemoryItem>) {
  const { key, value, updatedAt } = record;
  return (
    <RecordItem
      {...props}
      title={key}
      about={
        <span class="note">
          changed <Ago at={updatedAt} />
        </span>
      }
      verb="Edit"
      question={`Delete the memory “${isolated(key)}”? The agent forgets it.`}
      editor={(editor) => (
        <SaveForm
          label={`Edit ${isolated(key)}`}
          request={{ method: 'PUT', path: props.path }}
          submit="Save"
          {...editor}
        >
          <TextArea name="/value" label="Value" kind="plain" value={value} />
        </SaveForm>
      )}
    >
      <Folded text={value} />
    </RecordItem>
  );
}

interface AddProps {
  agentId: string;
  /** The keys of all memories. */
  known: () => Promise<Known>;
  onSaved: () => void;
}

function AddMemory({ agentId, known, onSaved }: AddProps) {
  const [key, setKey] = useState('');
  const [added, setAdded] = useState(0);
  const saved = () => {
    setKey('');
    setAdded(added + 1);
    onSaved();
  };
  // eslint-disable-next-line @typescript-eslint/no-unused-vars -- the path has the key
  const body = async ({ key: _, ...rest }: Record<string, unknown>) => {
    // PUT would replace the value without a question.
    const { taken, error } = await known();
    if (error) return 'The memories above could not be loaded. Try again in a moment.';
    if (taken.includes(key)) return 'There is a memory with this key. Edit it in the list above.';
    return rest;
  };
  return (
    <Part title="Add a memory">
      <SaveForm
        label="Add a memory"
        request={{ method: 'PUT', path: agentPath(agentId, 'memories', key) }}
        submit="Add"
        done="Added"
        bodyWith={body}
        onSaved={saved}
      >
        <div key={added} class="fieldset">
          <div onInput={({ target }) => setKey((target as HTMLInputElement).value.trim())}>
            <TextField name="/key" label="Key" required maxLength={128} />
          </div>
          <TextArea name="/value" label="Value" kind="plain" />
        </div>
      </SaveForm>
    </Part>
  );
}
