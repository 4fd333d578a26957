// A turn as it happened: its tasks, the rules, what they could ask, and what a model would be sent.

import { byId, duration, hasFailed, icon, listed, make, shown, taskName } from "./make.js";

const STATES = {
  READY: "ready",
  IN_PROGRESS: "running",
  ENDED: "ended",
  ERROR: "ended in error",
  EXECUTION_INTERRUPTED: "interrupted",
  AWAITING_HUMAN: "waits for a person",
};
const STATUS = {
  succeeded: ["done", "done"],
  failed: ["failed", "failed"],
  running: ["running", "running"],
  skipped: ["skipped", "skipped"],
};
const FACTS = {
  actions: "Actions",
  expressions: "What was understood",
  context: "Context",
  properties: "Properties",
  values: "Values",
  digests: "Digests",
};

export const stateWord = (state) => STATES[state] ?? state;

/** Show a turn; `trace` is what an operator may see of it, `withheld` the element that stands there for others. */
export function showTurn(turn, trace, withheld) {
  const panel = byId("panel-turn");
  if (!turn) {
    panel.replaceChildren(make("p", { class: "empty" }, "Say something, and see here what the turn did."));
    return;
  }
  const tasks = trace?.tasks ?? turn.outcomes;
  const parts = [heading(turn), story(turn, tasks, trace), taskList(tasks)];
  if (trace) {
    parts.push(...rules(trace), ...facts(trace.facts), ...modelView(trace.modelView));
  } else if (withheld) {
    parts.push(withheld);
  }
  panel.replaceChildren(...parts.filter(Boolean));
  panel.scrollTop = 0;
}

/** Show a turn while it runs; `tasks` are those that have begun. */
export function showRunning(input, tasks) {
  byId("panel-turn").replaceChildren(heading({ input, state: "IN_PROGRESS", turn: null }), taskList(tasks) ?? "");
}

function heading(turn) {
  const title = turn.turn === null ? "This turn" : turn.turn || turn.input ? `Turn ${turn.turn}` : "Opening turn";
  return make(
    "header",
    { class: "turn-heading" },
    make("h2", {}, title, make("span", { class: "state", "data-state": turn.state }, stateWord(turn.state))),
    turn.input ? make("p", { class: "quoted" }, `“${turn.input}”`) : null,
  );
}

/** What happened, in one sentence, where something failed. */
function story(turn, tasks, trace) {
  if (turn.state === "EXECUTION_INTERRUPTED") {
    return storyOf("warning", "The turn was interrupted: what its last task did was taken back.");
  }
  if (!hasFailed(turn)) return null;
  const failed = [...new Set(tasks.filter((task) => task.status === "failed").map((task) => taskName(task.task)))];
  const names = listed(failed) || "A task";
  if (turn.state === "ERROR") {
    return storyOf("warning", `${names} failed, and the turn ended with it.`);
  }
  const rerouted = trace?.rerouted ?? [];
  if (!rerouted.length) {
    return storyOf("warning", `${names} failed, and the turn went on.`);
  }
  const named = listed(rerouted.map((rule) => `“${rule}”`));
  const word = rerouted.length > 1 ? "rules" : "rule";
  return storyOf("turnout", `${names} failed, so the ${word} ${named} fired in the same turn.`);
}

const storyOf = (name, words) => make("p", { class: "story" }, icon(name), make("span", {}, words));

function taskList(tasks) {
  if (!tasks.length) return null;
  const total = tasks.reduce((sum, task) => sum + (task.durationMs ?? 0), 0);
  let began = 0;
  const rows = tasks.map((task) => {
    const [name, word] = STATUS[task.status] ?? ["skipped", task.status];
    const bar = make("span", { class: "bar" });
    // By script: the page allows no style attributes.
    bar.style.setProperty("--from", total ? began / total : 0);
    bar.style.setProperty("--share", total ? (task.durationMs ?? 0) / total : 0);
    began += task.durationMs ?? 0;
    const error = task.status === "failed" && task.errorType ? ` · ${task.errorType.replace("_", " ")}` : "";
    return make(
      "li",
      { class: "task", "data-status": task.status },
      make(
        "div",
        { class: "task-row" },
        make("span", { class: "task-name" }, icon(name), make("code", {}, taskName(task.task))),
        make("span", { class: "task-status" }, `${word}${error}`),
        make("span", { class: "track", "aria-hidden": "true" }, bar),
        make("span", { class: "task-time" }, task.status === "running" ? "…" : duration(task.durationMs)),
      ),
      task.reason ? make("p", { class: "reason" }, make("strong", {}, "The operator sees: "), task.reason) : null,
      task.status === "failed" && task.where ? make("p", { class: "where" }, `in ${task.where}`) : null,
    );
  });
  return section("Tasks", make("ol", { class: "tasks" }, rows));
}

function rules(trace) {
  const rerouted = new Set(trace.rerouted);
  const fired = trace.fired.map((rule) =>
    make(
      "li",
      { class: "rule" },
      icon(rerouted.has(rule) ? "turnout" : "done"),
      make("span", {}, rule),
      rerouted.has(rule) ? make("span", { class: "tag" }, "after the failure") : null,
    ),
  );
  const misses = trace.misses.map((miss, at) => {
    const whys = make("ul", { class: "whys" }, miss.why.map(why));
    return make("li", {}, make("details", { class: "miss", open: at === 0 }, make("summary", {}, miss.rule), whys));
  });
  const none = make("p", { class: "none" }, "No rule fired.");
  const order = make("p", { class: "lead" }, "Nearest misses first.");
  return [
    section("Rules that fired", fired.length ? make("ul", { class: "fired" }, fired) : none),
    misses.length ? section("Why not the others", order, make("ol", { class: "misses" }, misses)) : null,
  ];
}

/** A line of an explanation; what it tells of stands in front where it is one of the usual things. */
function why(words) {
  const [, label, rest] = /^(?:(held|wanted|seen|needed|behind) )?(.*)$/s.exec(words);
  return make("li", {}, make("span", { class: "label" }, label ?? ""), make("span", {}, rest));
}

function facts(all) {
  // Outcomes are left out: the list of tasks shows them.
  const rows = Object.entries(all ?? {}).filter(([key, value]) => key !== "outcomes" && !isEmpty(value));
  if (!rows.length) return [];
  const list = rows.flatMap(([key, value]) => [make("dt", {}, FACTS[key] ?? key), make("dd", {}, fact(value))]);
  return [section("Facts", make("dl", { class: "facts" }, list))];
}

function fact(value) {
  const code = (one) => make("code", {}, flat(one));
  if (Array.isArray(value)) return make("ul", { class: "chips" }, value.map((one) => make("li", {}, code(one))));
  if (value === null || typeof value !== "object") return code(value);
  const rows = Object.entries(value).flatMap(([key, one]) => {
    const term = make("dt", {}, key);
    return [term, make("dd", {}, make("code", {}, shown(one)))];
  });
  return make("dl", { class: "facts inner" }, rows);
}

/** The parts of a small record in one line. */
function flat(value) {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return shown(value);
  return Object.values(value).filter((one) => one !== null).map(shown).join(" · ");
}

const isEmpty = (value) =>
  value === null || value === "" || (typeof value === "object" && Object.keys(value).length === 0);

function modelView(messages) {
  if (!messages?.length) return [];
  const rows = messages.map(({ role, text }) => {
    const who = make("span", { class: "role" }, role);
    return make("li", {}, who, make("p", {}, text));
  });
  return [section("What the next model would see", make("ol", { class: "view" }, rows))];
}

function section(title, ...children) {
  return make("section", {}, make("h3", {}, title), children);
}
