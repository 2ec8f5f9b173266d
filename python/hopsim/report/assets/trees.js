/* Congestion trees: how many packets stand in them over time, and their roots. */

const TREE_HEADINGS = ["Root", "Class", "Packets, mean", "Most", "Links, most", "Depth, most", "Victims", "First at cycle", "Share of the looks"];

class TreesSection {
  constructor(data, network) {
    this.points = data.trees.points;
    this.palette = data.palette;
    this.network = network;
    byId("trees-point").addEventListener("change", (event) => this.open(Number(event.target.value)));
    theme.listeners.push(() => this.draw());
    selection.listeners.push((number) => {
      const place = this.points.findIndex((point) => point.point === number);
      if (place >= 0) { byId("trees-point").value = place; this.open(place); }
    });
  }

  open(place) {
    this.point = this.points[place];
    this.draw();
    this.showRoots();
  }

  draw() {
    const { cycles, packets, total, rows } = this.point;
    byId("trees-figure").hidden = !rows.length;
    if (!rows.length) return;
    const [ink, line, soft] = ["ink", "line", "soft"].map(theme.colour);
    const trace = (name, values, colour, width) => ({ type: "scatter", mode: "lines", name: plain(name), x: cycles, y: values,
      line: { color: colour === "#000000" ? ink : colour, width } });
    const traces = [trace("all trees", total, soft, 2.4),
      ...packets.map((values, number) => trace(rows[number].name, values, this.palette[number % this.palette.length], 1.6))];
    const axis = { gridcolor: line, zerolinecolor: line, linecolor: soft, color: ink, automargin: true };
    Plotly.react(byId("trees-plot"), traces, { autosize: true, margin: { l: 60, r: 12, t: 10, b: 44 }, hovermode: "x unified",
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { family: "system-ui, sans-serif", color: ink, size: 12 },
      hoverlabel: { bgcolor: theme.colour("paper") }, legend: { orientation: "v" },
      xaxis: { ...axis, title: { text: "Cycle", font: { size: 12 } } }, yaxis: { ...axis, rangemode: "tozero", title: { text: "Packets in trees", font: { size: 12 } } } },
    { displaylogo: false, responsive: true, displayModeBar: false });
  }

  showRoots() {
    const { rows, roots } = this.point;
    const table = tableOf(rows.length ? `Roots of congestion trees: ${rows.length} of ${whole(roots)}` : "No packets stood in a tree",
      TREE_HEADINGS, rows.map((row) => [row.name, ...row.cells]));
    [...table.tBodies[0].rows].forEach((line, number) => {
      if (!this.network) return;
      const button = element("button", { type: "button", title: "Show it in the network" }, rows[number].name);
      button.addEventListener("click", () => this.network.showRouter(this.point.point, rows[number].router));
      line.cells[0].replaceChildren(button);
    });
    byId("trees-roots").replaceChildren(table);
  }
}

function startTrees(data, network) {
  if (!data.trees.points.length) return;
  byId("trees-point").value = data.trees.first;
  new TreesSection(data, network).open(data.trees.first);
}
