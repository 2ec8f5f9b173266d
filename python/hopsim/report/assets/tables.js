/* Tables that a click on a heading sorts, and tables made from rows. */

/** The number that a cell begins with; cells without one come last. */
function sortKey(cell) {
  const number = parseFloat(cell.textContent.replaceAll(",", ""));
  return Number.isNaN(number) ? Infinity : number;
}

function sortBy(table, column, descending) {
  const numeric = table.tHead.rows[0].cells[column].classList.contains("number");
  const rows = [...table.tBodies[0].rows];
  const compare = numeric
    ? (one, other) => sortKey(one.cells[column]) - sortKey(other.cells[column]) || 0
    : (one, other) => one.cells[column].textContent.localeCompare(other.cells[column].textContent, "en", { numeric: true });
  rows.sort((one, other) => (descending ? -compare(one, other) : compare(one, other)));
  table.tBodies[0].append(...rows);
}

function makeSortable(table) {
  const headings = [...table.tHead.rows[0].cells];
  headings.forEach((heading, column) => {
    const button = element("button", { type: "button", title: "Sort by this column" }, heading.textContent);
    heading.replaceChildren(button);
    button.addEventListener("click", () => {
      const descending = heading.getAttribute("aria-sort") === "ascending";
      for (const other of headings) other.removeAttribute("aria-sort");
      heading.setAttribute("aria-sort", descending ? "descending" : "ascending");
      sortBy(table, column, descending);
    });
  });
}

/** A table; columns from the second on are numbers. */
function tableOf(caption, headings, rows) {
  const cell = (name) => (text, column) => element(name, column ? { class: "number" } : {}, text);
  return element("table", { class: "grid" },
    element("caption", {}, caption),
    element("thead", {}, element("tr", {}, ...headings.map(cell("th")))),
    element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map(cell("td"))))));
}
