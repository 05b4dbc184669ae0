// The state of the page, kept in the fragment of its address, which browsers never send to a server.
const FIELDS = { t: "text", m: "mode", a: "annotated", f: "from", o: "to" };
const MODES = ["analyse", "convert"];

export function keep(state) {
  const found = new URLSearchParams();
  const wanted = state.mode === "analyse" ? ["t"] : ["m", "a", "f", "o"];
  for (const key of wanted) found.set(key, state[FIELDS[key]]);
  if (state.mode === "analyse") for (const word of state.words) found.append("w", word);
  const fragment = `#${found}`;
  if (fragment !== location.hash) history.replaceState(null, "", fragment);
}

export function readState(state) {
  const found = new URLSearchParams(location.hash.slice(1));
  for (const [key, name] of Object.entries(FIELDS)) if (found.has(key)) state[name] = found.get(key);
  if (found.has("t")) state.words = found.getAll("w");
  if (!found.has("m")) state.mode = "analyse";
  if (!MODES.includes(state.mode)) state.mode = "analyse";
  return found.size > 0;
}

export function remembered(name) {
  try {
    return localStorage.getItem(`duilian.${name}`) ?? undefined;
  } catch {
    return undefined; // the browser does not allow storage
  }
}

export function remember(name, value) {
  try {
    localStorage.setItem(`duilian.${name}`, value);
  } catch {
    // kept for this visit only
  }
  return value;
}
