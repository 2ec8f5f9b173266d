/* A canvas that shows part of a plane: zoom and move by pointer, buttons and keys; sharp on every screen. */

class Plane {
  /**
   * `bounds`: [left, bottom, right, top] of the plane; `paint(plane)` draws it; `zooms`: "both" directions, which then
   * have the same unit, or "time", the first one alone.
   */
  constructor(canvas, { bounds, paint, margin = 30, zooms = "both" }) {
    Object.assign(this, { canvas, bounds, paint, margin, zooms });
    this.context = canvas.getContext("2d");
    this.reset();
    new ResizeObserver(() => this.resize()).observe(canvas);
    theme.listeners.push(() => this.draw());
    this.listen();
  }

  resize() {
    const ratio = devicePixelRatio || 1;
    this.width = this.canvas.clientWidth;
    this.height = this.canvas.clientHeight;
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    // At once: the canvas is empty now.
    this.drawNow();
  }

  setBounds(bounds) {
    this.bounds = bounds;
    this.reset();
    this.draw();
  }

  reset() {
    this.zoom = 1;
    this.shift = [0, 0];
  }

  /** Pixels per unit, horizontally and vertically, with everything in view. */
  get fit() {
    const [left, bottom, right, top] = this.bounds;
    const x = (this.width - 2 * this.margin) / Math.max(right - left, 1e-9);
    const y = (this.height - 2 * this.margin) / Math.max(top - bottom, 1e-9);
    return this.zooms === "both" ? [Math.min(x, y), Math.min(x, y)] : [x, y];
  }

  get scale() {
    const [x, y] = this.fit;
    return this.zooms === "both" ? [x * this.zoom, y * this.zoom] : [x * this.zoom, y];
  }

  /** What turns coordinates into pixels: x · a + b, y · c + d. */
  get transform() {
    const [left, bottom, right, top] = this.bounds;
    const [x, y] = this.scale;
    return [x, this.width / 2 - ((left + right) / 2 - this.shift[0]) * x,
      -y, this.height / 2 + ((bottom + top) / 2 - this.shift[1]) * y];
  }

  /** The place behind a pixel. */
  place(pixelX, pixelY) {
    const [a, b, c, d] = this.transform;
    return [(pixelX - b) / a, (pixelY - d) / c];
  }

  draw() {
    if (!this.width || this.pending) return;
    this.pending = requestAnimationFrame(() => {
      this.pending = 0;
      this.drawNow();
    });
  }

  drawNow() {
    this.context.clearRect(0, 0, this.width, this.height);
    this.paint(this);
  }

  zoomBy(factor, pixelX = this.width / 2, pixelY = this.height / 2) {
    const before = this.place(pixelX, pixelY);
    this.zoom = Math.min(Math.max(this.zoom * factor, 1), 2000);
    const after = this.place(pixelX, pixelY);
    this.shift = this.zoom === 1 ? [0, 0]
      : [this.shift[0] + after[0] - before[0], this.zooms === "both" ? this.shift[1] + after[1] - before[1] : 0];
    this.draw();
  }

  moveBy(pixelX, pixelY) {
    const [x, y] = this.scale;
    this.shift = [this.shift[0] + pixelX / x, this.zooms === "both" ? this.shift[1] - pixelY / y : 0];
    this.draw();
  }

  listen() {
    const { canvas } = this;
    let from = null;
    canvas.addEventListener("pointerdown", (event) => {
      from = [event.clientX, event.clientY];
      this.moved = false;
    });
    addEventListener("pointerup", () => { from = null; });
    canvas.addEventListener("pointermove", (event) => {
      if (!from || !event.buttons) return;
      const step = [event.clientX - from[0], event.clientY - from[1]];
      if (!this.moved && Math.hypot(...step) < 4) return;
      this.moved = true;
      this.moveBy(...step);
      from = [event.clientX, event.clientY];
    });
    canvas.addEventListener("wheel", (event) => {
      // Without a key the wheel scrolls the page.
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      this.zoomBy(Math.exp(-event.deltaY / 300), event.offsetX, event.offsetY);
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => {
      if (event.key === "+" || event.key === "=") this.zoomBy(1.4);
      else if (event.key === "-") this.zoomBy(1 / 1.4);
      else if (event.key === "0") { this.reset(); this.draw(); }
    });
  }

  /** Buttons that zoom in, zoom out and show everything. */
  buttons(into, out, all) {
    into.addEventListener("click", () => this.zoomBy(1.6));
    out.addEventListener("click", () => this.zoomBy(1 / 1.6));
    all.addEventListener("click", () => { this.reset(); this.draw(); });
  }
}
