/* What every rank of a program does over time. */

const AXIS = 30; // Room for the time below the rows [pixels].
const NAMES = 64; // Room for the numbers of ranks beside them.

class RanksSection {
  constructor(data) {
    this.data = data.ranks;
    this.plane = new Plane(byId("gantt"), { bounds: [0, 0, 1, 1], paint: (plane) => this.paint(plane), margin: 0, zooms: "time" });
    this.plane.buttons(byId("ranks-in"), byId("ranks-out"), byId("ranks-reset"));
    byId("ranks-chart").addEventListener("change", (event) => this.open(Number(event.target.value)));
    const canvas = byId("gantt");
    canvas.addEventListener("keydown", (event) => {
      const step = { ArrowRight: -60, ArrowLeft: 60 }[event.key];
      if (step) { event.preventDefault(); this.plane.moveBy(step, 0); }
    });
    canvas.addEventListener("pointermove", (event) => {
      const words = event.buttons ? "" : this.find(event.offsetX, event.offsetY);
      if (words) tip.show(event, words);
      else tip.hide();
    });
    canvas.addEventListener("pointerleave", () => tip.hide());
    selection.listeners.push((number) => {
      const place = this.data.charts.findIndex((chart) => chart.point === number);
      if (place >= 0) { byId("ranks-chart").value = place; this.open(place); }
    });
  }

  async open(place) {
    const chart = this.data.charts[place];
    const arrays = await arraysOf(chart);
    if (byId("ranks-chart").value !== String(place)) return;
    this.chart = chart;
    this.arrays = arrays;
    byId("gantt").style.height = `${Math.min(620, Math.max(160, chart.ranks.length * 14)) + AXIS}px`;
    byId("gantt").setAttribute("aria-label", `${chart.label}: ${chart.ranks.length} ranks over ${whole(chart.end)} cycles. The table below has the shares of the time.`);
    for (const table of document.querySelectorAll(".ranks-shares")) table.hidden = table.dataset.chart !== String(place);
    this.plane.setBounds([0, 0, chart.end, 1]);
  }

  row(plane) { return (plane.height - AXIS) / this.chart.ranks.length; }

  /** Time to pixels, right of the numbers: a factor and what is added. */
  time(plane) {
    const [a, b] = plane.transform;
    const room = (plane.width - NAMES) / plane.width;
    return [a * room, b * room + NAMES];
  }

  paint(plane) {
    if (!this.chart) return;
    const { context } = plane;
    const { rank, activity, begin, end } = this.arrays;
    const [a, b] = this.time(plane);
    const row = this.row(plane), gap = row > 5 ? 1 : 0;
    context.save();
    context.beginPath();
    context.rect(NAMES, 0, plane.width - NAMES, plane.height - AXIS);
    context.clip();
    this.data.activities.forEach(([, colour], code) => {
      context.fillStyle = colour;
      for (let number = 0; number < rank.length; number++) {
        if (activity[number] !== code) continue;
        const left = begin[number] * a + b, right = end[number] * a + b;
        if (right < NAMES || left > plane.width) continue;
        // Less than a pixel wide it covers that part of the pixel; wide ones are told from the next by a gap.
        const width = right - left > 5 ? right - left - 1 : right - left;
        context.fillRect(left, rank[number] * row, width, row - gap);
      }
    });
    context.restore();
    this.axes(plane, a, b, row);
  }

  axes(plane, a, b, row) {
    const { context } = plane;
    context.fillStyle = theme.colour("soft");
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    context.textAlign = "right";
    const every = Math.max(1, Math.ceil(13 / row));
    for (let number = 0; number < this.chart.ranks.length; number += every) {
      context.fillText(`rank ${this.chart.ranks[number]}`, NAMES - 6, (number + 0.5) * row);
    }
    context.textAlign = "center";
    const from = Math.max(0, (NAMES - b) / a), to = Math.min(this.chart.end, (plane.width - b) / a);
    const step = niceStep((to - from) / 8);
    for (let time = Math.ceil(from / step) * step; time <= to; time += step) {
      const x = time * a + b;
      context.fillRect(x, plane.height - AXIS, 1, 4);
      context.fillText(whole(time), Math.min(Math.max(x, NAMES + 14), plane.width - 22), plane.height - AXIS + 12);
    }
    context.fillText("time [cycles]", (plane.width + NAMES) / 2, plane.height - 6);
  }

  find(pixelX, pixelY) {
    if (!this.chart || pixelX < NAMES) return "";
    const [a, b] = this.time(this.plane);
    const row = Math.floor(pixelY / this.row(this.plane)), time = (pixelX - b) / a;
    const { rank, activity, begin, end } = this.arrays;
    const found = rank.findIndex((number, place) => number === row && begin[place] <= time && time < end[place]);
    if (found < 0) return "";
    const [name] = this.data.activities[activity[found]];
    return `rank ${this.chart.ranks[row]}: ${name}\ncycles ${whole(begin[found])} to ${whole(end[found])} (${whole(end[found] - begin[found])})`;
  }
}

/** 1, 2 or 5 times a power of ten, at least so much. */
function niceStep(least) {
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
  return power * [1, 2, 5, 10].find((factor) => factor * power >= least);
}

function startRanks(data) {
  if (!data.ranks.charts.length) return null;
  return new RanksSection(data).open(0);
}
