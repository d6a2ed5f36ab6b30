// The console's entry point: signs in, opens a space, and passes events to the views.
//
// Server:   api.js (HTTP), live.js (WebSocket), session.js (admin key)
// A space:  room.js with messages.js, streams.js and runs.js
// Page:     head.js, timeline.js with bubbles.js, entry.js and dispatch.js, active_runs.js,
//           composer.js with senders.js, new_space.js
// A call:   card.js with question.js, terms.js, form.js, answer_text.js, outcome.js, details.js
// A form:   form.js with schema.js, fields.js, form_values.js, numbers.js, option_buttons.js,
//           decline_form.js; answers.js sends it

import { ActiveRuns } from './active_runs.js';
import { Answers } from './answers.js';
import { Api } from './api.js';
import { Composer } from './composer.js';
import { byId, setText } from './dom.js';
import { forgetSpaces, showNotice, showRoomHead, showSpaces, showStatus } from './head.js';
import { Live } from './live.js';
import { NewSpace } from './new_space.js';
import { preference, setPreference } from './preferences.js';
import { Room } from './room.js';
import { Senders } from './senders.js';
import { forgetKey, keepKey, storedKey, takeKeyFromAddress } from './session.js';
import { Timeline } from './timeline.js';

const REFUSED = 'The server does not accept this key.';

/** Everything between signing in and signing out. */
class Session {
  #api;
  #live = null;
  #room = null;
  #spaces = [];
  #wantedId = null;
  #isDrawing = false;
  #isOver = false;

  constructor(key) {
    this.#api = new Api(key, () => this.#isOver || leave(REFUSED));
    const senders = new Senders();
    this.answers = new Answers(this.#api, senders);
    const listeners = {
      onSent: (room, message) => this.#sent(room, message),
      onSenderChange: () => this.#draw(),
    };
    this.composer = new Composer(this.#api, senders, listeners);
    this.activeRuns = new ActiveRuns((runId) => this.#cancel(runId));
    this.newSpace = new NewSpace(this.#api, (space) => this.#spaceCreated(space));
  }

  /** Signs in: shows the spaces and opens the one that was open last. */
  async start() {
    this.#spaces = await this.#api.all('/v1/spaces');
    if (this.#isOver) return;
    showConsole();
    this.#live = new Live(
      this.#api,
      (frame) => this.#received(frame),
      (status) => this.#status(status),
    );
    const last = this.#spaces.find(({ id }) => id === preference('space')) ?? this.#spaces[0];
    if (last) await this.#select(last.id);
    else showNotice('There is no space yet. Create one with “New space”.');
  }

  /** Shows why something failed. */
  report(problem) {
    if (!this.#isOver) showNotice(problem.message);
  }

  /** Ends the session. */
  end() {
    this.#isOver = true;
    this.#live?.stop();
    this.#room?.close();
    this.newSpace.close();
    forgetSpaces();
  }

  async #select(spaceId) {
    this.#wantedId = spaceId;
    showNotice('');
    try {
      const room = await Room.open(
        this.#api,
        spaceId,
        () => this.#draw(),
        (streamId) => this.#live.askForSnapshot(streamId),
      );
      if (this.#wantedId !== spaceId || this.#isOver) return room.close();
      this.#room?.close();
      this.#room = room;
      setPreference('space', spaceId);
      this.#live.follow(spaceId, room.lastSeq);
      this.#draw();
    } catch (problem) {
      if (this.#wantedId === spaceId) this.report(problem);
    }
    return undefined;
  }

  #received(frame) {
    if (frame.type === 'error')
      showNotice(`${frame.title ?? 'Error'}: ${frame.detail ?? frame.status}`);
    this.#room?.handle(frame);
  }

  // A connection gets no event for a space that somebody else created, so the list is reloaded.
  #status(status) {
    showStatus(status);
    if (status === 'live') this.#reloadSpaces();
  }

  async #reloadSpaces() {
    const spaces = await this.#api.all('/v1/spaces').catch(() => null);
    if (!spaces || this.#isOver) return;
    this.#spaces = spaces;
    this.#draw();
  }

  async #spaceCreated(space) {
    this.#spaces = [...this.#spaces, space];
    await this.#select(space.id);
    this.#reloadSpaces();
  }

  #sent(room, message) {
    if (this.#isOver) return;
    room.putMessage(message);
    if (room === this.#room) timeline.followEnd();
  }

  // Resolves to true if the run is canceled or had already ended.
  async #cancel(runId) {
    try {
      await this.#api.call('POST', `/v1/runs/${encodeURIComponent(runId)}/cancel`);
      return true;
    } catch (problem) {
      if (problem.status === 409) return true;
      this.report(problem);
      return false;
    }
  }

  // Redraws once per animation frame, however many events arrive.
  #draw() {
    if (this.#isDrawing) return;
    this.#isDrawing = true;
    requestAnimationFrame(() => {
      this.#isDrawing = false;
      if (this.#isOver) return;
      this.#show();
    });
  }

  #show() {
    const room = this.#room;
    if (room) {
      if (room.isGone) {
        this.#spaces = this.#spaces.filter(({ id }) => id !== room.space.id);
        showNotice('This space was deleted.');
      }
      this.#spaces = this.#spaces.map((space) => (space.id === room.space.id ? room.space : space));
      showRoomHead(room);
      this.activeRuns.show(room);
      this.composer.show(room);
      // The timeline is last: its height depends on the other parts, and it scrolls when a space is
      // opened.
      timeline.show(room, this.answers);
    }
    showSpaces(this.#spaces, room?.space.id, (id) => this.#select(id));
  }
}

let session = null;
const timeline = new Timeline((problem) => session?.report(problem));

function showConsole() {
  byId('sign-in').hidden = true;
  byId('console').hidden = false;
}

function showSignIn(problem) {
  byId('console').hidden = true;
  byId('sign-in').hidden = false;
  byId('key').value = '';
  setText(byId('sign-in-problem'), problem);
  document.title = 'Smartspace';
  byId('key').focus();
}

function leave(problem) {
  session?.end();
  session = null;
  forgetKey();
  showSignIn(problem);
}

async function enter() {
  session?.end();
  session = null;
  const key = storedKey();
  if (!key) return showSignIn('');
  // An HTTP header holds printable ASCII only, so a key with other characters is always wrong.
  if (!/^[\x21-\x7e]+$/.test(key)) return leave(REFUSED);
  const newSession = new Session(key);
  session = newSession;
  try {
    await newSession.start();
  } catch (problem) {
    if (session === newSession) showSignIn(problem.message);
  }
  return undefined;
}

byId('sign-in-form').addEventListener('submit', (event) => {
  event.preventDefault();
  keepKey(byId('key').value.trim());
  byId('key').value = '';
  enter();
});
byId('sign-out').addEventListener('click', () => {
  forgetKey();
  // A reload removes everything that was shown from the page.
  location.reload();
});
byId('new-space').addEventListener('click', () => session?.newSpace.open());
// Opening the printed address again in the same tab changes the fragment only.
addEventListener('hashchange', () => takeKeyFromAddress() && enter());

takeKeyFromAddress();
enter();
