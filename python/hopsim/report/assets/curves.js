/* Curves and bars, drawn by plotly.js; one legend of buttons for all panels of a figure. */

const SYMBOLS = ["circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "x", "star"];
const GLYPHS = ["●", "■", "▲", "◆", "▼", "✚", "✖", "★"];
const DASHES = ["solid", "dash", "dot"];
const STROKES = ["", "6 3", "2 3"];

class CurveFigure {
  constructor(box, figure, palette) {
    this.figure = figure;
    this.palette = palette;
    this.shown = figure.labels.map(() => true);
    this.selected = null;
    this.panels = [...box.querySelectorAll(".plot")];
    this.box = box;
    if (!figure.bars) this.makeLegend(box.querySelector(".legend"));
    box.querySelector(".reset")?.addEventListener("click", () => this.draw());
    box.querySelector(".logarithmic")?.addEventListener("change", () => this.draw());
    this.draw();
    this.panels.forEach((plot) => plot.on("plotly_click", (event) => {
      const point = event.points[0].customdata;
      if (point !== null && point !== undefined) selection.show(point);
    }));
  }

  colour(number) {
    const colour = this.palette[number % this.palette.length];
    return colour === "#000000" ? theme.colour("ink") : colour;
  }

  makeLegend(legend) {
    this.buttons = this.figure.labels.map((label, number) => {
      const button = element("button", { type: "button", "aria-pressed": "true",
        title: "Show or hide; double-click: this one alone" }, label);
      button.prepend(this.swatch(number));
      button.addEventListener("click", () => this.toggle(number));
      button.addEventListener("dblclick", () => this.isolate(number));
      return button;
    });
    legend.append(...this.buttons);
  }

  swatch(number) {
    const space = "http://www.w3.org/2000/svg";
    const made = (name, attributes) => {
      const part = document.createElementNS(space, name);
      for (const [key, value] of Object.entries(attributes)) part.setAttribute(key, value);
      return part;
    };
    const dash = STROKES[Math.floor(number / this.palette.length) % STROKES.length];
    const swatch = made("svg", { width: 30, height: 14, "aria-hidden": "true" });
    const line = made("line", { x1: 1, x2: 29, y1: 7, y2: 7, "stroke-width": 2, "stroke-dasharray": dash });
    const glyph = made("text", { x: 15, y: 11, "text-anchor": "middle", "font-size": 11 });
    glyph.textContent = GLYPHS[number % GLYPHS.length];
    swatch.append(line, glyph);
    const paint = () => { line.style.stroke = this.colour(number); glyph.style.fill = this.colour(number); };
    paint();
    theme.listeners.push(paint);
    return swatch;
  }

  toggle(number) {
    this.shown[number] = !this.shown[number];
    this.showCurves();
  }

  isolate(number) {
    const alone = this.shown.every((shown, other) => shown === (other === number));
    this.shown = this.shown.map((_, other) => alone || other === number);
    this.showCurves();
  }

  showCurves() {
    this.buttons.forEach((button, number) => button.setAttribute("aria-pressed", this.shown[number]));
    const curves = this.shown.map((_, number) => number);
    for (const plot of this.panels) Plotly.restyle(plot, { visible: this.shown }, curves);
  }

  /** Put a ring round the points of the sweep that are shown elsewhere. */
  select(point) {
    this.selected = point;
    this.panels.forEach((plot, number) => {
      const ring = this.ring(this.figure.panels[number]);
      if (!this.figure.bars) Plotly.restyle(plot, { x: [ring.x], y: [ring.y] }, [this.figure.labels.length]);
    });
  }

  ring(panel) {
    const x = [], y = [];
    for (const curve of panel.curves) {
      curve.point.forEach((point, place) => {
        if (point === this.selected && curve.y[place] !== null) { x.push(curve.x[place]); y.push(curve.y[place]); }
      });
    }
    return { x, y };
  }

  draw() {
    const logarithmic = this.box.querySelector(".logarithmic")?.checked;
    this.figure.panels.forEach((panel, number) => {
      const isLog = logarithmic && panel.heading === "Latency";
      const traces = this.figure.bars ? [this.bars(panel)] : this.curves(panel);
      const config = { displaylogo: false, responsive: true, displayModeBar: this.figure.bars ? false : "hover",
        modeBarButtons: [["toImage", "zoom2d", "pan2d", "resetScale2d"]], toImageButtonOptions: { format: "svg" } };
      Plotly.react(this.panels[number], traces, this.layout(panel, isLog), config);
    });
  }

  curves(panel) {
    const traces = panel.curves.map((curve, number) => ({
      type: "scatter",
      mode: "lines+markers",
      name: this.figure.labels[number],
      x: curve.x,
      y: curve.y,
      visible: this.shown[number],
      customdata: curve.point,
      error_y: { ...interval(curve.above, curve.below), thickness: 1, width: 2.5 },
      line: { color: this.colour(number), width: 1.7,
        dash: DASHES[Math.floor(number / this.palette.length) % DASHES.length] },
      marker: { size: 7, symbol: SYMBOLS[number % SYMBOLS.length], ...this.fill(curve.hollow, this.colour(number)) },
      text: curve.y.map((_, place) => this.hover(panel, number, place)),
      hovertemplate: "%{text}<extra></extra>",
    }));
    const ring = { type: "scatter", mode: "markers", hoverinfo: "skip", ...this.ring(panel),
      marker: { size: 15, symbol: "circle-open", color: theme.colour("ink"), line: { width: 1.6 } } };
    return [...traces, ring];
  }

  /** Hollow marks have the colour of the paper inside, so that no line is seen through them. */
  fill(hollow, colour) {
    return { color: hollow.map((is) => (is ? theme.colour("paper") : colour)), line: { color: colour, width: 1.6 }, opacity: 1 };
  }

  hover(panel, number, place) {
    const curve = panel.curves[number];
    const lines = [`<b>${plain(this.figure.labels[number])}</b>`,
      `${plain(this.figure.x)}: ${shortNumber(curve.x[place])}`,
      `${plain(panel.label)}: ${shortNumber(curve.y[place])}` +
        (curve.half[place] ? ` ± ${shortNumber(curve.half[place])}` : "")];
    if (curve.verdict[place]) lines.push(plain(curve.verdict[place]));
    return lines.join("<br>");
  }

  bars(panel) {
    const values = panel.curves.map((curve) => curve.y[0]);
    return {
      type: "bar",
      orientation: "h",
      x: values,
      y: this.figure.labels.map(plain),
      customdata: panel.curves.map((curve) => curve.point[0]),
      error_x: { ...interval(panel.curves.map((curve) => curve.above[0]), panel.curves.map((curve) => curve.below[0])),
        thickness: 1.2, width: 4, color: theme.colour("ink") },
      marker: this.fill(panel.curves.map((curve) => curve.hollow[0]), this.colour(0)),
      text: panel.curves.map((_, number) => this.hover(panel, number, 0)),
      textposition: "none",
      hovertemplate: "%{text}<extra></extra>",
    };
  }

  layout(panel, isLog) {
    const [ink, line, soft] = ["ink", "line", "soft"].map(theme.colour);
    const axis = { gridcolor: line, zerolinecolor: line, linecolor: soft, color: ink, automargin: true,
      title: { font: { size: 12 }, standoff: 8 }, tickfont: { size: 11.5 } };
    const label = (text) => ({ ...axis.title, text: plain(text) });
    const layout = { autosize: true, showlegend: false, hovermode: "closest", bargap: 0.35,
      margin: { l: 56, r: 12, t: 28, b: 44 }, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: "system-ui, sans-serif", color: ink, size: 12 },
      modebar: { color: soft, activecolor: ink, bgcolor: "rgba(0,0,0,0)" }, shapes: [] };
    if (this.figure.bars) {
      layout.xaxis = { ...axis, title: label(panel.label), rangemode: "tozero" };
      layout.yaxis = { ...axis, autorange: "reversed", ticksuffix: "  " };
      return layout;
    }
    const end = 1.04 * Math.max(...panel.curves.flatMap((curve) => curve.x.filter((place) => place !== null)));
    layout.xaxis = { ...axis, title: label(this.figure.x), range: [0, end] };
    layout.yaxis = { ...axis, title: label(panel.label), type: isLog ? "log" : "linear", rangemode: "tozero" };
    if (!isLog) layout.yaxis.range = [0, panel.limit ?? 1.05 * highest(panel)];
    if (panel.diagonal) {
      layout.shapes.push({ type: "line", x0: 0, y0: 0, x1: end, y1: end, layer: "below",
        line: { color: soft, width: 1, dash: "dot" } });
    }
    return layout;
  }
}

/** Error bars that go so far above and below values. */
function interval(above, below) {
  return { type: "data", symmetric: false, array: above, arrayminus: below };
}

/** The highest end of an interval. */
function highest(panel) {
  return Math.max(...panel.curves.flatMap((curve) => curve.y.map((value, place) => (value ?? 0) + curve.above[place])));
}

/** Text that plotly shows as it is. */
const plain = (text) => String(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

const shortNumber = (number) => (number === null ? "–" : Number(number.toPrecision(5)).toLocaleString("en", { maximumSignificantDigits: 5 }));

function startCurves(data) {
  const figures = data.figures.map((figure, number) =>
    new CurveFigure(document.querySelector(`[data-figure="${number}"]`), figure, data.palette));
  theme.listeners.push(() => figures.forEach((figure) => figure.draw()));
  selection.listeners.push((point) => figures.forEach((figure) => figure.select(point)));
}
