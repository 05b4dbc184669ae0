// A dependency tree as arcs above the words.
import { makeSvg } from "/page/elements.js";

const SIZE = 20, SMALL = 12, LEVEL = 30, GAP = 18, TOP = 18, ROUND = 11;
const canvas = document.createElement("canvas").getContext("2d");

function width(text, size) {
  canvas.font = `${size}px "Noto Serif CJK SC", "Songti SC", serif`;
  return canvas.measureText(text).width;
}

export const hasTree = (tokens) => tokens.some((token) => token.head !== undefined && token.head !== null);

export function drawTree(tokens, meaning) {
  const centres = [];
  let x = 14;
  const arcs = arcsOf(tokens);
  for (const token of tokens) {
    const own = Math.max(width(token.text, SIZE), width(token.tag ?? "", SMALL), 24);
    centres.push(x + own / 2);
    x += own + GAP;
  }
  spread(arcs, centres);
  const right = centres.at(-1) + width(tokens.at(-1).text, SIZE) / 2 + 24;
  const top = TOP + LEVEL * Math.max(...arcs.map((arc) => arc.level), 1);
  const height = top + 54;
  const spoken = tokens.map((token) => `${token.text} ${token.relation ?? ""}`).join("; ");
  const svg = makeSvg("svg", { class: "arcs", viewBox: `0 0 ${right} ${height}`, role: "img", "aria-label": spoken });
  svg.style.setProperty("--width", `${right}px`);
  const lines = arcs.map((arc) => drawArc(arc, centres, top, tokens, meaning));
  svg.append(...lines, ...tokens.map((token, k) => drawWord(token, centres[k], top, k)));
  svg.addEventListener("pointerover", (event) => light(svg, event.target.closest("[data-word]")));
  svg.addEventListener("pointerleave", () => light(svg, null));
  return svg;
}

// Long relations need room: push the words apart until the label fits between the ends of its arc.
function spread(arcs, centres) {
  for (const arc of [...arcs].sort((a, b) => Math.abs(a.head - a.word) - Math.abs(b.head - b.word))) {
    if (arc.isRoot) continue;
    const [a, b] = [Math.min(arc.head, arc.word), Math.max(arc.head, arc.word)];
    const missing = width(arc.relation, SMALL) + 22 - (centres[b] - centres[a]);
    if (missing > 0) for (let k = b; k < centres.length; k++) centres[k] += missing;
  }
}

function arcsOf(tokens) {
  const used = new Array(tokens.length).fill(0);
  const arcs = tokens
    .map((token, k) => ({ word: k, head: token.head - 1, relation: token.relation ?? "", isRoot: token.head === 0 }))
    .filter((arc) => arc.head >= -1);
  arcs.sort((a, b) => a.isRoot - b.isRoot || Math.abs(a.head - a.word) - Math.abs(b.head - b.word));
  for (const arc of arcs) {
    const [a, b] = arc.isRoot ? [0, used.length] : [Math.min(arc.head, arc.word), Math.max(arc.head, arc.word)];
    arc.level = 1 + Math.max(0, ...used.slice(a, b));
    if (!arc.isRoot) used.fill(arc.level, a, b);
  }
  return arcs;
}

function drawArc(arc, centres, bottom, tokens, meaning) {
  const y = bottom - arc.level * LEVEL, end = centres[arc.word];
  let path = `M${end} ${y}V${bottom - 4}`, middle = end;
  if (!arc.isRoot) {
    const turn = end > centres[arc.head] ? ROUND : -ROUND;
    const start = centres[arc.head] + turn / 2;
    path = `M${start} ${bottom}V${y + ROUND}q0 ${-ROUND} ${turn} ${-ROUND}H${end - turn}q${turn} 0 ${turn} ${ROUND}V${bottom - 4}`;
    middle = (start + end) / 2;
  }
  const group = makeSvg("g", { class: arc.isRoot ? "arc root" : "arc", "data-word": arc.word, "data-head": arc.head });
  const label = makeSvg("text", { x: middle, y: y - 6, class: "relation" }, arc.relation);
  label.append(makeSvg("title", {}, meaning(arc.relation)));
  group.append(makeSvg("path", { d: path }), makeSvg("path", { class: "tip", d: `M${end - 4} ${bottom - 9}l4 7l4 -7z` }), label);
  return group;
}

function drawWord(token, x, y, number) {
  const group = makeSvg("g", { class: "leaf", "data-word": number, "data-head": token.head - 1 });
  group.append(
    makeSvg("text", { x, y: y + 22, class: "leaf-word" }, token.text),
    makeSvg("text", { x, y: y + 41, class: "leaf-tag" }, token.tag ?? ""),
  );
  return group;
}

// A word or arc under the pointer lights up with its head and everything below it.
function light(svg, chosen) {
  svg.classList.toggle("is-lit", Boolean(chosen));
  for (const each of svg.querySelectorAll(".lit")) each.classList.remove("lit");
  if (!chosen) return;
  const below = new Set([chosen.dataset.word]);
  const arcs = [...svg.querySelectorAll(".arc")];
  for (let grown = true; grown; ) {
    grown = false;
    for (const arc of arcs) {
      if (below.has(arc.dataset.head) && !below.has(arc.dataset.word)) grown = Boolean(below.add(arc.dataset.word));
    }
  }
  for (const each of svg.querySelectorAll("[data-word]")) {
    const isHead = each.classList.contains("leaf") && each.dataset.word === chosen.dataset.head;
    if (below.has(each.dataset.word) || isHead) each.classList.add("lit");
  }
}
