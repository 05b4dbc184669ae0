"use strict";
// Tables sort by a click on a title, or by the keyboard: each title is a button.
for (const button of document.querySelectorAll("th button")) {
  button.addEventListener("click", () => {
    const title = button.closest("th");
    const table = title.closest("table");
    const place = [...title.parentNode.children].indexOf(title);
    const isNumber = title.dataset.kind === "number";
    const now = title.getAttribute("aria-sort");
    const up = isNumber ? now === "descending" : now !== "ascending";
    const value = (row) => {
      const cell = row.children[place];
      return isNumber ? parseFloat(cell.dataset.value ?? "NaN") : cell.textContent;
    };
    const compare = (a, b) => {
      const [x, y] = [value(a), value(b)];
      if (!isNumber) return x.localeCompare(y, "zh");
      if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y);
      return up ? x - y : y - x;
    };
    const rows = [...table.tBodies[0].rows].sort(compare);
    if (!isNumber && !up) rows.reverse();
    table.tBodies[0].append(...rows);
    for (const other of title.parentNode.children) other.removeAttribute("aria-sort");
    title.setAttribute("aria-sort", up ? "ascending" : "descending");
    document.getElementById("said").textContent =
      `${button.textContent}: ${up ? "ascending" : "descending"}`;
  });
}
