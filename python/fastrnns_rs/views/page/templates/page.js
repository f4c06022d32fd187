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
  // A page lays out thousands of rows for half a second: the first of a long table are enough at once.
  const MOST = 200;
  const refreshers = new Map();
  const refresh = (table) => refreshers.get(table)?.();
  const rowsOf = (table, input, count, more) => {
    let all = false;
    more.type = "button";
    more.addEventListener("click", () => {
      all = true;
      refresh(table);
    });
    refreshers.set(table, () => {
      const wanted = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      const { rows } = table.tBodies[0];
      let found = 0;
      for (const row of rows) {
        const text = wanted.length ? row.textContent.toLowerCase() : "";
        const fits = wanted.every((word) => text.includes(word));
        found += fits ? 1 : 0;
        row.hidden = !fits;
        // On paper they are shown.
        row.classList.toggle("rest", !all && found > MOST);
      }
      count.textContent = wanted.length ? `${found} of ${rows.length} rows` : "";
      more.hidden = all || found <= MOST;
      more.textContent = `Show all ${found} rows`;
    });
  };
  for (const table of document.querySelectorAll("table")) {
    [...table.tHead.rows[0].cells].forEach((heading, place) => {
      if (!heading.textContent.trim()) return;
      const button = document.createElement("button");
      button.type = "button";
      button.append(...heading.childNodes);
      button.addEventListener("click", () => {
        sort(table, place, heading);
        refresh(table);
      });
      heading.append(button);
    });
    if ("filter" in table.dataset) {
      const label = document.createElement("label");
      const input = document.createElement("input");
      const count = document.createElement("span");
      const more = document.createElement("button");
      input.type = "search";
      count.setAttribute("role", "status");
      label.append("Rows with: ", input, " ", count);
      input.addEventListener("input", () => refresh(table));
      table.parentElement.before(label);
      if (table.tBodies[0].rows.length > MOST) table.parentElement.after(more);
      rowsOf(table, input, count, more);
      refresh(table);
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
    const cell = event.target.closest?.("td[data-value]");
    const shown = cell ? `exact: ${cell.dataset.value}` : mark && text(mark);
    tip.hidden = !shown;
    if (!shown) return;
    tip.textContent = shown;
    const left = Math.min(event.clientX + 12, innerWidth - tip.offsetWidth - 8);
    tip.style.left = `${Math.max(left, 8)}px`;
    tip.style.top = `${Math.max(event.clientY - tip.offsetHeight - 12, 8)}px`;
  });
  // Parts that are cut at the right say so, also when a fold opens or the window changes.
  const watch = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      const box = target.closest(".scroll");
      box.classList.toggle("wide", box.scrollWidth > box.clientWidth + 1);
    }
  });
  for (const box of document.querySelectorAll(".scroll")) {
    watch.observe(box);
    watch.observe(box.lastElementChild);
  }
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open])")];
    for (const one of opened) one.open = true;
  });
  addEventListener("afterprint", () => {
    for (const one of opened) one.open = false;
  });
}
