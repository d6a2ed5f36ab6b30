// Tries a tool with one real call, which is stored nowhere. The result is shown as a model would
// get it.

import { useClient } from '@smartspace/react';
import type { JSX } from 'preact';
import { useId, useState } from 'preact/hooks';
import { wordsOf } from '../../../ui/notices.tsx';
import { visible } from '../../../ui/visible.ts';
import { durationText } from '../../../why/words.ts';
import { sampleOf, type ToolDocument } from './tool_fields.ts';

/** The result of a call. */
interface TestResult {
  status: number | null;
  milliseconds: number;
  isError: boolean;
  result: string;
}

/** A sample input, the button, and the result. */
export function ToolTest({ tool }: { tool: ToolDocument }): JSX.Element {
  const client = useClient();
  const id = useId();
  // Null: the sample that fits the parameters.
  const [typed, setTyped] = useState<string | null>(null);
  const [isBusy, setIsBusy] = useState(false);
  const [result, setResult] = useState<TestResult | null>(null);
  const [problem, setProblem] = useState('');
  const input = typed ?? JSON.stringify(sampleOf(tool), null, 2);
  const test = async () => {
    setIsBusy(true);
    setProblem('');
    setResult(null);
    try {
      const body = { tool, input: JSON.parse(input) as unknown };
      setResult(await client.request<TestResult>('POST', '/v1/tools/test', { body }));
    } catch (error) {
      setProblem(
        error instanceof SyntaxError ? `The input is not JSON: ${error.message}` : wordsOf(error),
      );
    }
    setIsBusy(false);
  };
  return (
    <section class="fieldset tool-test" aria-label="Test">
      <div class="field">
        <label for={id}>Input of a test call</label>
        <textarea
          id={id}
          class="json"
          rows={4}
          value={input}
          spellcheck={false}
          onInput={({ currentTarget }) => setTyped(currentTarget.value)}
        />
      </div>
      <div class="form-row">
        <button type="button" disabled={isBusy} onClick={test}>
          Test
        </button>
        <span class="note">One real call. Nothing is stored, and no agent runs.</span>
      </div>
      <p class="problem" role="alert">
        {visible(problem)}
      </p>
      <div role="status">{result ? <Result result={result} /> : null}</div>
    </section>
  );
}

function Result({ result: { status, milliseconds, isError, result } }: { result: TestResult }) {
  const facts = [
    isError ? 'failed' : 'completed',
    status === null ? '' : `status ${status}`,
    durationText(milliseconds),
  ];
  return (
    <>
      <p class={isError ? 'problem' : 'note'}>{facts.filter((text) => text !== '').join(' · ')}</p>
      <pre class="json-text" tabIndex={0} aria-label="The result as a model gets it">
        {visible(result)}
      </pre>
    </>
  );
}
