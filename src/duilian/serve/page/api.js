// Requests to the service. A new request of a kind cancels the one before it.
import { say } from "/page/i18n.js";

const running = new Map();

export class Refused extends Error {}

export async function ask(path, question, kind = path) {
  running.get(kind)?.abort();
  const control = new AbortController();
  running.set(kind, control);
  const options = { signal: control.signal };
  if (question) {
    Object.assign(options, { method: "POST", body: JSON.stringify(question) });
    options.headers = { "Content-Type": "application/json" };
  }
  let answer;
  try {
    answer = await fetch(path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused(say("offline"));
  }
  if (!answer.ok) {
    const { error, hint } = await answer.json().catch(() => ({ error: `HTTP ${answer.status}` }));
    throw new Refused(hint ? `${error} (${hint})` : error);
  }
  const isJson = answer.headers.get("content-type").startsWith("application/json");
  return isJson ? answer.json() : answer.text();
}
