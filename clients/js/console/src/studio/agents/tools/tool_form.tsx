// The form of a tool, beside its JSON: both show the same document.

import type { JSX } from 'preact';
import { useId } from 'preact/hooks';
import { isolated, visible } from '../../../ui/visible.ts';
import { TextField, useField } from '../../save_form/fields.tsx';
import {
  executionOf,
  isType,
  kindOf,
  parametersOf,
  secretOf,
  TYPES,
  withExecution,
  withParameters,
  withSecret,
  type Parameter,
  type ToolDocument,
} from './tool_fields.ts';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

export interface ToolFormProps {
  tool: ToolDocument;
  onChange: (tool: ToolDocument) => void;
}

/** Fields for a tool that calls an address, computes or returns a constant. */
export function ToolForm({ tool, onChange }: ToolFormProps): JSX.Element {
  const kind = kindOf(tool);
  return (
    <div class="fieldset tool-form" role="group" aria-label="The tool as a form">
      <TextField
        name="/name"
        label="Name"
        value={textOf(tool.name)}
        hint="Letters, digits and _. The model calls it by this name."
        onValue={(name) => onChange({ ...tool, name })}
      />
      <TextField
        name="/description"
        label="Description"
        value={textOf(tool.description)}
        hint="The model reads when to call it, and what for."
        onValue={(description) => onChange({ ...tool, description })}
      />
      {kind === 'http' ? <Http tool={tool} onChange={onChange} /> : null}
      {kind === 'compute' ? (
        <TextField
          name="/execution/expression"
          label="Expression"
          value={textOf(executionOf(tool).expression)}
          hint="CEL over the parameters, such as input.price * 1.19. Its value is the result."
          onValue={(expression) => onChange(withExecution(tool, { expression }))}
        />
      ) : null}
      {kind === 'static' ? <Constant tool={tool} onChange={onChange} /> : null}
      {kind === null ? (
        <p class="note">The other fields of this kind of tool are in its JSON.</p>
      ) : (
        <Parameters tool={tool} onChange={onChange} />
      )}
    </div>
  );
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : '');

function Http({ tool, onChange }: ToolFormProps) {
  const { control, notes } = useField({ name: '/execution/method', label: 'Method' });
  const { method, url } = executionOf(tool);
  return (
    <>
      <div class="field">
        <label for={control.id}>Method</label>
        <select
          {...control}
          value={textOf(method)}
          onChange={({ currentTarget }) =>
            onChange(withExecution(tool, { method: currentTarget.value }))
          }
        >
          {METHODS.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
        {notes}
      </div>
      <TextField
        name="/execution/url"
        label="Address"
        value={textOf(url)}
        hint="A parameter goes in as {{input.name}}."
        onValue={(url) => onChange(withExecution(tool, { url }))}
      />
      <TextField
        name="/execution/headers/Authorization"
        label="Secret"
        value={secretOf(tool)}
        placeholder="none"
        hint={
          'The name of a secret of Smartspace, such as WEATHER_KEY. It is sent as the bearer ' +
          'token, and no model sees it.'
        }
        onValue={(name) => onChange(withSecret(tool, name))}
      />
    </>
  );
}

function Constant({ tool, onChange }: ToolFormProps) {
  const { output } = executionOf(tool);
  return (
    <TextField
      name="/execution/output"
      label="Result"
      value={typeof output === 'string' ? output : (JSON.stringify(output) ?? '')}
      hint="Every call returns it: a text, or JSON."
      onValue={(text) => onChange(withExecution(tool, { output: parsed(text) }))}
    />
  );
}

// A text that is no JSON is a text.
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function Parameters({ tool, onChange }: ToolFormProps) {
  const { notes } = useField({ name: '/inputSchema', label: 'Parameters' });
  const parameters = parametersOf(tool);
  if (!parameters)
    return <p class="note">Its parameters have a schema that only the JSON can show.</p>;
  const put = (next: readonly Parameter[]) => onChange(withParameters(tool, next));
  const change = (index: number, more: Partial<Parameter>) =>
    put(parameters.map((each, at) => (at === index ? { ...each, ...more } : each)));
  const add = () => {
    const taken = parameters.map(({ name }) => name);
    const number = [1, ...taken].findIndex((_, at) => !taken.includes(`parameter${at + 1}`)) + 1;
    const name = `parameter${number}`;
    put([...parameters, { name, type: 'string', description: '', isRequired: true }]);
  };
  return (
    <fieldset class="parameters">
      <legend>Parameters</legend>
      {parameters.map((parameter, index) => (
        <ParameterRow
          key={index}
          parameter={parameter}
          number={index + 1}
          isTaken={(name) => parameters.some((each, at) => at !== index && each.name === name)}
          onChange={(more) => change(index, more)}
          onRemove={() => put(parameters.filter((_, at) => at !== index))}
        />
      ))}
      <button type="button" class="quiet" onClick={add}>
        Add a parameter
      </button>
      {parameters.every(({ type }) => isType(type)) ? notes : null}
    </fieldset>
  );
}

interface ParameterRowProps {
  parameter: Parameter;
  number: number;
  isTaken: (name: string) => boolean;
  onChange: (more: Partial<Parameter>) => void;
  onRemove: () => void;
}

function ParameterRow({ parameter, number, isTaken, onChange, onRemove }: ParameterRowProps) {
  const id = useId();
  const { name, type, description, isRequired } = parameter;
  const isKnown = isType(type);
  return (
    <div class="form-row" role="group" aria-label={`Parameter ${number}`}>
      <input
        aria-label="Name of the parameter"
        value={name}
        // Two parameters of one name would become one.
        onInput={({ currentTarget: { value } }) => isTaken(value) || onChange({ name: value })}
      />
      <select
        aria-label="Kind"
        aria-invalid={isKnown ? undefined : 'true'}
        aria-describedby={isKnown ? undefined : id}
        value={type}
        onChange={({ currentTarget }) => onChange({ type: currentTarget.value })}
      >
        {isKnown ? null : <option value={type}>{type}</option>}
        {TYPES.map(({ value, text }) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
      <input
        class="wide"
        aria-label="What it means"
        placeholder="What it means"
        value={description}
        onInput={({ currentTarget }) => onChange({ description: currentTarget.value })}
      />
      <label class="check">
        <input
          type="checkbox"
          checked={isRequired}
          onChange={({ currentTarget }) => onChange({ isRequired: currentTarget.checked })}
        />
        Required
      </label>
      <button
        type="button"
        class="quiet"
        aria-label={`Remove ${isolated(name)}`}
        onClick={onRemove}
      >
        ×
      </button>
      {isKnown ? null : (
        <p id={id} class="problem">
          {`“${visible(type)}” is no type: choose the kind of ${isolated(name)}.`}
        </p>
      )}
    </div>
  );
}
