/* A network as a whole, and a dragonfly, which is drawn in two steps: its groups, and one group. */

/** Routers and nodes with all links. */
class FlatDrawing {
  constructor(network) {
    this.network = network;
    this.halves = halvesOf(network);
    this.bounds = boundsOf([...network.places, ...this.halves]);
    this.picks = network.routers;
    this.noun = network.router;
  }

  load(link) { return this.network.load(link); }

  paint(plane, { ramp, share, picked }) {
    const { places, routers, nodes } = this.network;
    const [unit] = plane.scale;
    drawHalves(plane, this.halves, (link) => share(this.load(link)), ramp, { thickness: Math.min(1.5, Math.max(0.6, unit / 26)) });
    const at = (vertex) => [places[2 * vertex], places[2 * vertex + 1]];
    const [ink, paper, soft] = ["ink", "drawn", "soft"].map(theme.colour);
    const radius = Math.min(11, Math.max(1, unit * 0.16));
    for (let node = routers; node < routers + nodes; node++) {
      if (radius > 2) disc(plane, at(node), Math.max(1.2, radius * 0.35), soft);
    }
    for (let router = 0; radius > 1.6 && router < routers; router++) disc(plane, at(router), radius, paper, soft);
    if (picked >= 0) disc(plane, at(picked), radius + 2, paper, ink, 2.5);
    for (let router = 0; radius > 8 && router < routers; router++) text(plane, at(router), router, ink, 9.5);
  }

  /** What is under a pixel: the number of what can be picked, and what a tip says. */
  find(plane, pixelX, pixelY) {
    const [unit] = plane.scale;
    const router = nearestPlace(plane, this.network.places, this.network.routers, pixelX, pixelY, Math.max(6, unit * 0.2));
    if (router >= 0) return { pick: router, words: this.network.name(router) };
    const link = nearestHalf(plane, this.halves, pixelX, pixelY);
    return { pick: -1, words: link < 0 ? "" : this.network.linkWords(link) };
  }

  linksOf(router) {
    const { source, target } = this.network;
    return this.network.all.filter((link) => source[link] === router || target[link] === router);
  }

  caption() {
    const { routers, nodes, classes, router, topology, legend } = this.network;
    const what = `${topology.replaceAll("_", " ")}: ${whole(routers)} ${router}${router === "switch" ? "es" : "s"}`;
    return `Load of the links of the ${what}` + (classes.includes("terminal") ? `, ${whole(nodes)} nodes (small dots)` : "") +
      (legend ? `. ${legend}` : "");
  }
}

/** The groups of a dragonfly, and between two of them one line for all links from the one to the other. */
class GroupDrawing {
  constructor(network) {
    this.network = network;
    const { group, routers, source, target } = network;
    this.picks = Math.max(...group) + 1;
    this.noun = "group";
    this.size = routers / this.picks;
    this.placeGroups();
    const pairs = new Map();
    this.pairOf = network.all.map((link) => {
      const [from, to] = [source[link], target[link]];
      if (to >= routers || group[from] === group[to]) return -1;
      const key = group[from] * this.picks + group[to];
      if (!pairs.has(key)) pairs.set(key, pairs.size);
      return pairs.get(key);
    });
    const keys = [...pairs.keys()];
    this.pairs = { source: Uint32Array.from(keys, (key) => Math.floor(key / this.picks)),
      target: Uint32Array.from(keys, (key) => key % this.picks), bend: new Int8Array(keys.length), places: this.centres };
    this.halves = halvesOf(this.pairs);
    this.between = new Float32Array(keys.length);
    this.inside = new Float32Array(this.picks);
  }

  placeGroups() {
    this.centres = new Float32Array(2 * this.picks);
    for (let group = 0; group < this.picks; group++) {
      const angle = Math.PI / 2 - 2 * Math.PI * group / this.picks;
      this.centres.set([Math.cos(angle), Math.sin(angle)], 2 * group);
    }
    this.bounds = [-1.08, -1.08, 1.08, 1.08];
    this.radius = Math.min(0.07, 0.55 * Math.PI / this.picks);
  }

  /** The highest loads of the links between groups, and inside them. */
  update() {
    const { source, target, group, routers } = this.network;
    this.between.fill(0);
    this.inside.fill(0);
    for (const link of this.network.all) {
      const load = this.network.load(link), pair = this.pairOf[link];
      if (pair >= 0) this.between[pair] = Math.max(this.between[pair], load);
      else if (target[link] < routers) this.inside[group[source[link]]] = Math.max(this.inside[group[source[link]]], load);
    }
  }

  paint(plane, { ramp, share, picked }) {
    // So many lines that the idle ones would hide what is between them.
    const look = this.picks > 60 ? { thickness: 0.7, faint: 0.12 } : {};
    drawHalves(plane, this.halves, (pair) => share(this.between[pair]), ramp, look);
    const [ink, soft] = ["ink", "soft"].map(theme.colour);
    const [unit] = plane.scale;
    const radius = Math.max(3, this.radius * unit);
    const every = Math.max(1, Math.ceil(16 / (2 * Math.PI * unit / this.picks)));
    for (let group = 0; group < this.picks; group++) {
      const at = [this.centres[2 * group], this.centres[2 * group + 1]];
      disc(plane, at, radius, colourOf(ramp, share(this.inside[group])), group === picked ? ink : soft, group === picked ? 3 : 1);
      const out = 1 + (radius + 9) / unit;
      // The last ones have no room beside the first.
      const isNamed = group % every === 0 && (group === 0 || this.picks - group >= every);
      if (isNamed || group === picked) text(plane, [at[0] * out, at[1] * out], group, group === picked ? ink : soft, 10.5);
    }
  }

