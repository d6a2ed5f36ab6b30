// The console's entry: signing in, choosing a space, and handing what comes to the parts that show it.
//
// session.js key · api.js HTTP · live.js socket · room.js one space's truth (messages.js, streams.js, runs.js)
// timeline.js with bubbles.js, entry.js, dispatch.js · working.js · composer.js with speakers.js · newspace.js · head.js
// card.js a tool's call: question.js, terms.js, form.js, answered.js, outcome.js, details.js · answers.js
// form.js what is asked: schema.js, fields.js, answer.js with numbers.js, choicebuttons.js, declining.js

import { Answers } from './answers.js';
import { Api } from './api.js';
import { choose, chosen } from './choices.js';
import { Composer } from './composer.js';
import { byId, setText } from './element.js';
import { forgetSpaces, showNotice, showRoomHead, showSpaces, showStatus } from './head.js';
import { Live } from './live.js';
import { NewSpace } from './newspace.js';
import { Room } from './room.js';
import { forgetKey, keepKey, storedKey, takeKeyFromAddress } from './session.js';
import { Speakers } from './speakers.js';
import { Timeline } from './timeline.js';
import { Working } from './working.js';

const REFUSED = 'The server does not accept this key.';

/** Everything from signing in to signing out. */
class Session {
  #api;
  #live = null;
  #room = null;
  #spaces = [];
  #wanted = null;
  #isDrawing = false;
  #isOver = false;

  constructor(key) {
    this.#api = new Api(key, () => this.#isOver || leave(REFUSED));
    const speakers = new Speakers();
    this.answers = new Answers(this.#api, speakers);
    const told = { sent: (room, message) => this.#sent(room, message), switched: () => this.#draw() };
    this.composer = new Composer(this.#api, speakers, told);
    this.working = new Working((runId) => this.#cancel(runId));
    this.newSpace = new NewSpace(this.#api, (space) => this.#made(space));
  }

  /** Signs in: shows the spaces and opens the last one chosen. */
  async start() {
    this.#spaces = await this.#api.all('/v1/spaces');
    if (this.#isOver) return;
    showConsole();
    this.#live = new Live(this.#api, (frame) => this.#received(frame), (status) => this.#status(status));
    const last = this.#spaces.find(({ id }) => id === chosen('space')) ?? this.#spaces[0];
    if (last) await this.#select(last.id);
    else showNotice('There is no space yet. Create one with “New space”.');
  }

  /** Shows what could not be done. */
  report(problem) {
    if (!this.#isOver) showNotice(problem.message);
  }

  /** Ends it. */
  end() {
    this.#isOver = true;
    this.#live?.stop();
    this.#room?.close();
    this.newSpace.close();
    forgetSpaces();
  }

  async #select(spaceId) {
    this.#wanted = spaceId;
    showNotice('');
    try {
      const room = await Room.open(this.#api, spaceId, () => this.#draw());
      if (this.#wanted !== spaceId || this.#isOver) return room.close();
      this.#room?.close();
      this.#room = room;
      choose('space', spaceId);
      this.#live.follow(spaceId, room.lastSeq);
      this.#draw();
    } catch (problem) {
      if (this.#wanted === spaceId) this.report(problem);
    }
    return undefined;
  }

  #received(frame) {
    if (frame.type === 'error') showNotice(`${frame.title ?? 'Error'}: ${frame.detail ?? frame.status}`);
    this.#room?.handle(frame);
  }

  // Spaces that others made meanwhile have no event of their own here.
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

  async #made(space) {
    this.#spaces = [...this.#spaces, space];
    await this.#select(space.id);
    this.#reloadSpaces();
  }

  #sent(room, message) {
    if (this.#isOver) return;
    room.take(message);
    if (room === this.#room) timeline.followEnd();
  }

  // True when it is canceled, or had ended anyway.
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

  // Many frames make one drawing.
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
      this.working.show(room);
      this.composer.show(room);
      // It takes the room that those leave, and has to know it when a space is opened.
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
  // A header holds printable ASCII only; no such key can be right.
  if (!/^[\x21-\x7e]+$/.test(key)) return leave(REFUSED);
  const entered = new Session(key);
  session = entered;
  try {
    await entered.start();
  } catch (problem) {
    if (session === entered) showSignIn(problem.message);
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
  // Nothing of what was shown stays in the page.
  location.reload();
});
byId('new-space').addEventListener('click', () => session?.newSpace.open());
// The printed address opened again in the same tab changes the fragment only.
addEventListener('hashchange', () => takeKeyFromAddress() && enter());

takeKeyFromAddress();
enter();
