/* Links as halves of lines: each link is drawn from where it leaves to the middle of the way. */

const STUB = 101; // As a bend: only the end of the link is drawn, in this direction.
const DEGREES = 15; // The direction per unit beyond it.
const END = 0.42; // How long ends are.

/**
 * Six numbers for each link: begin, control point and end of what is drawn of it.
 *
 * `lines` has source, target, bend (percent of the length, or STUB and a direction) of every link and the places of vertices.
 */
function halvesOf({ source, target, bend, places }) {
  const directions = new Set();
  source.forEach((vertex, link) => directions.add(vertex * 2 ** 26 + target[link]));
  const halves = new Float32Array(source.length * 6);
  source.forEach((vertex, link) => {
    const other = target[link];
    const there = directions.has(other * 2 ** 26 + vertex);
    const a = [places[2 * vertex], places[2 * vertex + 1]];
    const b = [places[2 * other], places[2 * other + 1]];
    const turned = vertex < other ? bend[link] : -bend[link];
    halves.set(bend[link] >= STUB ? endOf(a, bend[link] - STUB) : halfOf(a, b, turned, there), link * 6);
  });
  return halves;
}

/** Both directions of a line bend to the same side, and meet in the middle; one that is alone is whole. */
function halfOf([x, y], [u, v], bend, hasOther) {
  const control = [(x + u) / 2 - (v - y) * bend / 50, (y + v) / 2 + (u - x) * bend / 50];
  if (!hasOther) return [x, y, ...control, u, v];
  return [x, y, (x + control[0]) / 2, (y + control[1]) / 2,
    (x + 2 * control[0] + u) / 4, (y + 2 * control[1] + v) / 4];
}

function endOf([x, y], direction) {
  const angle = direction * DEGREES * Math.PI / 180;
  const [u, v] = [x + Math.cos(angle) * END, y + Math.sin(angle) * END];
  return [x, y, (x + u) / 2, (y + v) / 2, u, v];
}

/** Colours of a ramp, and the share of the ramp at which a value stands. */
function colourOf(ramp, share) {
  return ramp[Math.min(ramp.length - 1, Math.max(0, Math.floor(share * ramp.length)))];
}

/**
 * Draw halves in the colours of their values, the highest on top.
 *
 * `value(link)`: its share of the ramp; `faint`: how much the lowest ones cover what is below, where there are many.
 */
function drawHalves(plane, halves, value, ramp, { thickness = 1, faint = 1 } = {}) {
  const { context } = plane;
  const [a, b, c, d] = plane.transform;
  const bins = ramp.map(() => []);
  for (let link = 0; link < halves.length / 6; link++) {
    const share = value(link);
    if (share >= 0) bins[Math.min(ramp.length - 1, Math.floor(share * ramp.length))].push(link);
  }
  context.lineCap = "butt";
  bins.forEach((links, bin) => {
    if (!links.length) return;
    context.beginPath();
    context.strokeStyle = ramp[bin];
    context.lineWidth = thickness * (0.8 + 2.4 * bin / ramp.length);
    context.globalAlpha = faint + (1 - faint) * Math.min(1, 2 * bin / ramp.length);
    for (const link of links) {
      const at = link * 6;
      context.moveTo(halves[at] * a + b, halves[at + 1] * c + d);
      context.quadraticCurveTo(halves[at + 2] * a + b, halves[at + 3] * c + d, halves[at + 4] * a + b, halves[at + 5] * c + d);
    }
    context.stroke();
  });
  context.globalAlpha = 1;
}

/** A disc with a rim. */
function disc(plane, [x, y], radius, fill, rim, width = 1) {
  const { context } = plane;
  const [a, b, c, d] = plane.transform;
  context.beginPath();
  context.arc(x * a + b, y * c + d, radius, 0, 2 * Math.PI);
  context.fillStyle = fill;
  context.fill();
  if (!rim) return;
  context.lineWidth = width;
  context.strokeStyle = rim;
  context.stroke();
}

function text(plane, [x, y], words, colour, size = 11) {
  const { context } = plane;
  const [a, b, c, d] = plane.transform;
  context.font = `${size}px system-ui, sans-serif`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillStyle = colour;
  context.fillText(words, x * a + b, y * c + d);
}

/** The half nearest to a pixel, none farther than `reach` pixels: its number, or -1. */
function nearestHalf(plane, halves, pixelX, pixelY, reach = 6) {
  const [a, b, c, d] = plane.transform;
  let best = reach, found = -1;
  const pixel = (at) => [halves[at] * a + b, halves[at + 1] * c + d];
  for (let link = 0; link < halves.length / 6; link++) {
    const begin = pixel(link * 6), control = pixel(link * 6 + 2), end = pixel(link * 6 + 4);
    const middle = [(begin[0] + 2 * control[0] + end[0]) / 4, (begin[1] + 2 * control[1] + end[1]) / 4];
    const away = Math.min(distance(pixelX, pixelY, begin, middle), distance(pixelX, pixelY, middle, end));
    if (away < best) { best = away; found = link; }
  }
  return found;
}

/** How far a pixel is from a segment. */
function distance(x, y, [u, v], [s, t]) {
  const square = (s - u) ** 2 + (t - v) ** 2;
  const along = square ? Math.min(1, Math.max(0, ((x - u) * (s - u) + (y - v) * (t - v)) / square)) : 0;
  return Math.hypot(x - u - along * (s - u), y - v - along * (t - v));
}

/** The place nearest to a pixel, none farther than `reach` pixels: its number, or -1. */
function nearestPlace(plane, places, count, pixelX, pixelY, reach) {
  const [a, b, c, d] = plane.transform;
  let best = reach, found = -1;
  for (let place = 0; place < count; place++) {
    const away = Math.hypot(places[2 * place] * a + b - pixelX, places[2 * place + 1] * c + d - pixelY);
    if (away < best) { best = away; found = place; }
  }
  return found;
}

/** The bounds of places; those that are not drawn are no numbers. */
function boundsOf(places) {
  let [left, bottom, right, top] = [Infinity, Infinity, -Infinity, -Infinity];
  for (let place = 0; place < places.length; place += 2) {
    if (Number.isNaN(places[place])) continue;
    left = Math.min(left, places[place]);
    right = Math.max(right, places[place]);
    bottom = Math.min(bottom, places[place + 1]);
    top = Math.max(top, places[place + 1]);
  }
  return [left, bottom, right, top];
}
