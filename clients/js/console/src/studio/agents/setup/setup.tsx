// The tab Setup of an agent: its configuration as a form and as JSON, and a test of its model.

import type { JSX, RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Part } from '../../frame/page.tsx';
import { changedIn, fieldsOf, hasChanges, type Control } from '../../save_form/body.ts';
import type { AgentEntity, AgentTabProps } from '../agent_tab.ts';
import { TestModel } from '../trial/test_model.tsx';
import { Approvals } from './approvals.tsx';
import { ConfigJson } from './config_json.tsx';
import { SetupForm } from './setup_form.tsx';
import { showSaved } from './show_saved.ts';

export function Setup({ agent, onChanged }: AgentTabProps): JSX.Element {
  const form = useRef<HTMLDivElement>(null);
  const json = useRef<HTMLDivElement>(null);
  // The state that the fields show at first. A save sends the differences.
  const [shown, setShown] = useState(agent);
  // These fields do not follow the server: the person has changed them.
  const unsaved = useRef<ReadonlySet<Control>>(new Set());
  const editors = () => [form.current, json.current].filter((each) => each !== null);
  const show = (next: AgentEntity) => {
    unsaved.current = new Set(editors().flatMap(changedIn));
    setShown(next);
  };
  useEffect(() => show(agent), [agent]);
  useLayoutEffect(() => {
    for (const editor of editors()) showSaved(editor, unsaved.current);
  }, [shown]);
  const undoForm = useUndo(form);
  const undoJson = useUndo(json);
  const saved = (answer: AgentEntity) => {
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
            isBlocked={() => json.current !== null && hasChanges(json.current)}
            onSaved={saved}
            onNewer={onChanged}
            onUndo={undoForm.undo}
          />
        </Part>
      </div>
      <div class="setup-side">
        {agent.agent?.runtime ? null : (
          <Part title="Approvals">
            <Approvals key={agent.id} agent={agent} onSaved={saved} />
          </Part>
        )}
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
              isBlocked={() => form.current !== null && hasChanges(form.current)}
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
    if (count > 0 && place.current) fieldsOf(place.current)[0]?.focus();
  }, [count]);
  return { count, undo: () => setCount(count + 1) };
}
