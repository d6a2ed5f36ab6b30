// The tab Setup of an agent: its configuration as a form and as JSON, and a test of its model.

import type { Entity } from '@smartspace/client';
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Part } from '../ui/page.tsx';
import type { AgentTabProps } from './agent.tsx';
import { ConfigJson } from './config_json.tsx';
import { hasUnsaved, showSaved } from './controls.ts';
import { SetupForm } from './setup_form.tsx';
import { TestModel } from './test_model.tsx';

/** The tab Setup. */
export function Setup({ agent, onChanged }: AgentTabProps): JSX.Element {
  const form = useRef<HTMLDivElement>(null);
  const json = useRef<HTMLDivElement>(null);
  // The state that the fields show at first. What was typed is a change of this one.
  const [shown, setShown] = useState(agent);
  useEffect(() => {
    if (!hasUnsaved(form.current!) && !hasUnsaved(json.current!)) setShown(agent);
  }, [agent]);
  useLayoutEffect(() => {
    showSaved(form.current!);
    showSaved(json.current!);
  }, [shown]);
  const saved = (answer: Entity) => {
    setShown(answer);
    onChanged(answer);
  };
  return (
    <div class="setup">
      <div ref={form} class="setup-form">
        <Part title="Configuration">
          <SetupForm
            agent={shown}
            isBlocked={() => hasUnsaved(json.current!)}
            onSaved={saved}
            onUndo={() => showSaved(form.current!)}
          />
        </Part>
      </div>
      <div class="setup-side">
        <Part title="Test the model">
          <TestModel key={agent.id} agent={agent} />
        </Part>
        <div ref={json}>
          <Part title="Configuration as JSON">
            <ConfigJson
              agent={shown}
              isBlocked={() => hasUnsaved(form.current!)}
              onSaved={saved}
              onUndo={() => showSaved(json.current!)}
            />
          </Part>
        </div>
      </div>
    </div>
  );
}
