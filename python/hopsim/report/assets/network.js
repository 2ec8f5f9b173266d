/* The section of the network: which point, which quantity, which time; tables of what is drawn. */

const LISTED = 12;
const HOT = 0.9;
const PER_SECOND = 6;

/** A network with the loads that are shown now. */
class Network {
  constructor(packed, arrays) {
    Object.assign(this, packed, arrays);
    this.all = [...this.source.keys()];
    this.values = new Uint16Array(this.source.length);
    this.offset = 0;
    this.unit = 1;
  }

  load(link) { return this.values[this.offset + link] / this.unit; }

  name(vertex) {
    return vertex < this.routers ? `${this.router} ${vertex}` : `node ${vertex - this.routers}`;
  }

  linkName(link) { return `${this.name(this.source[link])} → ${this.name(this.target[link])}`; }

  linkWords(link) { return `${this.linkName(link)}\n${this.classes[this.kind[link]]}: ${percent(this.load(link))}`; }

  loads() { return this.all.map((link) => this.load(link)); }
}

class NetworkSection {
  constructor(data) {
    this.data = data.network;
    this.ramps = data.ramps;
    this.step = 0;
    this.networks = new Map();
    const paint = (plane) => this.drawing?.paint(plane, this.look());
    this.plane = new Plane(byId("drawing"), { bounds: [0, 0, 1, 1], paint, margin: 26 });
    this.plane.buttons(byId("zoom-in"), byId("zoom-out"), byId("zoom-reset"));
    this.detailPlane = new Plane(byId("detail"), { bounds: [0, 0, 1, 1], paint: (plane) => this.group?.paint(plane, this.look()), margin: 4 });
    this.listen();
    theme.listeners.push(() => this.showScale());
    selection.listeners.push((point) => this.select(point));
  }

