/** Checks whether a canvas shows the data of its chart. */

/**
 * Runs in the page: finds points that are not at their values, points outside the plot, and
 * series without a pixel of their colour at any of their points.
 */
export function drawingProblems(id) {
  const NEAR_PX = 4;
  const LIKE = 48;
  const found = [];
  for (const canvas of document.getElementById(id).querySelectorAll("canvas[data-chart]")) {
    const { chart, src, kind, error } = window.replay.charts.charts.get(canvas);
    if (!chart || error) continue;
    // Their marks are not at a value on two axes; the plugin's tests look at how they are drawn.
    if (!["line", "bar", "scatter"].includes(canvas.dataset.chart)) continue;
    const name = `${id}: ${src}`;
    const ratio = chart.currentDevicePixelRatio;
    const pixels = chart.ctx.getImageData(0, 0, canvas.width, canvas.height);
    const at = (x, y) => {
      const column = Math.round(x * ratio);
      const row = Math.round(y * ratio);
      if (column < 0 || row < 0 || column >= pixels.width || row >= pixels.height) return null;
      const from = 4 * (row * pixels.width + column);
      return pixels.data.slice(from, from + 4);
    };
    const { x: xs, y: ys } = chart.scales;
    const { left, right, top, bottom } = chart.chartArea;
    // A slide may request a part of an axis; points outside of it are cut on purpose.
    const asked = [xs, ys].map((scale) => scale.getUserBounds());
    const isCut = (...place) =>
      asked.some(
        ({ min, max, minDefined, maxDefined }, i) =>
          (minDefined && place[i] < min) || (maxDefined && place[i] > max),
      );
    const probe = document.createElement("span");
    canvas.parentElement.append(probe);
    const rgbOf = (color) => {
      probe.style.color = color;
      return getComputedStyle(probe)
        .color.match(/[\d.]+/g)
        .slice(0, 3)
        .map(Number);
    };
    chart.data.datasets.forEach((dataset, index) => {
      if (!chart.isDatasetVisible(index)) return;
      const { data: elements } = chart.getDatasetMeta(index);
      const values = dataset.data.map((value, i) =>
        value !== null && typeof value === "object" ? value : { x: chart.data.labels[i], y: value },
      );
      const points = elements
        .map((element, i) => ({ element, ...values[i] }))
        .filter(({ y }) => y !== null && y !== undefined);
      if (points.length === 0) return;
      const drawn = points.filter(({ element, x, y }) => {
        const expected = { x: pixelOf(xs, x), y: ys.getPixelForValue(y) };
        if (kind === "strip") {
          // The lane says which series it is; where in it the dot lies means nothing.
          const { left, right } = chart.chartArea;
          const lanes = chart.data.datasets.map((_, at) => at).filter((at) => chart.isDatasetVisible(at));
          const width = (right - left) / lanes.length;
          if (Math.floor((element.x - left) / width) !== lanes.indexOf(index))
            found.push(`${name}: ${dataset.label} at ${x} is outside its lane`);
        } else if (kind !== "bar" && Math.abs(element.x - expected.x) > 0.75)
          found.push(`${name}: ${dataset.label} at ${x} stands at ${element.x}, not ${expected.x}`);
        if (Math.abs(element.y - expected.y) > 0.75)
          found.push(`${name}: ${dataset.label} at ${x} is ${element.y} high, not ${expected.y}`);
        const outside = Math.max(left - element.x, element.x - right, top - element.y, element.y - bottom);
        if (outside > 1 && !isCut(x, y))
          found.push(`${name}: ${dataset.label} at ${x} lies ${Math.round(outside)} px outside the plot`);
        return showsColor(element, rgbOf(dataset.borderColor));
      });
      if (drawn.length === 0 && !isCovered(index))
        found.push(`${name}: nothing of ${dataset.label} is to be seen`);
    });
    probe.remove();

    /** Whether another visible series has the same points, so that its line covers this one. */
    function isCovered(index) {
      const own = chart.getDatasetMeta(index).data;
      return chart.data.datasets.some((_, other) => {
        if (other === index || !chart.isDatasetVisible(other)) return false;
        const { data } = chart.getDatasetMeta(other);
        return own.every(({ x, y, skip }, i) => skip || Math.hypot(data[i]?.x - x, data[i]?.y - y) < 1);
      });
    }

    function showsColor({ x, y }, color) {
      for (let dy = -NEAR_PX; dy <= NEAR_PX; dy += 1) {
        for (let dx = -NEAR_PX; dx <= NEAR_PX; dx += 1) {
          const pixel = at(x + dx, y + dy);
          if (pixel?.[3] > 128 && color.every((part, i) => Math.abs(part - pixel[i]) < LIKE)) return true;
        }
      }
      return false;
    }
  }
  return found;

  function pixelOf(scale, value) {
    return scale.getPixelForValue(scale.type === "category" ? scale.getLabels().indexOf(value) : value);
  }
}
