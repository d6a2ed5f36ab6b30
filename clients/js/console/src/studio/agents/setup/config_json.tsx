// The whole configuration of an agent as one JSON document.

import type { JSX } from 'preact';
import { entityPath } from '../../../api/paths.ts';
import { isObject } from '../../../forms/schema/json.ts';
import { TextArea } from '../../save_form/fields.tsx';
import { SaveForm } from '../../save_form/save_form.tsx';
import type { AgentEntity } from '../agent_tab.ts';
import { configPatch } from './setup_body.ts';
import type { SetupFormProps } from './setup_form.tsx';

/** The configuration as editable JSON. It saves the differences only. */
export function ConfigJson(props: SetupFormProps): JSX.Element {
  const { agent, isBlocked, onSaved, onNewer, onUndo } = props;
  const config = agent.agent;
  const bodyWith = (body: Record<string, unknown>) => {
    if (isBlocked()) return 'The form has changes that are not saved. Save or undo them first.';
    const edited = 'agent' in body ? body.agent : config;
    return isObject(edited) ? configPatch(edited, config) : 'Write a JSON object.';
  };
  return (
    <SaveForm<AgentEntity>
      request={{ method: 'PATCH', path: entityPath(agent.id) }}
      loaded={agent}
      onNewer={onNewer}
      submit="Save JSON"
      label="Configuration as JSON"
      bodyWith={bodyWith}
      onSaved={onSaved}
      actions={
        <button type="button" class="quiet" onClick={onUndo}>
          Undo changes
        </button>
      }
    >
      <TextArea
        name="/agent"
        label="Configuration"
        kind="json"
        rows={28}
        required
        value={JSON.stringify(config, null, 2)}
        hint="Only what you change is sent. A member that you remove gets its default."
      />
    </SaveForm>
  );
}
