// The tab Setup of an agent: its configuration as a form and as JSON, and a test of its model.

import type { Entity } from '@smartspace/client';
import type { JSX, RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { changedIn, fieldsOf, hasChanges, type Control } from '../../save_form/body.ts';
import { Part } from '../../frame/page.tsx';
import type { AgentTabProps } from '../agent/agent.tsx';
import { ConfigJson } from './config_json.tsx';
import { showSaved } from './show_saved.ts';
import { SetupForm } from './setup_form.tsx';
import { TestModel } from '../trial/test_model.tsx';

/** The tab Setup. */
export function Setup({ agent, onChanged }: AgentTabProps): JSX.Element {
  const form = useRef<HTMLDivElement>(null);
  const json = useRef<HTMLDivElement>(null);
  // The state that the fields show at first. A save sends what differs from it.
  const [shown, setShown] = useState(agent);
  // Fields with text that is not saved keep it.
  const kept = useRef<ReadonlySet<Control>>(new Set());
  const show = (next: Entity) => {
    kept.current = new Set([form, json].flatMap((place) => changedIn(place.current!)));
    setShown(next);
  };
  useEffect(() => show(agent), [agent]);
  useLayoutEffect(() => {
    for (const place of [form, json]) showSaved(place.current!, kept.current);
  }, [shown]);
  const undoForm = useUndo(form);
  const undoJson = useUndo(json);
  const saved = (answer: Entity) => {
    show(answer);
    onChanged(answer);
  };
  return (
    <div class="setup">
      <div ref={form} class="setup-form">
        <Part title="Configuration">
          <SetupForm
            key={undoForm.count}
            agent={shown}
            isBlocked={() => hasChanges(json.current!)}
            onSaved={saved}
            onNewer={onChanged}
            onUndo={undoForm.undo}
          />
        </Part>
      </div>
      <div class="setup-side">
        {agent.agent?.model ? (
          <Part title="Test the model">
            <TestModel key={agent.id} agent={agent} />
          </Part>
        ) : null}
        <div ref={json}>
          <Part title="Configuration as JSON">
            <ConfigJson
              key={undoJson.count}
              agent={shown}
              isBlocked={() => hasChanges(form.current!)}
              onSaved={saved}
              onNewer={onChanged}
              onUndo={undoJson.undo}
            />
          </Part>
        </div>
      </div>
    </div>
  );
}

// A new form has neither changes nor errors. Its first field gets the focus that the button had.
function useUndo(place: RefObject<HTMLElement | null>) {
  const [count, setCount] = useState(0);
  useLayoutEffect(() => {
    if (count > 0) fieldsOf(place.current!)[0]!.focus();
  }, [count]);
  return { count, undo: () => setCount(count + 1) };
}
