// The standards of a sentence one above the other, aligned by character.
// A block is the smallest group of characters whose edges all standards share.
import { make } from "/page/elements.js";

const isNarrow = (character) => /[\u0000-\u02ff]/.test(character);

// The tokens of each sentence of a doc: a list of sentences, each a list of {standard, tokens}.
export function sentencesOf(doc) {
  const characters = Array.from(doc.text);
  const sides = Object.entries(doc.standards).map(([standard, layer]) => ({
    standard,
    sentences: layer.sentences.slice(1).map((end, k) => tokensOf(layer, layer.sentences[k], end)),
  }));
  if (!sides.length) return [];
  return sides[0].sentences.map((_, k) => {
    const rows = sides.map((side) => ({ standard: side.standard, tokens: side.sentences[k] }));
    const first = Math.min(...rows.map((row) => row.tokens[0].start));
    const last = Math.max(...rows.map((row) => row.tokens.at(-1).end));
    return { rows, text: characters.slice(first, last).join("") };
  });
}

function tokensOf(layer, first, end) {
  const tokens = [];
  for (let k = first; k < end; k++) {
    const [start, stop] = layer.spans[k];
    tokens.push({
      text: layer.words[k], start, end: stop, number: k - first + 1,
      tag: layer.tags?.[k], xpos: layer.xpos?.[k], confidence: layer.confidence?.[k],
      marginals: layer.marginals?.[k], head: layer.heads?.[k], relation: layer.relations?.[k],
    });
  }
  return tokens;
}

export function blocksOf(rows) {
  const ends = rows.map((row) => new Set(row.tokens.map((token) => token.end)));
  const places = rows.map(() => 0);
  const blocks = [];
  while (places[0] < rows[0].tokens.length) {
    let end = rows[0].tokens[places[0]].end;
    while (!ends.every((each) => each.has(end))) end = rows[0].tokens.find((token) => token.end > end).end;
    const sides = rows.map((row, k) => {
      const from = places[k];
      while (places[k] < row.tokens.length && row.tokens[places[k]].end <= end) places[k]++;
      return row.tokens.slice(from, places[k]);
    });
    const cuts = new Set(sides.map((side) => side.map((token) => token.end).join()));
    blocks.push({ sides, isDifferent: cuts.size > 1 });
  }
  return blocks;
}

export function drawCouplet(sentence, describe) {
  const couplet = make("div", { class: "couplet", role: "group", "aria-label": sentence.text });
  const names = make("div", { class: "block names", "aria-hidden": "true" });
  sentence.rows.forEach((row, k) => names.append(make("span", { class: `standard side${k % 2}` }, row.standard)));
  couplet.append(names);
  for (const block of blocksOf(sentence.rows)) couplet.append(drawBlock(block, sentence, describe));
  couplet.querySelector(".word")?.setAttribute("tabindex", "0");
  return couplet;
}

function drawBlock(block, sentence, describe) {
  const drawn = make("div", { class: block.isDifferent ? "block different" : "block" });
  const widths = block.sides[0].flatMap((token) => Array.from(token.text));
  const starts = [1];
  for (const character of widths) starts.push(starts.at(-1) + (isNarrow(character) ? 1 : 2));
  drawn.style.gridTemplateColumns = `repeat(${starts.at(-1) - 1}, minmax(.52em, auto))`;
  block.sides.forEach((tokens, side) => {
    let at = 0;
    for (const token of tokens) {
      const length = Array.from(token.text).length;
      const word = drawWord(token, side, sentence.rows[side].standard);
      word.style.gridArea = `${side + 1} / ${starts[at]} / auto / ${starts[Math.min(at + length, starts.length - 1)]}`;
      describe(word, token, sentence, side);
      drawn.append(word);
      at += length;
    }
  });
  return drawn;
}

function drawWord(token, side, standard) {
  const word = make("span", { class: `word side${side % 2}`, tabindex: "-1", "data-side": side, "data-standard": standard });
  word.append(make("b", {}, token.text), make("small", {}, token.tag ?? ""));
  if (token.confidence !== undefined) {
    word.style.setProperty("--unsure", Math.min(1, 2 * (1 - token.confidence)).toFixed(3));
  }
  return word;
}

// Arrow keys: along a line, and from one line to the other.
export function walk(event) {
  const word = event.target.closest(".word");
  const steps = { ArrowLeft: -1, ArrowRight: 1 };
  if (!word || !(event.key in steps || ["ArrowUp", "ArrowDown", "Home", "End"].includes(event.key))) return;
  const couplet = word.closest(".couplet");
  const side = Number(word.dataset.side);
  const line = (k) => [...couplet.querySelectorAll(`.word[data-side="${k}"]`)];
  let next;
  if (event.key in steps) {
    const own = line(side);
    next = own[own.indexOf(word) + steps[event.key]];
  } else if (event.key === "Home") next = line(side)[0];
  else if (event.key === "End") next = line(side).at(-1);
  else next = nearest(word, line(side + (event.key === "ArrowUp" ? -1 : 1)));
  if (!next) return;
  event.preventDefault();
  word.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

function nearest(word, others) {
  const middle = (each) => { const box = each.getBoundingClientRect(); return [box.left + box.width / 2, box.top]; };
  const [x, y] = middle(word);
  const distance = (each) => { const [a, b] = middle(each); return Math.abs(a - x) + 3 * Math.abs(b - y); };
  return others.sort((a, b) => distance(a) - distance(b))[0];
}
