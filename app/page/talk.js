// The conversation: what was said, replies as they come, failures in their own style, and what can be chosen.

import { byId, choiceText, hasFailed, hidden, icon, make, replyItems, replyText, taskName } from "./make.js";

/** The conversation; `on` holds what happens: `choose(text)`, `why(turn)`, `again()`, `stop()`, `renew()`. */
export function talk(on) {
  const log = byId("log");
  const list = byId("turns");
  let running = null;

  const atEnd = () => log.scrollHeight - log.scrollTop - log.clientHeight < 80;
  const toEnd = () => log.scrollTo({ top: log.scrollHeight });

  /** Show the turns, of which one is `selected`; those that did not change keep their elements. */
  function show(turns, selected) {
    const stay = !atEnd() && !running;
    running?.element.remove();
    running = null;
    turns.forEach((turn, at) => {
      const last = at === turns.length - 1;
      const mark = JSON.stringify([turn, last]);
      const old = list.children[at];
      if (old?.dataset.mark !== mark) {
        const element = turnElement(turn, last, on);
        element.dataset.mark = mark;
        if (old) old.replaceWith(element);
        else list.append(element);
      }
    });
    while (list.children.length > turns.length) list.lastChild.remove();
    byId("log-empty").hidden = turns.length > 0;
    byId("log-empty").textContent = "Nothing has been said yet.";
    byId("after").replaceChildren(...after(turns.at(-1), on));
    select(selected);
    if (!stay) toEnd();
  }

  function select(selected) {
    for (const element of list.children) {
      const button = element.querySelector(".why");
      const chosen = element.dataset.turn === String(selected);
      element.classList.toggle("selected", chosen);
      if (chosen) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
    }
  }

  /** Show what is being said, and give the places where its reply grows. */
  function begin(input) {
    byId("log-empty").hidden = true;
    running?.element.remove();
    const reply = make(
      "div",
      { class: "reply" },
      make(
        "div",
        { class: "waiting" },
        make("span", {}, "Working on it …"),
        make("button", { type: "button", onclick: on.stop }, "Stop"),
      ),
    );
    const element = make("li", { class: "turn running" }, said(input), reply);
    list.append(element);
    running = { element, reply, pieces: [] };
    toEnd();
  }

  /** A task begins: what it streams can be taken back together. */
  function piece() {
    if (running) running.pieces.push(null);
  }

  function token(text) {
    if (!running) return;
    const follow = atEnd();
    const pieces = running.pieces.length ? running.pieces : running.pieces.push(null) && running.pieces;
    if (!pieces.at(-1)) {
      pieces[pieces.length - 1] = make("p", { class: "item" });
      running.reply.insertBefore(pieces.at(-1), running.reply.lastChild);
    }
    pieces.at(-1).append(text);
    if (follow) toEnd();
  }

  /** Take back what the task streamed that failed. */
  function withdraw() {
    running?.pieces.pop()?.remove();
  }

  /** What was being said did not become a turn. */
  function drop() {
    running?.element.remove();
    running = null;
  }

  function announce(turn) {
    const parts = [replyText(turn.output)];
    if (hasFailed(turn)) parts.push(isSilent(turn) ? SORRY : "A task failed.");
    const choices = turn.quickReplies.map(choiceText).filter(Boolean);
    if (choices.length) parts.push(`Quick replies: ${choices.join(", ")}.`);
    byId("spoken").textContent = parts.filter(Boolean).join("\n");
  }

  return { show, select, begin, piece, token, withdraw, drop, announce };
}

const SORRY = "Sorry, that did not work. It is our fault, not yours.";

/** Whether all that a turn has to tell is that it went wrong. */
const isSilent = (turn) =>
  turn.output.length === 0 && (hasFailed(turn) || ["ERROR", "EXECUTION_INTERRUPTED"].includes(turn.state));

function said(input) {
  return input ? make("p", { class: "said" }, hidden("You said: "), input) : null;
}

function turnElement(turn, last, on) {
  const spoken = replyItems(turn.output);
  const reply = make("div", { class: "reply" }, hidden("The reply: "), spoken, turn.taskErrors.map(digest));
  if (isSilent(turn)) {
    const again = make("button", { type: "button", class: "primary again", onclick: on.again }, "Try again");
    reply.prepend(make("div", { class: "banner" }, icon("warning"), make("p", {}, SORRY), last ? again : null));
  } else if (turn.output.length === 0) {
    reply.append(make("p", { class: "none" }, "(no reply)"));
  }
  if (last && turn.state !== "ENDED") reply.append(...choices(turn.quickReplies, on));
  const opening = turn.turn === 0 && !turn.input;
  const name = opening ? "the opening turn" : `turn ${turn.turn}`;
  const why = { type: "button", class: "why", onclick: () => on.why(turn.turn) };
  reply.append(make("button", why, "Why?", hidden(` Look into ${name}`)));
  return make("li", { class: "turn", "data-turn": turn.turn }, said(turn.input), reply);
}

function digest(error) {
  const name = taskName(error?.taskId) || "A task";
  const text = typeof error === "string" ? error : (error?.text ?? "");
  const summary = make("summary", {}, icon("warning"), make("span", {}, `${name} failed`));
  return make("details", { class: "digest" }, summary, make("p", {}, text));
}

function choices(offered, on) {
  const texts = offered.map(choiceText).filter(Boolean);
  if (!texts.length) return [];
  const buttons = texts.map((text) => make("button", { type: "button", onclick: () => on.choose(text) }, text));
  return [make("div", { class: "choices", role: "group", "aria-label": "Quick replies" }, buttons)];
}

function after(turn, on) {
  if (turn?.state === "ENDED") {
    const button = make("button", { type: "button", class: "primary", onclick: on.renew }, "Start a new one");
    return [make("div", { class: "ended" }, make("p", {}, "This conversation has ended."), button)];
  }
  if (turn?.state === "AWAITING_HUMAN") return [make("p", { class: "ended" }, "The conversation waits for a person.")];
  return [];
}
