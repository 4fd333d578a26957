// The page: opens a conversation, says things in it, and shows the turns that come of them.

import { breaking } from "./break.js";
import { byId, icon, make } from "./make.js";
import { rulesEditor } from "./rules.js";
import { Refused, ask, onceKey, say, token } from "./service.js";
import { tabs } from "./tabs.js";
import { talk } from "./talk.js";
import { showRunning, showTurn, stateWord } from "./turn.js";

const box = byId("say");
const page = { agents: [], agent: "", conversation: "", snapshot: null, turns: [], selected: -1, busy: false };
const address = (what = "") => `agents/${encodeURIComponent(page.conversation)}${what}`;

const again = () => change("/rerun", true);
const conversation = talk({ choose: (text) => speak(text), why: lookInto, again, stop, renew: () => begin() });
const faults = breaking();
const editor = rulesEditor(() => page, (error, place) => problem(error, place));
const view = tabs(document.querySelector("[role=tablist]"), matchMedia("(max-width: 56rem)"), (name) => {
  if (name === "rules") editor.load();
});

/** Say something; `key` is that of an attempt before, which may have come through. */
async function speak(input, key = onceKey()) {
  if (page.busy || !input.trim() || !page.conversation) return;
  busy(true);
  notice(null);
  conversation.begin(input);
  box.value = "";
  grow();
  const tasks = [];
  showRunning(input, tasks);
  let ended = false;
  try {
    const headers = { ...faults.headers(), "Idempotency-Key": key };
    const told = (name, data) => (ended ||= hear(name, data, input, tasks));
    await say(page.conversation, input, { headers, hear: told });
    await refresh(true);
  } catch (error) {
    conversation.drop();
    const known = page.turns.length;
    if (error.status !== 0 || ended) await refresh(true).catch(() => undefined);
    if (page.turns.length === known && !ended) {
      box.value ||= input;
      grow();
    }
    showSelected();
    problem(error, byId("notice"), () => retry(input, key));
  } finally {
    busy(false);
    refocus(box);
  }
}

/** After a lost connection the turn may be there. If it is not, say it again: the key keeps it from counting twice. */
async function retry(input, key) {
  const known = page.turns.length;
  await guarded(() => refresh(true), () => retry(input, key));
  if (!byId("notice").hidden) return;
  if (box.value === input) box.value = "";
  if (page.turns.length === known) await speak(input, key);
}

/** Show an event of the running turn; true for its end. */
function hear(name, data, input, tasks) {
  if (name === "token") conversation.token(data);
  if (name === "task_start") {
    conversation.piece();
    tasks.push({ task: data.taskId, status: "running", durationMs: 0 });
  }
  if (name === "task_complete" || name === "task_failed") {
    const task = tasks.findLast((one) => one.task === data.taskId && one.status === "running");
    const status = name === "task_failed" ? "failed" : "succeeded";
    if (task) Object.assign(task, { status, durationMs: data.durationMs, errorType: data.errorType });
    if (data.withdraw) conversation.withdraw();
  }
  if (name.startsWith("task_")) showRunning(input, tasks);
  return name === "done";
}

/** Read the conversation anew; with `last` the last turn is looked into, and its reply is announced. */
async function refresh(last) {
  const id = page.conversation;
  const [snapshot, turns] = await Promise.all([
    ask("GET", address()),
    ask("GET", `api/conversations/${encodeURIComponent(id)}/turns`),
  ]);
  if (id !== page.conversation) return;
  Object.assign(page, { snapshot, turns });
  if (last || page.selected >= turns.length) page.selected = turns.length - 1;
  conversation.show(turns, page.selected);
  if (last && turns.length) conversation.announce(turns.at(-1));
  controls();
  editor.renewed();
  showSelected(); // which nobody need wait for
}

/** Show the selected turn, with all that its caller may see. */
async function showSelected() {
  const { conversation: id, selected } = page;
  const turn = page.turns[selected];
  if (!turn) {
    showTurn(null);
    return;
  }
  let trace = null;
  let refused = null;
  try {
    trace = await ask("GET", `api/conversations/${encodeURIComponent(id)}/turns/${selected}/trace`);
  } catch (error) {
    refused = error;
  }
  if (id !== page.conversation || turn !== page.turns[page.selected]) return; // another one was chosen meanwhile
  if (refused?.status === 401) needToken();
  if (refused?.status === 403) faults.show([], withheld("Only operators may make tasks fail."));
  const words = refused?.status === 403 ? "Rules, facts and reasons are for operators." : refused?.message;
  showTurn(turn, trace, words && withheld(words));
}

/** What stands in place of something that the caller may not see. */
function withheld(words) {
  return make("div", { class: "withheld" }, make("p", {}, words), tokenButton());
}

function lookInto(selected) {
  page.selected = selected;
  conversation.select(selected);
  view.show("turn");
  showSelected();
}

/** Undo, redo or say again. */
async function change(what, turning) {
  if (page.busy) return;
  const before = document.activeElement;
  busy(true);
  notice(null);
  if (turning) {
    const { input } = page.turns.at(-1);
    conversation.show(page.turns.slice(0, -1), -1);
    conversation.begin(input);
  }
  await guarded(async () => {
    await ask("POST", address(what), { headers: turning ? faults.headers() : {} });
    await refresh(true);
  }, () => change(what, turning));
  if (turning && !byId("notice").hidden) conversation.show(page.turns, page.selected);
  busy(false);
  refocus(before);
}