  listen() {
    byId("network-point").addEventListener("change", (event) => this.open(Number(event.target.value)));
    byId("network-quantity").addEventListener("change", () => {
      this.showPlayer();
      this.update();
    });
    byId("network-relative").addEventListener("change", () => this.update());
    byId("window").addEventListener("change", () => this.update());
    byId("play").addEventListener("click", () => this.play(!this.timer));
    byId("time").addEventListener("input", (event) => {
      byId("window").checked = false;
      this.step = Number(event.target.value);
      this.update();
    });
    byId("pick").addEventListener("input", (event) => this.pick(Number(event.target.value)));
    const canvas = byId("drawing");
    canvas.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      this.pick((this.picked + step + this.drawing.picks) % this.drawing.picks);
    });
    canvas.addEventListener("click", (event) => {
      const { pick } = this.drawing.find(this.plane, event.offsetX, event.offsetY);
      if (pick >= 0 && !this.plane.moved) this.pick(pick);
    });
    this.hover(canvas, (event) => this.drawing.find(this.plane, event.offsetX, event.offsetY).words);
    this.hover(byId("detail"), (event) => this.group?.find(this.detailPlane, event.offsetX, event.offsetY) ?? "");
  }

  hover(canvas, wordsAt) {
    canvas.addEventListener("pointermove", (event) => {
      const words = event.buttons ? "" : wordsAt(event);
      if (words) tip.show(event, words);
      else tip.hide();
    });
    canvas.addEventListener("pointerleave", () => tip.hide());
  }

  /** The point of the sweep with this number, if it is drawn. */
  select(number) {
    const place = this.data.points.findIndex((point) => point.point === number);
    if (place < 0) return;
    byId("network-point").value = place;
    this.open(place);
  }

  async open(place) {
    this.play(false);
    const point = this.data.points[place];
    const packed = this.data.networks[point.network];
    const [arrays, structure] = await Promise.all([arraysOf(point), arraysOf(packed)]);
    if (byId("network-point").value !== String(place)) return;
    if (!this.networks.has(packed)) this.networks.set(packed, this.drawingOf(new Network(packed, structure)));
    this.point = point;
    this.arrays = arrays;
    this.step = 0;
    const drawing = this.networks.get(packed);
    const isNew = drawing !== this.drawing;
    this.drawing = drawing;
    if (isNew) this.showDrawing();
    this.showQuantities();
    this.showPlayer();
    this.update();
    byId("drawing").dataset.point = place;
  }

  drawingOf(network) {
    return network.shape === "groups" ? new GroupDrawing(network) : new FlatDrawing(network);
  }

  showDrawing() {
    const { drawing } = this;
    const isGroups = drawing instanceof GroupDrawing;
    this.group = isGroups ? new OneGroup(drawing) : null;
    byId("detail-figure").hidden = !isGroups;
    byId("pick-name").textContent = capital(drawing.noun);
    byId("pick").max = drawing.picks - 1;
    byId("drawing-caption").textContent = drawing.caption();
    byId("drawing").setAttribute("aria-label", `${drawing.caption()}. The tables below have the numbers.`);
    const [left, bottom, right, top] = drawing.bounds;
    const aspect = (top - bottom) / Math.max(right - left, 1e-9);
    byId("drawing").style.height = `${Math.min(Math.max(aspect, 0.4), 0.9) * byId("drawing").clientWidth}px`;
    this.plane.setBounds(drawing.bounds);
    this.picked = 0;
    byId("pick").value = 0;
    if (this.group) this.showGroup();
  }

  showQuantities() {
    const select = byId("network-quantity"), before = select.value;
    const names = Object.keys(this.data.quantities).filter((name) => this.arrays[name] || this.arrays[`${name}_series`]);
    select.replaceChildren(...names.map((name) => element("option", { value: name }, name.replaceAll("_", " "))));
    if (names.includes(before)) select.value = before;
  }

  showPlayer() {
    const { times } = this.point;
    byId("player").hidden = !times;
    if (!times) return;
    byId("time").max = times.values.length - 1;
    const hasWindow = Boolean(this.arrays[byId("network-quantity").value]);
    byId("window-label").hidden = !hasWindow;
    byId("window").checked = hasWindow;
  }

  get overTime() { return Boolean(this.point.times) && !byId("window").checked; }

  /** Show the values of the quantity at the present time, or over the window. */
  update() {
    const { network } = this.drawing;
    const quantity = byId("network-quantity").value;
    network.values = this.arrays[this.overTime ? `${quantity}_series` : quantity];
    network.offset = this.overTime ? this.step * network.source.length : 0;
    network.unit = this.data.scale;
    this.highest = network.all.reduce((most, link) => Math.max(most, network.load(link)), 0);
    this.drawing.update?.();
    this.showScale();
    this.showMoment();
    this.plane.draw();
    this.detailPlane.draw();
    if (!this.timer) this.showTables();
  }

  get end() { return byId("network-relative").checked ? this.highest || 1 : 1; }

  look() {
    const { end } = this;
    return { ramp: this.ramps[theme.name], share: (load) => load / end, picked: this.picked };
  }

  showScale() {
    byId("scale-bar").style.background = `linear-gradient(to right, ${this.ramps[theme.name].join(", ")})`;
    if (!this.point) return;
    byId("scale-high").textContent = percent(this.end);
    byId("scale-name").textContent = this.data.quantities[byId("network-quantity").value];
  }

  showMoment() {
    const { times } = this.point;
    if (!times) return;
    byId("time").value = this.step;
    const value = times.values[this.step];
    const text = times.unit === "s" ? `until ${Number((value * 1e3).toPrecision(6))} ms` : `from cycle ${whole(value)}`;
    byId("moment").textContent = this.overTime ? text : "whole window";
    byId("time").setAttribute("aria-valuetext", byId("moment").textContent);
    drawSpark(byId("spark"), this.spark(), this.overTime ? this.step : -1);
  }

  /** Mean and highest load at every time. */
  spark() {
    const name = `${byId("network-quantity").value}_series`;
    this.sparks ??= new Map();
    if (!this.sparks.has(this.arrays[name])) {
      const count = this.drawing.network.source.length, values = this.arrays[name];
      const steps = this.point.times.values.map((_, step) => values.subarray(step * count, (step + 1) * count));
      const scaled = (fold) => steps.map((part) => fold(part) / this.data.scale);
      this.sparks.set(values, [scaled((part) => part.reduce((sum, value) => sum + value, 0) / count),
        scaled((part) => part.reduce((most, value) => Math.max(most, value), 0))]);
    }
    return this.sparks.get(this.arrays[name]);
  }

  play(on) {
    clearInterval(this.timer);
    this.timer = 0;
    byId("play").textContent = on ? "Pause" : "Play";
    if (!on) {
      if (this.drawing && this.point) this.showTables();
      return;
    }
    byId("window").checked = false;
    this.timer = setInterval(() => {
      this.step = (this.step + 1) % this.point.times.values.length;
      this.update();
    }, 1000 / PER_SECOND);
    this.update();
  }

  pick(number) {
    if (!(number >= 0 && number < this.drawing.picks)) return;
    this.picked = number;
    byId("pick").value = number;
    if (this.group) this.showGroup();
    this.plane.draw();
    this.showPicked();
  }

  /** Show a router of a point of the sweep, or its group. */
  async showRouter(point, router) {
    const place = this.data.points.findIndex((each) => each.point === point);
    if (place < 0) return;
    byId("network-point").value = place;
    await this.open(place);
    this.pick(this.group ? this.drawing.network.group[router] : router);
    byId("drawing").focus();
  }

  showGroup() {
    this.group.show(this.picked);
    this.detailPlane.setBounds(this.group.bounds);
    const caption = `Group ${this.picked}: its routers, and outwards the links to and from other groups`;
    byId("detail-caption").textContent = caption;
    byId("detail").setAttribute("aria-label", `${caption}. The table below has the highest loads.`);
  }

  showPicked() {
    const links = this.drawing.linksOf(this.picked);
    const caption = `${capital(this.drawing.noun)} ${this.picked}: the ${Math.min(LISTED, links.length)} most loaded of its ${whole(links.length)} links`;
    byId("picked").replaceChildren(this.highestOf(links, caption));
  }

  highestOf(links, caption) {
    const { network } = this.drawing;
    const sorted = [...links].sort((one, other) => network.load(other) - network.load(one)).slice(0, LISTED);
    const rows = sorted.map((link) => [network.linkName(link), network.classes[network.kind[link]], percent(network.load(link))]);
    return tableOf(caption, ["Link", "Class", byId("network-quantity").selectedOptions[0].textContent], rows);
  }

  showTables() {
    const { network } = this.drawing;
    const rows = network.classes.map((name, kind) => {
      const loads = network.all.filter((link) => network.kind[link] === kind).map((link) => network.load(link));
      const sum = loads.reduce((total, load) => total + load, 0);
      const most = loads.reduce((high, load) => Math.max(high, load), 0);
      const hot = loads.filter((load) => load > HOT).length;
      return [name, whole(loads.length), percent(sum / loads.length), percent(most), whole(hot)];
    });
    const when = this.overTime ? byId("moment").textContent : "whole window";
    byId("network-tables").replaceChildren(
      tableOf(`By class of links, each direction by itself; ${when}`, ["Class", "Links", "Mean", "Highest", `Above ${100 * HOT} %`], rows),
      this.highestOf(network.all, `The ${Math.min(LISTED, network.links)} most loaded of ${whole(network.links)} links; ${when}`));
    this.showPicked();
  }
}

/** Mean and highest load over time, and where the slider stands. */
function drawSpark(canvas, [mean, most], step) {
  const ratio = devicePixelRatio || 1, context = canvas.getContext("2d");
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  const inset = 8; // Half the handle of the slider below.
  const x = (number) => inset + (width - 2 * inset) * (mean.length > 1 ? number / (mean.length - 1) : 0.5);
  const y = (share) => height - 3 - (height - 6) * Math.min(1, share);
  for (const [values, colour] of [[mean, theme.colour("soft")], [most, theme.colour("bad")]]) {
    context.beginPath();
    values.forEach((value, number) => context.lineTo(x(number), y(value)));
    context.strokeStyle = colour;
    context.lineWidth = 1.4;
    context.stroke();
  }
  if (step < 0) return;
  context.fillStyle = theme.colour("ink");
  context.fillRect(x(step) - 0.75, 0, 1.5, height);
}

function startNetwork(data) {
  if (!data.network.points.length) return null;
  const section = new NetworkSection(data);
  byId("network-point").value = data.network.first;
  section.opened = section.open(data.network.first);
  return section;
}
