// Tables of words that are wider than a phone are stacked (torchcent.css); tables of numbers scroll.
addEventListener("load", () => {
  for (const wrapper of document.querySelectorAll(".pst-scrollable-table-container")) {
    const table = wrapper.querySelector("table");
    const cells = [...table.querySelectorAll("tbody td")];
    const numbers = cells.filter((cell) => /^[<>~±+-]?\d/.test(cell.textContent.trim()));
    if (wrapper.scrollWidth <= wrapper.clientWidth || 3 * numbers.length > cells.length) continue;
    const heads = [...table.querySelectorAll("thead th")].map((head) => head.textContent.trim());
    for (const cell of cells) {
      const head = heads[cell.cellIndex];
      if (head && cell.cellIndex && cell.textContent.trim()) cell.dataset.label = head;
    }
    table.classList.add("stacked");
  }
});

// What opens the pages below another one has a name for those who hear it.
addEventListener("DOMContentLoaded", () => {
  for (const summary of document.querySelectorAll("nav summary")) summary.ariaLabel = "Pages below";
});