/** Interrupt the turn that runs; the stream tells what became of it. */
function stop() {
  ask("POST", address("/cancel")).catch((error) => problem(error, byId("notice")));
}

/** Start a conversation, or go on with the one that the address of this page names. */
async function begin(id = "") {
  if (page.busy) return;
  busy(true);
  notice(null);
  Object.assign(page, { conversation: id, snapshot: null, turns: [], selected: -1 });
  conversation.show([], -1);
  showTurn(null);
  byId("log-empty").textContent = "Opening the conversation …";
  await guarded(open, () => begin(id));
  if (!page.conversation || !page.snapshot) byId("log-empty").textContent = "There is no conversation yet.";
  busy(false);
}

async function open() {
  page.agents = await ask("GET", "api/agents");
  if (!page.agents.length) throw new Refused(404, "This service has no agent.");
  if (page.conversation) {
    try {
      page.agent = (await ask("GET", address())).agentId;
    } catch (error) {
      if (error.status !== 404) throw error;
      page.conversation = "";
    }
  }
  if (!page.agents.some(({ id }) => id === page.agent)) page.agent = page.agents[0].id;
  if (!page.conversation) {
    const started = await ask("POST", `agents/${encodeURIComponent(page.agent)}/start`);
    page.conversation = started.conversationId;
  }
  history.replaceState(null, "", `#${page.conversation}`);
  showAgent();
  if (view.current() === "rules") editor.load();
  await refresh(true);
}

function showAgent() {
  const chosen = page.agents.find(({ id }) => id === page.agent);
  const several = page.agents.length > 1;
  const select = byId("agent");
  select.hidden = !several;
  select.replaceChildren(...page.agents.map(({ id, name }) => make("option", { value: id }, name || id)));
  select.value = page.agent;
  byId("agent-name").textContent = several ? "" : chosen.name || chosen.id;
  document.title = `${chosen.name || chosen.id} · Turnout`;
  faults.show(chosen.tasks);
}

function controls() {
  const { snapshot, busy: working } = page;
  const open = Boolean(snapshot) && snapshot.conversationState !== "ENDED";
  byId("undo").disabled = working || !snapshot?.undoAvailable;
  byId("redo").disabled = working || !snapshot?.redoAvailable;
  byId("new").disabled = working || !page.agents.length;
  byId("agent").disabled = working;
  box.disabled = !open;
  byId("send").disabled = working || !open;
  byId("token").hidden = !token.get();
  const state = byId("state");
  const word = working ? "IN_PROGRESS" : snapshot?.conversationState;
  state.hidden = !word;
  state.dataset.state = word;
  state.textContent = stateWord(word);
}

function busy(working) {
  page.busy = working;
  byId("panel-talk").setAttribute("aria-busy", working);
  controls();
}

/** Do it, and tell what went wrong, with a way to try it again. */
async function guarded(doing, again) {
  try {
    await doing();
    notice(null);
  } catch (error) {
    problem(error, byId("notice"), again);
  }
}

/** Tell what the service refused; other errors are faults of this page, for its console too. */
function problem(error, place, again) {
  if (!(error instanceof Refused)) console.error(error);
  if (error.status === 401) return needToken();
  const known = error instanceof Refused;
  const buttons = [];
  if (error.passing && again) buttons.push(make("button", { type: "button", onclick: again }, "Try again"));
  if (error.status === 403) buttons.push(tokenButton());
  notice(known ? error.message : "This page has a fault. Loading it anew may help.", place, buttons);
}

function notice(text, place = byId("notice"), buttons = []) {
  place.hidden = !text;
  place.replaceChildren(...(text ? [icon("warning"), make("p", {}, text), ...buttons] : []));
}

const tokenButton = () => make("button", { type: "button", onclick: needToken }, "Enter an operator’s token");

/** Give the focus back to what had it, or else to the box, if meanwhile nothing else got it. */
function refocus(before) {
  if (document.activeElement !== document.body) return;
  const usable = before !== document.body && before.isConnected && !before.disabled;
  (usable ? before : box).focus({ preventScroll: true });
}

function needToken() {
  const dialog = byId("token-dialog");
  if (!dialog.open) {
    byId("token-value").value = "";
    byId("token-title").textContent = token.get() ? "Use another token" : "This service asks for a token";
    dialog.showModal();
  }
}

/** Let the box be as high as what is written in it, within bounds. */
function grow() {
  box.style.height = "auto";
  box.style.height = `${box.scrollHeight}px`;
}

byId("token-form").addEventListener("submit", () => {
  token.set(byId("token-value").value.trim());
  begin(page.conversation);
});
byId("composer").addEventListener("submit", (event) => {
  event.preventDefault();
  speak(box.value);
});
box.addEventListener("input", grow);
box.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  speak(box.value);
});
byId("undo").addEventListener("click", () => change("/undo", false));
byId("redo").addEventListener("click", () => change("/redo", false));
byId("new").addEventListener("click", () => begin());
byId("token").addEventListener("click", needToken);
byId("reminder").addEventListener("click", () => view.show("break"));
byId("agent").addEventListener("change", (event) => {
  page.agent = event.target.value;
  begin();
});
begin(location.hash.slice(1));
