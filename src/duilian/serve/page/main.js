// The page: what the user types becomes a request, and the answer becomes couplets and trees.
import { ask, Refused } from "/page/api.js";
import { close, describe, relationMeaning, setStandards } from "/page/card.js";
import { drawCouplet, sentencesOf, walk } from "/page/couplet.js";
import { find, make } from "/page/elements.js";
import { say, setLanguage } from "/page/i18n.js";
import { bestLists } from "/page/nbest.js";
import { keep, readState, remembered, remember } from "/page/state.js";
import { drawTree, hasTree } from "/page/tree.js";

const SAMPLES = ["他把手机借给了国务院新闻办公室的同事。", "乒乓球拍卖完了。", "研究生命的起源是科学家的使命。"];
const PASTED = "他/r  在/p  国务院/nt  新闻/n  办公室/n  工作/v  。/w";
const WAIT = 180, LONG = 2000, WIDE = 40, PAGE = 20; // milliseconds, characters, words, sentences
const state = { text: SAMPLES[0], words: [], mode: "analyse", annotated: PASTED, from: "", to: "", language: "", theme: "" };
let models = [], shown = [], timer = 0;

function question() {
  const isLong = state.text.length > LONG;
  return { text: state.text, words: state.words, confidence: true, marginals: !isLong };
}

function later(action) {
  clearTimeout(timer);
  timer = setTimeout(action, WAIT);
}

async function guarded(action) {
  const result = find("result");
  result.setAttribute("aria-busy", "true");
  try {
    await action();
    complain("");
  } catch (error) {
    if (error.name === "AbortError") return;
    if (!(error instanceof Refused)) throw error;
    complain(error.message);
  } finally {
    result.setAttribute("aria-busy", "false");
  }
}

function complain(sentence) {
  const problem = find("problem");
  problem.textContent = sentence;
  problem.hidden = !sentence;
}

function refresh() {
  keep(state);
  close();
  find("count").textContent = `${Array.from(state.text).length} ${say("count")}`;
  return guarded(state.mode === "analyse" ? analyse : convert);
}

async function analyse() {
  if (!state.text.trim()) return show([]);
  const { docs } = await ask("/analyze", question());
  show(docs.flatMap(sentencesOf));
}

async function convert() {
  if (!state.annotated.trim()) return show([]);
  const question = { text: state.annotated, from: state.from, to: state.to, unknown_tags: true };
  const { text, sentences } = await ask("/convert", question);
  show(sentences.map((each) => pair(each)), text);
}

// A converted sentence in the shape of an analysed one; both sides have the same characters.
function pair({ from, to }) {
  const rows = [[state.from, from], [state.to, to]].map(([standard, side]) => {
    let at = 0;
    const tokens = side.words.map((text, k) => {
      const start = at;
      at += Array.from(text.replace(/\s/g, "")).length;
      return { text, start, end: at, number: k + 1, tag: side.tags?.[k], confidence: side.confidence?.[k] };
    });
    return { standard, tokens };
  });
  return { rows, text: from.words.join("") };
}

function show(sentences, converted = "") {
  shown = sentences;
  const place = find("sentences");
  place.replaceChildren();
  if (converted) place.append(convertedText(converted));
  find("tools").hidden = !sentences.length;
  find("tools").classList.toggle("is-converted", Boolean(converted));
  showMore();
}

function showMore() {
  const place = find("sentences");
  const done = place.querySelectorAll(".sentence").length;
  place.append(...shown.slice(done, done + PAGE).map(drawSentence));
  find("more").hidden = done + PAGE >= shown.length;
  find("more").textContent = say("more");
}

function drawSentence(sentence) {
  const article = make("article", { class: "sentence" }, drawCouplet(sentence, describe));
  const row = sentence.rows.find((each) => hasTree(each.tokens));
  if (row) article.append(treeOf(row));
  if (state.mode === "analyse") article.append(bestLists(sentence, state.words, guarded));
  return article;
}

function treeOf(row) {
  const details = make("details", { class: "tree" });
  const number = `${row.tokens.length} ${say("wordsCount")}`;
  details.append(make("summary", {}, say("tree"), make("span", { class: "dim" }, `${row.standard} · ${number}`)));
  const draw = () => {
    if (!details.open || details.querySelector("svg")) return;
    const scroll = make("div", { class: "scroll", tabindex: "0" });
    scroll.append(drawTree(row.tokens, (relation) => relationMeaning(row.standard, relation)));
    details.append(scroll);
  };
  details.addEventListener("toggle", draw);
  details.open = row.tokens.length <= WIDE;
  return details;
}

function convertedText(text) {
  const button = make("button", { type: "button" }, say("copy"));
  button.addEventListener("click", () => copy(text, button));
  return make("div", { class: "converted" }, make("h2", {}, say("result"), button), make("pre", { lang: "zh-Hans" }, text));
}

async function copy(text, button) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = make("textarea", { class: "hidden" }); // pages without TLS on other hosts have no clipboard
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  const before = button.textContent;
  button.textContent = `${say("copied")} ✓`;
  find("said").textContent = say("copied");
  setTimeout(() => (button.textContent = before), 1200);
}

