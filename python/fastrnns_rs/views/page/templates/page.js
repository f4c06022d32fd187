"use strict";
// Tables are sorted and filtered, and marks show their text. Without this script, everything is there already.
{
  const number = (cell) => {
    const text = cell?.dataset.value;
    return text === undefined ? undefined : Number(text);
  };
  const compare = (a, b) => {
    if (a.value !== undefined && b.value !== undefined) return a.value - b.value;
    if ((a.value === undefined) !== (b.value === undefined)) return a.value === undefined ? 1 : -1;
    return a.text < b.text ? -1 : a.text > b.text ? 1 : 0;
  };
  const sort = (table, place, heading) => {
    const body = table.tBodies[0];
    const keys = [...body.rows].map((row, index) => {
      const cell = row.cells[place];
      return { row, index, value: number(cell), text: cell ? cell.textContent : "" };
    });
    const numeric = keys.some((key) => key.value !== undefined);
    const before = heading.getAttribute("aria-sort");
    const down = before ? before === "ascending" : numeric;
    keys.sort((a, b) => {
      // Missing numbers stay last in both directions.
      const order = compare(a, b);
      const swap = down && (a.value === undefined) === (b.value === undefined);
      return (swap ? -order : order) || a.index - b.index;
    });
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", down ? "descending" : "ascending");
    // Rows that are moved within their body take ten times as long.
    const sorted = body.cloneNode();
    sorted.append(...keys.map((key) => key.row));
    body.replaceWith(sorted);
  };
  const filter = (table, words, count) => {
    const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of table.tBodies[0].rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !wanted.every((word) => text.includes(word));
      shown += row.hidden ? 0 : 1;
    }
    count.textContent = wanted.length ? `${shown} of ${table.tBodies[0].rows.length} rows` : "";
  };
  for (const table of document.querySelectorAll("table")) {
    [...table.tHead.rows[0].cells].forEach((heading, place) => {
      if (!heading.textContent.trim()) return;
      const button = document.createElement("button");
      button.type = "button";
      button.append(...heading.childNodes);
      button.addEventListener("click", () => sort(table, place, heading));
      heading.append(button);
    });
    if ("filter" in table.dataset) {
      const label = document.createElement("label");
      const input = document.createElement("input");
      const count = document.createElement("span");
      input.type = "search";
      count.setAttribute("role", "status");
      label.append("Rows with: ", input, " ", count);
      input.addEventListener("input", () => filter(table, input.value, count));
      table.parentElement.before(label);
    }
  }
  const tip = document.getElementById("tip");
  const titles = new WeakMap();
  const text = (mark) => {
    const title = mark.querySelector(":scope > title");
    if (title) {
      titles.set(mark, title.textContent);
      title.remove(); // The browser would show it too.
    }
    return titles.get(mark);
  };
  document.addEventListener("pointermove", (event) => {
    const mark = event.target.closest?.("svg use, svg path");
    const shown = mark && text(mark);
    tip.hidden = !shown;
    if (!shown) return;
    tip.textContent = shown;
    const left = Math.min(event.clientX + 12, innerWidth - tip.offsetWidth - 8);
    tip.style.left = `${Math.max(left, 8)}px`;
    tip.style.top = `${Math.max(event.clientY - tip.offsetHeight - 12, 8)}px`;
  });
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open])")];
    for (const one of opened) one.open = true;
  });
  addEventListener("afterprint", () => {
    for (const one of opened) one.open = false;
  });
}
