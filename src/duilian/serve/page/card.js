// What is known about a word, shown beside it on hover and focus.
import { find, make } from "/page/elements.js";
import { isChinese, say } from "/page/i18n.js";

const MOST = 5, LEAST = 0.001; // tags in the list, and the smallest probability shown
let standards = {};

export function setStandards(list) {
  standards = Object.fromEntries(list.map((each) => [each.name, each]));
}

function meaningIn(table, name) {
  if (!table || !name) return null;
  if (table[name]) return table[name];
  const parts = name.split(/[+:]/).map((part) => table[part]).filter(Boolean);
  if (!parts.length) return null;
  return { chinese: parts.map((each) => each.chinese).join(" + "), english: parts.map((each) => each.english).join(" + ") };
}

export function relationMeaning(standard, relation) {
  const found = meaningIn(standards[standard]?.relations, relation);
  return found ? `${relation}: ${isChinese() ? found.chinese : found.english}` : relation;
}

export function describe(word, token, sentence, side) {
  const show = () => open(word, token, sentence.rows[side]);
  word.addEventListener("pointerenter", show);
  word.addEventListener("focus", show);
  word.addEventListener("pointerleave", close);
  word.addEventListener("blur", close);
  word.addEventListener("click", show);
}

export function close() {
  const card = find("card");
  if (!card.hidden) document.querySelector("[aria-describedby=card]")?.removeAttribute("aria-describedby");
  card.hidden = true;
}

function open(word, token, row) {
  close();
  const card = find("card");
  card.replaceChildren(...lines(token, row));
  card.hidden = false;
  word.setAttribute("aria-describedby", "card");
  const box = word.getBoundingClientRect(), own = card.getBoundingClientRect();
  const left = Math.max(8, Math.min(box.left + box.width / 2 - own.width / 2, innerWidth - own.width - 8));
  const roomAbove = box.top > own.height + 8, roomBelow = box.bottom + 8 + own.height < innerHeight;
  const below = word.dataset.side === "0" ? !roomAbove : roomBelow || !roomAbove; // not over the other line
  card.style.left = `${left + scrollX}px`;
  card.style.top = `${(below ? box.bottom + 8 : box.top - own.height - 8) + scrollY}px`;
}

function* lines(token, row) {
  yield make("p", { class: "card-head" }, make("b", {}, token.text), make("code", {}, token.tag ?? ""), make("i", {}, row.standard));
  yield* meaningLines(meaningIn(standards[row.standard]?.tags, token.tag));
  if (token.xpos) yield make("p", {}, make("code", {}, token.xpos), " ", plain(meaningIn(standards[row.standard]?.tags, token.xpos)));
  if (token.relation) {
    const head = token.head ? `${say("head")} ${row.tokens[token.head - 1].text}` : say("root");
    yield make("p", { class: "card-relation" }, make("code", {}, token.relation), ` ${head}`);
    yield* meaningLines(meaningIn(standards[row.standard]?.relations, token.relation));
  }
  if (token.marginals && Object.keys(token.marginals).length > 1) yield bars(token.marginals);
  else if (token.confidence !== undefined) yield make("p", { class: "dim" }, `${say("sure")} ${percent(token.confidence)}`);
}

function* meaningLines(found) {
  if (!found) return;
  if (found.chinese) yield make("p", { lang: "zh-Hans" }, found.chinese);
  if (found.english) yield make("p", { class: "dim", lang: "en" }, found.english);
}

const plain = (found) => (found ? (isChinese() ? found.chinese : found.english) : "");
const percent = (share) => `${(100 * share).toFixed(share > 0.9995 ? 0 : 1)} %`;

function bars(marginals) {
  const list = make("ul", { class: "bars" });
  const sorted = Object.entries(marginals).sort((a, b) => b[1] - a[1]).slice(0, MOST);
  const rest = 1 - Object.values(marginals).reduce((sum, share) => sum + share, 0); // the word is cut otherwise
  const rows = [...sorted.map(([tag, share]) => [make("code", {}, tag), share]), [make("i", {}, say("otherwise")), rest]];
  for (const [name, share] of rows.filter(([, share]) => share >= LEAST)) {
    const bar = make("span", { class: "bar" });
    bar.style.setProperty("--share", share);
    list.append(make("li", {}, name, bar, make("span", {}, percent(share))));
  }
  return list;
}