function copyAs(button) {
  return guarded(async () => {
    const to = button.dataset.copy;
    const answer = await ask("/analyze", { ...question(), marginals: false, to, standards: to === "json" ? [] : [find("standard").value] }, "copy");
    await copy(to === "json" ? JSON.stringify(answer.docs, null, 1) : answer, button);
  });
}

function drawChips() {
  find("chips").replaceChildren(...state.words.map((word) => {
    const button = make("button", { type: "button", class: "chip", "aria-label": `${say("remove")} ${word}` }, word, make("span", { "aria-hidden": "true" }, "×"));
    button.addEventListener("click", () => {
      state.words = state.words.filter((each) => each !== word);
      drawChips();
      find("word").focus();
      refresh();
    });
    return button;
  }));
}

function addWord(event) {
  event.preventDefault();
  const input = find("word"), word = input.value.trim();
  if (word && !state.words.includes(word)) state.words.push(word);
  input.value = "";
  drawChips();
  refresh();
}

function choose(mode) {
  state.mode = mode;
  for (const name of ["analyse", "convert"]) {
    const tab = find(`tab-${name}`);
    tab.setAttribute("aria-selected", String(name === mode));
    tab.tabIndex = name === mode ? 0 : -1;
    find(name).hidden = name !== mode;
  }
  refresh();
}

function speak(language) {
  state.language = remember("language", language);
  setLanguage(language);
  find("language").textContent = say("language");
  drawChips();
}

function paint(theme) {
  state.theme = remember("theme", theme);
  document.documentElement.dataset.theme = theme;
  find("theme").textContent = { light: "☀", dark: "☾" }[theme] ?? "◐";
}

function samplesIn(id, texts, take) {
  find(id).replaceChildren(...texts.map((text) => {
    const button = make("button", { type: "button", lang: "zh-Hans" }, text.length > 9 ? `${text.slice(0, 8)}…` : text);
    button.title = text;
    button.addEventListener("click", () => take(text));
    return button;
  }));
}

function listen() {
  find("text").addEventListener("input", (event) => { state.text = event.target.value; later(refresh); });
  find("annotated").addEventListener("input", (event) => { state.annotated = event.target.value; later(refresh); });
  find("words").addEventListener("submit", addWord);
  find("more").addEventListener("click", showMore);
  find("sentences").addEventListener("keydown", walk);
  addEventListener("keydown", (event) => { if (event.key === "Escape") close(); });
  find("language").addEventListener("click", () => { speak(state.language === "en" ? "zh" : "en"); refresh(); });
  find("theme").addEventListener("click", () => paint({ auto: "dark", dark: "light" }[state.theme] ?? "auto"));
  find("link").addEventListener("click", (event) => { keep(state); copy(location.href, event.target); });
  for (const button of document.querySelectorAll("[data-copy]")) button.addEventListener("click", () => copyAs(button));
  const tabs = ["analyse", "convert"];
  tabs.forEach((name, k) => {
    find(`tab-${name}`).addEventListener("click", () => choose(name));
    find(`tab-${name}`).addEventListener("keydown", (event) => {
      if (event.key === "ArrowLeft" || event.key === "ArrowRight") { choose(tabs[1 - k]); find(`tab-${tabs[1 - k]}`).focus(); }
    });
  });
  for (const id of ["from", "to"]) {
    find(id).addEventListener("change", (event) => {
      const other = id === "from" ? "to" : "from";
      if (state[other] === event.target.value) state[other] = find(other).value = state[id];
      state[id] = event.target.value;
      refresh();
    });
  }
  find("swap").addEventListener("click", () => {
    [state.from, state.to] = [state.to, state.from];
    find("from").value = state.from;
    find("to").value = state.to;
    refresh();
  });
  addEventListener("hashchange", () => { if (readState(state)) fill(); });
}

function fill() {
  find("text").value = state.text;
  find("annotated").value = state.annotated;
  drawChips();
  choose(state.mode);
}

function offer(model, standards) {
  setStandards(standards);
  const options = () => model.standards.map((name) => make("option", { value: name }, name));
  for (const id of ["from", "to", "standard"]) find(id).replaceChildren(...options());
  find("standard").value = model.trees ?? model.standards[0];
  const usual = model.conversions.find(([from]) => from === "pku") ?? model.conversions[0] ?? [];
  state.from ||= usual[0] ?? model.standards[0];
  state.to ||= usual[1] ?? model.standards.at(-1);
  find("from").value = state.from;
  find("to").value = state.to;
  find("tab-convert").hidden = !model.conversions.length;
}

async function start() {
  readState(state);
  paint(remembered("theme") ?? "auto");
  speak(remembered("language") ?? (navigator.language.startsWith("zh") ? "zh" : "en"));
  samplesIn("samples", SAMPLES, (text) => { state.text = find("text").value = text; refresh(); });
  samplesIn("pasted", [PASTED], (text) => { state.annotated = find("annotated").value = text; refresh(); });
  listen();
  await guarded(async () => {
    const [list, table] = await Promise.all([ask("/models"), ask("/standards")]);
    models = list.models;
    offer(models[0], table.standards);
  });
  fill();
  document.documentElement.dataset.ready = "true";
}

start();
