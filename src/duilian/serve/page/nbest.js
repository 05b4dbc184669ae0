// The best analyses of a sentence, requested when somebody opens the list.
import { ask } from "/page/api.js";
import { make } from "/page/elements.js";
import { say } from "/page/i18n.js";

const NUMBER = 5;

export function bestLists(sentence, words, guarded) {
  const details = make("details", { class: "nbest" }, make("summary", {}, say("nbest")));
  details.addEventListener("toggle", () => {
    if (!details.open || details.querySelector("ol")) return;
    guarded(async () => {
      const question = { text: sentence.text, words, nbest: NUMBER, trees: false };
      const { nbest } = await ask("/analyze", question, `nbest ${sentence.text}`);
      details.append(...Object.entries(nbest[0]).map(([standard, docs], side) => drawList(standard, docs, side)));
    });
  });
  return details;
}

function drawList(standard, docs, side) {
  const layers = docs.map((doc) => doc.standards[standard]);
  const usual = new Set(keys(layers[0]));
  const list = make("ol", { class: `side${side % 2}` });
  docs.forEach((doc, k) => {
    const bar = make("span", { class: "bar" });
    bar.style.setProperty("--share", doc.probability);
    const line = make("span", { class: "line", lang: "zh-Hans" });
    const names = keys(layers[k]);
    layers[k].words.forEach((word, n) => {
      const isUsual = usual.has(names[n]), tag = layers[k].tags?.[n] ?? "", xpos = layers[k].xpos?.[n];
      const shown = !isUsual && xpos ? `${tag} ${xpos}` : tag; // two analyses may differ in this tag alone
      line.append(make("span", { class: isUsual ? "part" : "part new" }, word, make("small", {}, shown)));
    });
    if (!k) line.append(make("span", { class: "dim chosen" }, say("chosen"))); // decided word by word, so not always the most probable
    list.append(make("li", {}, bar, make("span", { class: "share" }, `${(100 * doc.probability).toFixed(1)} %`), line));
  });
  return make("div", {}, make("h3", {}, standard), list);
}

const keys = (layer) => layer.words.map((word, k) => `${layer.spans[k]} ${layer.tags?.[k]} ${layer.xpos?.[k]}`);
