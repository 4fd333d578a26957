// Asks the service, and reads what a turn streams.

const KEPT = "turnout-token";

/** The service did not do it; `status` is 0 where it could not be reached. */
export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }

  /** Whether the same may go well later. */
  get passing() {
    return this.status === 0 || this.status === 408 || this.status === 409 || this.status >= 500;
  }
}

const unreachable = () =>
  new Refused(0, "The service does not answer. It may be restarting, or the network is down.");

export const token = {
  get: () => sessionStorage.getItem(KEPT) ?? "",
  set: (value) => sessionStorage.setItem(KEPT, value),
};

/** Ask for JSON; `body` is sent as JSON. Throws `Refused`. */
export async function ask(method, path, { body, headers } = {}) {
  const response = await request(method, path, { body, headers });
  const text = await response.text().catch(() => {
    throw unreachable();
  });
  return text ? JSON.parse(text) : null;
}

/**
 * Say something, and hand each event to `hear(name, data)` as it comes. Throws `Refused`, with status 0 also where
 * the stream broke off before its end.
 */
export async function say(conversation, input, { headers, hear }) {
  const path = `agents/${encodeURIComponent(conversation)}/stream`;
  const response = await request("POST", path, { body: { input }, headers });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  const feed = events((name, data) => {
    if (name === "error") throw new Refused(500, sentence(JSON.parse(data).message));
    hear(name, name === "token" ? data : JSON.parse(data));
    ended ||= name === "done";
  });
  let ended = false;
  while (!ended) {
    const { done, value } = await reader.read().catch(() => {
      throw unreachable();
    });
    if (done) throw unreachable();
    feed(value);
  }
}

/** A function to be fed with pieces of an event stream, wherever they were cut; it calls `told(name, data)`. */
export function events(told) {
  let rest = "";
  let name = "message";
  let data = [];
  return (piece) => {
    rest += piece;
    const whole = rest.endsWith("\r") ? rest.slice(0, -1) : rest; // the other half of this line end may follow
    const lines = whole.split(/\r\n|\n|\r/);
    rest = lines.pop() + rest.slice(whole.length);
    for (const line of lines) {
      if (line === "") {
        const [event, text] = [name, data];
        [name, data] = ["message", []];
        if (text.length) told(event, text.join("\n"));
        continue;
      }
      const [, field, value] = /^([^:]*)(?:: ?)?([^]*)$/.exec(line);
      if (field === "event") name = value;
      if (field === "data") data.push(value);
    }
  };
}

/** A key under which the service does a thing once, however often it is asked. */
export function onceKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function request(method, path, { body, headers = {} }) {
  const all = { ...headers };
  if (token.get()) all.Authorization = `Bearer ${token.get()}`;
  if (body !== undefined) all["Content-Type"] = "application/json";
  let response;
  try {
    response = await fetch(path, { method, headers: all, body: body && JSON.stringify(body), cache: "no-store" });
  } catch {
    throw unreachable();
  }
  if (!response.ok) throw new Refused(response.status, await reason(response));
  return response;
}

const sentence = (message) => `${message[0].toUpperCase()}${message.slice(1)}.`;

async function reason(response) {
  try {
    const { message } = await response.json();
    if (message) return sentence(message);
  } catch {
    // no message in it: the status must do
  }
  return `The service answered with status ${response.status}.`;
}
