/* Start what the page has; `data-ready` on the body tells that everything is drawn. */

function trouble(words) {
  byId("trouble").textContent = words;
  byId("trouble").hidden = false;
}

/** Run the plotting library, which the page holds compressed. */
async function loadPlotly() {
  const script = element("script");
  script.textContent = new TextDecoder().decode(await unpacked(byId("plotly").textContent));
  document.head.append(script);
}

async function start() {
  theme.start();
  document.querySelectorAll("table.sortable").forEach(makeSortable);
  if (!("DecompressionStream" in window)) {
    trouble("This browser is too old for the figures (Chrome 80, Firefox 113 and Safari 16.4 can draw them); the tables are all here.");
    return;
  }
  const data = JSON.parse(byId("data").textContent);
  const network = startNetwork(data);
  const sections = [network?.opened, startRanks(data)];
  if (data.figures.length || data.trees.points.length) {
    await loadPlotly();
    startCurves(data);
    startTrees(data, network);
  }
  await Promise.all(sections);
  document.body.dataset.ready = "";
}

start().catch((error) => trouble(`The figures could not be drawn: ${error.message}`));
