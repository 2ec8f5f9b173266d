/* What all parts share: data, colours of the theme, numbers as text, the tip beside the pointer. */

const byId = (id) => document.getElementById(id);

/** A new element with attributes and children; texts are never read as HTML. */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** The bytes behind the base 64 of a gzip. */
async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

const ARRAYS = { Int8Array, Uint8Array, Uint16Array, Uint32Array, Float32Array, Float64Array };

/** The arrays of a packed object; they are unpacked once. */
async function arraysOf(packed) {
  if (!packed.arrays) {
    packed.arrays = unpacked(packed.data).then((buffer) => {
      const named = Object.entries(packed.fields).map(([name, [type, offset, length]]) =>
        [name, new ARRAYS[type](buffer, offset, length)]);
      return Object.fromEntries(named);
    });
  }
  return packed.arrays;
}

const theme = {
  listeners: [],
  get name() { return document.documentElement.dataset.theme; },
  set(name) {
    document.documentElement.dataset.theme = name;
    byId("theme").textContent = name === "dark" ? "Light" : "Dark";
    byId("theme").setAttribute("aria-label", `Change to ${name === "dark" ? "light" : "dark"} colours`);
    for (const listener of this.listeners) listener();
  },
  /** The colour that the style sheet calls so. */
  colour: (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim(),
  start() {
    const system = matchMedia("(prefers-color-scheme: dark)");
    this.set(system.matches ? "dark" : "light");
    system.addEventListener("change", () => this.set(system.matches ? "dark" : "light"));
    byId("theme").addEventListener("click", () => this.set(this.name === "dark" ? "light" : "dark"));
    // Paper is white.
    let before = this.name;
    addEventListener("beforeprint", () => { before = this.name; this.set("light"); });
    addEventListener("afterprint", () => this.set(before));
  },
};

const percent = (share) => `${(100 * share).toFixed(1)} %`;
const whole = (number) => Math.round(number).toLocaleString("en");

const capital = (word) => word[0].toUpperCase() + word.slice(1);

const tip = {
  show(event, text) {
    const box = byId("tip");
    box.textContent = text;
    box.hidden = false;
    box.style.left = `${Math.min(event.clientX + 14, innerWidth - box.offsetWidth - 6)}px`;
    box.style.top = `${Math.min(event.clientY + 14, innerHeight - box.offsetHeight - 6)}px`;
  },
  hide() { byId("tip").hidden = true; },
};

/** Who shows one point of the sweep: a click on a curve asks all of them for it. */
const selection = {
  listeners: [],
  show(point) { for (const listener of this.listeners) listener(point); },
};
