// The tab Tools of an agent: built-in tools, configured tools and MCP servers.

import type { Entity, Schemas } from '@smartspace/client';
import type { JSX } from 'preact';
import { entityPath } from '../../../api/paths.ts';
import { visible } from '../../../ui/visible.ts';
import { Part } from '../../frame/page.tsx';
import { CheckField } from '../../save_form/fields.tsx';
import { SaveForm } from '../../save_form/save_form.tsx';
import type { AgentTabProps } from '../agent_tab.ts';
import { Documents } from './documents.tsx';
import { placeWords, slotsOf } from './tool_fields.ts';
import { ToolForm } from './tool_form.tsx';
import { ToolTest } from './tool_test.tsx';
import { executionWords, GROUPS, SERVER_DRAFTS, TOOL_DRAFTS, traitsOf } from './tool_words.ts';

export function Tools({ agent, onChanged }: AgentTabProps): JSX.Element {
  const { builtins, runtime } = agent.agent;
  if (runtime)
    return (
      <Part title="Tools">
        <p class="empty">
          The agent works elsewhere and brings its own tools. Smartspace gives it none.
        </p>
      </Part>
    );
  return (
    <>
      <Part title="Tools of its own">
        <Documents
          {...{ agent, onChanged }}
          noun="tool"
          itemsOf={(each) => each.agent?.tools ?? []}
          pointer="/agent/tools"
          bodyOf={(items) => ({ agent: { tools: items } })}
          drafts={TOOL_DRAFTS}
          view={(tool) => <ToolView tool={tool} />}
          fields={(tool, put) => (
            <div>
              <ToolForm tool={tool} onChange={put} />
              <ToolTest tool={tool} />
            </div>
          )}
          placeWords={placeWords}
          slotsOf={slotsOf}
          empty={
            'No tool is configured. A tool asks people with a form, calls a server, computes or ' +
            'returns a constant. Add one below.'
          }
        />
      </Part>
      <Part title="MCP servers">
        <Documents
          {...{ agent, onChanged }}
          noun="server"
          itemsOf={(each) => each.agent?.mcp?.servers ?? []}
          pointer="/agent/mcp/servers"
          bodyOf={(items) => ({ agent: { mcp: { servers: items } } })}
          drafts={SERVER_DRAFTS}
          view={(server) => <ServerView server={server} />}
          hint={
            <>
              A header may hold a secret of Smartspace:{' '}
              <code>{'"headers": {"Authorization": "Bearer ${secret.DOCS_KEY}"}'}</code>
            </>
          }
          empty={
            'No MCP server is configured. The agent can call the tools of a server that you add ' +
            'below.'
          }
        />
      </Part>
      <Part title="Built-in tools">
        <SaveForm<Entity>
          request={{ method: 'PATCH', path: entityPath(agent.id) }}
          loaded={agent}
          onNewer={onChanged}
          submit="Save built-in tools"
          label="Built-in tools"
          onSaved={onChanged}
        >
          <p class="note">
            Each agent has send_message, enter_space, read_messages, read_attachment and
            skip_response. These groups can be turned off:
          </p>
          {GROUPS.map(({ group, label, tools: names }) => (
            <CheckField
              key={group}
              name={`/agent/builtins/${group}`}
              label={label}
              value={builtins[group]}
              hint={names}
            />
          ))}
        </SaveForm>
      </Part>
    </>
  );
}

function ToolView({ tool }: { tool: Schemas['Tool'] }) {
  const { description, inputSchema, execution } = tool;
  const words = [executionWords(execution), ...traitsOf(tool)];
  return (
    <>
      <p dir="auto">{description}</p>
      <p class="note">{words.join(' · ')}</p>
      <Json title="Input schema" value={inputSchema} />
      {execution.type === 'space' && execution.resultSchema ? (
        <Json title="Answer schema" value={execution.resultSchema} />
      ) : null}
    </>
  );
}

function ServerView({ server }: { server: Schemas['McpServer'] }) {
  const { url, allowedTools, visible } = server;
  const words = [
    allowedTools ? `Tools: ${allowedTools.join(', ') || 'none'}` : 'All of its tools',
    visible ? 'shown in the space' : '',
  ];
  return (
    <>
      <p dir="ltr">{url}</p>
      <p class="note">{words.filter(Boolean).join(' · ')}</p>
    </>
  );
}

const Json = ({ title, value }: { title: string; value: unknown }) => (
  <details>
    <summary>{title}</summary>
    <pre class="json document-json">{visible(JSON.stringify(value, null, 2))}</pre>
  </details>
);
