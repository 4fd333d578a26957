// Switches that make tasks fail, to see what the rules do then.

import { byId, icon, listed, make, taskName } from "./make.js";

const LEAD =
  "Make a task fail from the next message on, in what you say here only, and see what the rules do then.";
const NONE = "This agent has no tasks.";

/** The switches, which hold for this page until it is left. */
export function breaking() {
  const broken = new Set();

  /** Offer the tasks of an agent; `withheld` is what stands there for those who may not break them. */
  function show(tasks, withheld = null) {
    if (withheld) broken.clear();
    for (const task of broken) if (!tasks.includes(task)) broken.delete(task);
    const rows = tasks.map((task) => {
      const box = make("input", { type: "checkbox", role: "switch", "aria-label": `Make ${taskName(task)} fail` });
      box.checked = broken.has(task);
      const word = make("span", { class: "switch-word", "aria-hidden": "true" }, words(box.checked));
      box.addEventListener("change", () => {
        if (box.checked) broken.add(task);
        else broken.delete(task);
        word.textContent = words(box.checked);
        remind();
      });
      return make("li", {}, make("label", { class: "switch" }, make("code", {}, taskName(task)), word, box));
    });
    byId("panel-break").replaceChildren(
      make("h2", {}, "Break"),
      make("p", { class: "lead" }, LEAD),
      withheld ?? (rows.length ? make("ul", { class: "switches" }, rows) : make("p", { class: "empty" }, NONE)),
    );
    remind();
  }

  function remind() {
    const names = listed([...broken].map(taskName));
    const reminder = byId("reminder");
    reminder.hidden = broken.size === 0;
    reminder.replaceChildren(icon("warning"), make("span", {}, `Made to fail: ${names}`));
  }

  return {
    show,
    /** The header that makes the service do it. */
    headers: () => (broken.size ? { "X-Turnout-Fail": [...broken].join(",") } : {}),
  };
}

const words = (fails) => (fails ? "fails" : "works");