  find(plane, pixelX, pixelY) {
    const [unit] = plane.scale;
    const group = nearestPlace(plane, this.centres, this.picks, pixelX, pixelY, Math.max(8, this.radius * unit + 3));
    if (group >= 0) return { pick: group, words: `group ${group}\nhighest inside: ${percent(this.inside[group])}` };
    const pair = nearestHalf(plane, this.halves, pixelX, pixelY);
    if (pair < 0) return { pick: -1, words: "" };
    const { source, target } = this.pairs;
    return { pick: -1, words: `group ${source[pair]} → group ${target[pair]}\n${percent(this.between[pair])}` };
  }

  linksOf(picked) {
    const { source, target, group, routers } = this.network;
    return this.network.all.filter((link) => group[source[link]] === picked || (target[link] < routers && group[target[link]] === picked));
  }

  caption() {
    const { routers, nodes } = this.network;
    return `Load of the links of the dragonfly: ${this.picks} groups of ${this.size} routers, ${whole(routers)} routers, ` +
      `${whole(nodes)} nodes. Lines: the highest load of the links from one group to another; discs: the highest load inside a group`;
  }
}

/** One group: its routers on a circle, links inside, and outwards the links to other groups. */
class OneGroup {
  constructor(drawing) {
    this.drawing = drawing;
    this.network = drawing.network;
    this.reverse = new Map();
    const { source, target, all } = this.network;
    for (const link of all) this.reverse.set(source[link] * 2 ** 26 + target[link], link);
    this.picked = -1;
  }

  show(picked) {
    this.picked = picked;
    const { source, target, group, routers, places, bend, all } = this.network;
    const inside = all.filter((link) => target[link] < routers && group[source[link]] === picked && group[target[link]] === picked);
    const part = (array) => inside.map((link) => array[link]);
    const local = halvesOf({ source: part(source), target: part(target), bend: part(bend), places });
    const out = all.filter((link) => target[link] < routers && group[source[link]] === picked && group[target[link]] !== picked);
    const members = [...Array(routers).keys()].filter((router) => group[router] === picked);
    const centre = [0, 1].map((axis) => members.reduce((sum, router) => sum + places[2 * router + axis], 0) / members.length);
    this.members = members;
    this.at = (router) => [places[2 * router] - centre[0], places[2 * router + 1] - centre[1]];
    for (let number = 0; number < local.length; number++) local[number] -= centre[number % 2];
    const radius = Math.max(1, Math.hypot(...this.at(members[0])));
    this.links = [...inside];
    const stubs = [];
    for (const [stub, link] of this.stubs(out, radius)) { this.links.push(link); stubs.push(...stub); }
    this.halves = Float32Array.from([...local, ...stubs]);
    const reach = radius * 1.62;
    this.bounds = [-reach, -reach, reach, reach];
    this.radius = radius;
  }

  /** For each link to another group its first half, outwards, and beyond it that of the link back. */
  *stubs(out, radius) {
    const { source, target } = this.network;
    this.labels = [];
    const bySource = groupBy(out, (link) => source[link]);
    for (const [router, links] of bySource) {
      const at = this.at(router), angle = Math.atan2(at[1], at[0]);
      const spread = 2 * Math.PI / this.members.length * 0.8;
      for (const [number, link] of links.entries()) {
        const turn = angle + (links.length > 1 ? (0.5 - number / (links.length - 1)) * spread : 0);
        const far = [Math.cos(turn) * radius * 1.45, Math.sin(turn) * radius * 1.45];
        const middle = [(at[0] + far[0]) / 2, (at[1] + far[1]) / 2];
        yield [[...at, (at[0] + middle[0]) / 2, (at[1] + middle[1]) / 2, ...middle], link];
        const back = this.reverse.get(target[link] * 2 ** 26 + router);
        if (back !== undefined) yield [[...far, (far[0] + middle[0]) / 2, (far[1] + middle[1]) / 2, ...middle], back];
        const label = [Math.cos(turn) * radius * 1.54, Math.sin(turn) * radius * 1.54];
        this.labels.push([label, this.network.group[target[link]]]);
      }
    }
  }

  paint(plane, { ramp, share }) {
    if (this.picked < 0) return;
    drawHalves(plane, this.halves, (number) => share(this.network.load(this.links[number])), ramp);
    const [ink, soft, paper] = ["ink", "soft", "drawn"].map(theme.colour);
    const [unit] = plane.scale;
    const spacing = 2 * Math.PI * this.radius / this.members.length * unit;
    for (const router of this.members) {
      const size = Math.min(13, Math.max(5, spacing * 0.36));
      disc(plane, this.at(router), size, paper, soft);
      if (size > 8) text(plane, this.at(router), router, ink, router > 999 ? 8 : 9.5);
    }
    if (2 * Math.PI * this.radius * 1.5 * unit / this.labels.length > 13) {
      for (const [at, group] of this.labels) text(plane, at, group, soft, 9);
    }
  }

  find(plane, pixelX, pixelY) {
    const number = this.picked < 0 ? -1 : nearestHalf(plane, this.halves, pixelX, pixelY);
    return number < 0 ? "" : this.network.linkWords(this.links[number]);
  }
}

function groupBy(items, key) {
  const found = new Map();
  for (const item of items) found.set(key(item), [...(found.get(key(item)) ?? []), item]);
  return found;
}
