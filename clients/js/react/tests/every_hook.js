// A component that uses every hook and shows what it returns.

import { SPACE_ID } from './fake_server.js';

export function everyHook({ React, hooks }, client) {
  const { createElement: h } = React;

  function Everything() {
    const { loadOlder, ...timeline } = hooks.useTimeline();
    const shown = {
      client: typeof hooks.useClient().request,
      connection: hooks.useConnection().state,
      spaces: hooks.useSpaces(),
      space: hooks.useSpace(),
      timeline,
      loadOlder: typeof loadOlder,
      stream: hooks.useStream('str_1'),
      send: typeof hooks.useSend(),
      answer: typeof hooks.useAnswer().answer,
      runs: hooks.useRuns(),
      run: hooks.useRun('run_1'),
      members: hooks.useMembers(),
      presence: hooks.usePresence(),
      forms: [hooks.useForms(), hooks.useForms(SPACE_ID)],
      thread: hooks.useThread(1),
      pins: hooks.usePins(),
      inbox: hooks.useInbox(),
      mentions: hooks.useMentions(),
      approval: hooks.useApproval('cal_1'),
      preview: [hooks.usePreview('Hello'), hooks.usePreview(SPACE_ID, '')],
      search: [hooks.useSearch(null), hooks.useSearch({ q: 'Hello' })],
      revisions: hooks.useRevisions('ent_guide'),
      unread: hooks.useUnread(),
      me: hooks.useMe(),
      uploads: hooks.useUploads(),
      fileUrls: [hooks.useFileUrl(null), hooks.useFileUrl('att_1')],
    };
    return h('pre', null, JSON.stringify(shown));
  }

  return h(
    hooks.SmartspaceProvider,
    { client },
    h(hooks.SpaceProvider, { id: SPACE_ID }, h(Everything)),
  );
}
