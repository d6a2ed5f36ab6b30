// A space in `useChat`: agents write at once, people speak in between, forms are answered, and a
// page that is loaded again goes on.

import { useChat } from '@ai-sdk/react';
import {
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
} from 'ai';
import { useState } from 'react';
import { createRoot } from 'react-dom/client';

const settings = new URLSearchParams(location.hash.slice(1));
const api = settings.get('api') ?? 'http://127.0.0.1:7700';
const transport = new DefaultChatTransport({
  api: `${api}/v1/chat`,
  headers: { authorization: `Bearer ${settings.get('token')}` },
});
const isAnswered = (chat) =>
  lastAssistantMessageIsCompleteWithToolCalls(chat) ||
  lastAssistantMessageIsCompleteWithApprovalResponses(chat);

function Chat({ space }) {
  const chat = useChat({
    id: space,
    transport,
    resume: true,
    sendAutomaticallyWhen: isAnswered,
  });
  return (
    <>
      <div className="messages" role="log" aria-label="Messages">
        {chat.messages.map((message) => (
          <Message key={message.id} message={message} chat={chat} />
        ))}
      </div>
      {chat.error && <p role="alert">{chat.error.message}</p>}
      <Composer onSend={(text) => chat.sendMessage({ text })} />
    </>
  );
}

function Message({ message: { role, parts }, chat }) {
  // A text has no id. It follows the part that says who wrote it.
  const dropped = new Set(parts.filter(({ type }) => type === 'data-dropped').map(({ id }) => id));
  let writer;
  return parts.map((part, index) => {
    switch (part.type) {
      case 'data-message': {
        writer = part;
        const { sender, text } = part.data;
        return text && <Text key={index} name={sender.name} text={text} />;
      }
      case 'text':
        if (role === 'user') return <Text key={index} isOwn text={part.text} />;
        if (dropped.has(writer?.id)) return null;
        return <Text key={index} name={writer?.data.sender.name} text={part.text} />;
      case 'dynamic-tool':
        return <Card key={index} part={part} chat={chat} />;
      default:
        return null;
    }
  });
}

const Text = ({ name, text, isOwn }) => (
  <p className={isOwn ? 'own' : undefined}>
    {name && <span className="name">{name}</span>}
    {text}
  </p>
);

function Card({ part, chat }) {
  const { toolName, toolCallId, input, output, errorText, approval } = part;
  const isOpen = ['input-available', 'approval-requested'].includes(part.state);
  const isForm = isOpen && !part.providerExecuted;
  const answer = (choice) =>
    approval
      ? chat.addToolApprovalResponse({ id: approval.id, approved: choice === input.options[0] })
      : chat.addToolOutput({ tool: toolName, toolCallId, output: { choice } });
  return (
    <div className="card">
      <span className="name">{input?.message ?? toolName}</span>
      {output !== undefined && JSON.stringify(output)}
      {errorText}
      {isForm && (
        <div className="options">
          {input.options?.map((option) => (
            <button key={option} onClick={() => answer(option)}>
              {option}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}

function Composer({ onSend }) {
  const [text, setText] = useState('');
  const send = (event) => {
    event.preventDefault();
    if (text.trim()) onSend(text);
    setText('');
  };
  return (
    <form onSubmit={send}>
      <input aria-label="Message" value={text} onChange={({ target }) => setText(target.value)} />
      <button>Send</button>
    </form>
  );
}

const space = settings.get('space');
createRoot(document.getElementById('page')).render(
  space && settings.has('token') ? (
    <Chat space={space} />
  ) : (
    <p>Open this page with #token=…&amp;space=spc_…</p>
  ),
);
