// Makes elements. Whatever came from the service or a user becomes text here, never HTML.

const SVG = "http://www.w3.org/2000/svg";

/** An element with attributes, `on…` listeners and children; a child that is no node is set as text. */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** An icon of the page, for eyes only: words stand beside it. */
export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `#icon-${name}`);
  svg.append(use);
  return svg;
}

export const byId = (id) => document.getElementById(id);

/** Words for ears only. */
export const hidden = (text) => make("span", { class: "hidden" }, text);

/** The items of a reply as elements. An image of elsewhere is not loaded: its address is shown as a link. */
export function replyItems(output) {
  return output.map((item) => {
    if (typeof item === "string") return make("p", { class: "item" }, item);
    if (item === null || typeof item !== "object") return make("p", { class: "item" }, String(item));
    if (typeof item.text === "string") return make("p", { class: "item" }, item.text);
    const address = webAddress(item.uri ?? item.url);
    if (address) {
      const kind = item.type === "image" ? "Image" : "Link";
      const name = item.alt ?? item.label ?? address;
      const link = make("a", { href: address, target: "_blank", rel: "noopener noreferrer" }, String(name));
      return make("p", { class: "item" }, `${kind}: `, link);
    }
    const { type = "item", ...rest } = item;
    const known = Object.entries(rest).filter(([, value]) => value !== null);
    const told = known.map(([key, value]) => `${key}: ${shown(value)}`);
    return make("p", { class: "item other" }, `(${type}${told.length ? ": " : ""}${told.join(", ")})`);
  });
}

/** The texts of a reply, for ears and comparisons. */
export function replyText(output) {
  return replyItems(output).map((element) => element.textContent).join("\n");
}

/** What a quick reply says when it is chosen. */
export function choiceText(choice) {
  return String((choice !== null && typeof choice === "object" ? choice.value : choice) ?? "");
}

/** A sentence in which code stands between backticks. */
export function worded(text) {
  return text.split("`").map((part, at) => (at % 2 ? make("code", {}, part) : part));
}

/** A value as people read it. */
export function shown(value) {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** A duration in milliseconds as people read it. */
export function duration(ms) {
  if (typeof ms !== "number") return "";
  if (ms >= 10000) return `${(ms / 1000).toFixed(0)} s`;
  if (ms >= 1000) return `${(ms / 1000).toFixed(1)} s`;
  if (ms < 0.05) return "< 0.1 ms";
  return ms >= 10 ? `${ms.toFixed(0)} ms` : `${ms.toFixed(1)} ms`;
}

/** Several names as a phrase. */
export function listed(names) {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

/** A task's id without the scheme that all of them share. */
export const taskName = (id) => String(id ?? "").replace(/^eddi:\/\//, "");

/** Whether a turn had a task that failed. */
export function hasFailed(turn) {
  return turn.taskErrors.length > 0 || turn.outcomes.some((outcome) => outcome.status === "failed");
}

function webAddress(value) {
  try {
    const url = new URL(value);
    return url.protocol === "https:" || url.protocol === "http:" ? url.href : null;
  } catch {
    return null;
  }
}
