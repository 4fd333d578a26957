// The rules in an editor: problems while they are typed, and what they would change in the recorded conversation.

import { byId, choiceText, icon, make, replyItems, worded } from "./make.js";
import { stateWord } from "./turn.js";
import { ask } from "./service.js";

const PAUSE = 300;

/** The editor; `where()` gives the agent and the conversation, `failed(error, element)` tells what went wrong. */
export function rulesEditor(where, failed) {
  const text = byId("rules");
  const gutter = byId("gutter");
  const state = byId("rules-state");
  const notice = byId("rules-notice");
  let written = "";
  let loaded = null;
  let timer = 0;
  let asked = 0;
  let broken = false;
  let trying = false;

  /** Load the rules of the agent, unless they are there. */
  async function load() {
    const { agent } = where();
    if (!agent || loaded === agent) return;
    loaded = agent;
    try {
      const { text: found } = await ask("GET", `api/agents/${encodeURIComponent(agent)}/rules`);
      if (loaded !== agent) return;
      written = text.value = found;
      byId("writing").hidden = false;
      text.setSelectionRange(0, 0);
      notice.hidden = true;
      byId("tried").replaceChildren();
      changed(0);
    } catch (error) {
      loaded = null;
      byId("writing").hidden = true;
      failed(error, notice);
    }
  }

  function changed(pause = PAUSE) {
    number([]);
    byId("restore").disabled = text.value === written;
    clearTimeout(timer);
    timer = setTimeout(check, pause);
  }

  async function check() {
    const mine = ++asked;
    try {
      const { problems } = await ask("POST", "api/check", { body: { text: text.value } });
      if (mine !== asked) return;
      notice.hidden = true;
      showProblems(problems);
    } catch (error) {
      if (mine === asked) failed(error, notice);
    }
  }

  function showProblems(problems) {
    const errors = problems.filter((problem) => problem.severity !== "warning" && problem.severity !== "note");
    number(problems);
    state.textContent = summary(problems.length, errors.length);
    byId("problems").replaceChildren(...problems.map(problemElement));
    broken = errors.length > 0;
    text.setAttribute("aria-invalid", broken);
    allow();
  }

  function problemElement(problem) {
    const word = problem.severity ?? "error";
    const place = problem.line ? `line ${problem.line}, column ${problem.column ?? 1}` : "the whole text";
    return make(
      "li",
      { "data-severity": word },
      make(
        "button",
        { type: "button", class: "problem", onclick: () => go(problem) },
        icon(word === "error" ? "failed" : "warning"),
        make("span", { class: "place" }, `${word[0].toUpperCase()}${word.slice(1)} · ${place}`),
        make("span", { class: "message" }, worded(problem.message)),
        problem.hint ? make("span", { class: "hint" }, worded(problem.hint)) : null,
      ),
    );
  }

  /** Put the caret where a problem is. */
  function go({ line, column }) {
    const lines = text.value.split("\n");
    const start = lines.slice(0, (line ?? 1) - 1).reduce((sum, one) => sum + one.length + 1, 0);
    const before = Array.from(lines[(line ?? 1) - 1] ?? "").slice(0, (column ?? 1) - 1).join("").length;
    text.focus();
    text.setSelectionRange(start + before, start + before);
    const height = parseFloat(getComputedStyle(text).lineHeight);
    text.scrollTop = Math.max(0, (line - 1) * height - text.clientHeight / 2);
  }

  /** Number the lines, and mark those with a problem. */
  function number(problems) {
    const marked = new Set(problems.map((problem) => problem.line));
    const count = text.value.split("\n").length;
    const numbers = Array.from({ length: count }, (_, at) =>
      make("li", marked.has(at + 1) ? { class: "marked" } : {}, marked.has(at + 1) ? `▸ ${at + 1}` : String(at + 1)),
    );
    gutter.replaceChildren(...numbers);
    gutter.scrollTop = text.scrollTop;
  }

  async function attempt() {
    const target = byId("tried");
    trying = true;
    allow();
    target.replaceChildren(make("p", { class: "lead" }, "Trying …"));
    try {
      const path = `api/conversations/${encodeURIComponent(where().conversation)}/try`;
      const { turns } = await ask("POST", path, { body: { text: text.value } });
      notice.hidden = true;
      target.replaceChildren(...changes(turns));
    } catch (error) {
      target.replaceChildren();
      failed(error, notice);
    } finally {
      trying = false;
      allow();
    }
  }

  const allow = () => (byId("try").disabled = broken || trying || !where().conversation);

  text.addEventListener("input", () => {
    byId("tried").replaceChildren(); // it was about another text
    changed();
  });
  text.addEventListener("scroll", () => (gutter.scrollTop = text.scrollTop));
  byId("try").addEventListener("click", attempt);
  byId("restore").addEventListener("click", () => {
    text.value = written;
    byId("tried").replaceChildren();
    changed(0);
    text.focus();
  });
  return {
    load,
    /** Another conversation: what was tried was about the one before, and a refusal may not hold any more. */
    renewed: () => {
      byId("tried").replaceChildren();
      if (loaded) changed(0);
    },
  };
}

function summary(count, errors) {
  if (!count) return "✓ No problems.";
  const warnings = count - errors;
  const parts = [];
  if (errors) parts.push(`${errors} error${errors > 1 ? "s" : ""}`);
  if (warnings) parts.push(`${warnings} warning${warnings > 1 ? "s" : ""}`);
  return `⚠ ${parts.join(", ")}.`;
}

function changes(turns) {
  if (!turns.length) return [make("p", { class: "outcome" }, "No turn of this conversation would change.")];
  const count = turns.length === 1 ? "One turn" : `${turns.length} turns`;
  return [
    make("h3", {}, `${count} would change`),
    make("ol", { class: "changes" }, turns.map(changeElement)),
  ];
}

function changeElement({ turn, before, after, rules }) {
  const why = rules.length ? make("p", { class: "lead" }, `Because of: ${rules.join(", ")}`) : null;
  return make(
    "li",
    {},
    make("h4", {}, turn === 0 ? "Opening turn" : `Turn ${turn}`),
    why,
    make("div", { class: "sides" }, side("Before", before), side("After", after)),
  );
}

function side(title, turn) {
  if (!Object.keys(turn).length) {
    const none = make("p", { class: "none" }, "The conversation ends before.");
    return make("div", { class: "side" }, make("h5", {}, title), none);
  }
  const said = turn.output?.length ? replyItems(turn.output) : make("p", { class: "none" }, "(no reply)");
  const choices = (turn.quickReplies ?? []).map(choiceText).filter(Boolean);
  return make(
    "div",
    { class: "side" },
    make("h5", {}, title),
    said,
    choices.length ? make("p", { class: "lead" }, `Quick replies: ${choices.join(", ")}`) : null,
    make("ul", { class: "chips" }, (turn.actions ?? []).map((action) => make("li", {}, make("code", {}, action)))),
    turn.state !== "READY" ? make("p", { class: "lead" }, `The conversation: ${stateWord(turn.state)}`) : null,
  );
}
