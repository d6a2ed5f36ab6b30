// The fields of an agent's model.

import type { Schemas } from '@smartspace/client';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { NumberField, SelectField, TextArea, TextField } from '../../save_form/fields.tsx';
import {
  modelsOf,
  modelText,
  needsOf,
  providerChoices,
  SCRIPT_HINT,
  windowWords,
} from './models.ts';
import { useProviders } from './provider_list.ts';

/** The model of an agent and its settings. */
export function ModelFields({ model }: { model: Schemas['ModelConfig'] }): JSX.Element {
  const [provider, setProvider] = useState(model.provider);
  useEffect(() => setProvider(model.provider), [model]);
  const listed = useProviders();
  return (
    <>
      <div class="columns">
        <SelectField
          name="/agent/model/provider"
          label="Provider"
          value={model.provider}
          options={providerChoices(listed, model.provider)}
          onChoose={setProvider}
          hint={needsOf(provider, listed)}
        />
        <TextField
          name="/agent/model/name"
          label="Model"
          value={model.name}
          required
          options={modelsOf(provider)}
        />
      </div>
      {provider === 'scripted' ? (
        <TextArea
          name="/agent/model/script"
          label="Script"
          kind="json"
          rows={8}
          value={model.script ? JSON.stringify(model.script, null, 2) : ''}
          hint={SCRIPT_HINT}
        />
      ) : null}
      <div class="columns">
        <NumberField
          name="/agent/model/temperature"
          label="Temperature"
          value={model.temperature}
          min={0}
          max={2}
          step="any"
          placeholder="the provider’s"
        />
        <NumberField
          name="/agent/model/maxOutputTokens"
          label="Tokens of an answer"
          value={model.maxOutputTokens}
          min={1}
          placeholder="4096"
        />
        <NumberField
          name="/agent/model/contextWindow"
          label="Tokens it can read"
          value={model.contextWindow}
          min={1000}
          placeholder="200000"
          hint={windowWords(listed, provider)}
        />
      </div>
      <TextArea
        name="/agent/model/fallback"
        label="Fallback models"
        rows={2}
        value={(model.fallback ?? []).map(modelText).join('\n')}
        placeholder="openai/gpt-5-mini"
        hint={
          'One provider/name a line, at most 4. They are tried in this order after the model ' +
          'has failed.'
        }
      />
    </>
  );
}
