// A network to look at: what is drawn is the JSON of the element "data" (torchcent/plots/_page.py).
"use strict";
const $ = (id) => document.getElementById(id);
const data = JSON.parse($("data").textContent);
const dark = matchMedia("(prefers-color-scheme: dark)").matches;
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const [INK, PAGE] = [css("--ink"), css("--page")];
const GREY = dark ? "#4a5560" : "#c3cbd3";
const LINE = dark ? "#343d47" : "#d9dee3";
const ACCENT = "#dd6b20";
const SHADES = data.shades[dark ? "dark" : "light"];
const COLORS = data.colors;
const byEdge = data.of === "edges";
const n = data.x.length, m = data.source.length;
const nameOf = (v) => data.names ? data.names[v] : `vertex ${data.ids ? data.ids[v] : v}`;

// Scores as numbers in [0, 1], 1 the most central, and as colours.
function part(score) {
  const { low, high, log } = data.scale, f = log ? Math.log : (x) => x;
  const at = (f(Math.min(Math.max(score, low), high)) - f(low)) / (f(high) - f(low));
  return data.lowest ? 1 - at : at;
}
const channels = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
function mix(from, to, at) {  // translucent lines would brighten a light page
  const [a, b] = [channels(from), channels(to)];
  return "#" + a.map((x, i) => Math.round(x + (b[i] - x) * at).toString(16).padStart(2, "0")).join("");
}
function shade(at) {
  const place = at * (SHADES.length - 1), first = Math.min(Math.floor(place), SHADES.length - 2);
  return mix(SHADES[first], SHADES[first + 1], place - first);
}
const within = (hex, alpha) => mix(PAGE, hex, alpha);
const central = data.score.map(part);

const communities = () => $("colour").value === "" ? null : data.communities[+$("colour").value];
const ofPart = (own, v) => COLORS[own.label[v]] ?? GREY;
const base = Math.min(Math.max(110 / Math.sqrt(n), 1.3), 6);
const sized = (at) => $("size").value ? 0.7 + 2 * at ** 1.5 : 1;

function vertexStyle(v) {
  const own = communities();
  const color = own ? ofPart(own, v) : byEdge ? GREY : shade(central[v]);
  return { color, size: base * (byEdge ? 0.7 : sized(central[v])), zIndex: byEdge ? 0 : central[v] };
}
function edgeStyle(e) {
  const [u, v] = [data.source[e], data.target[e]], own = communities();
  if (byEdge) {
    const size = Math.max(base / 3, 0.5) * sized(central[e]);
    return { color: own ? LINE : shade(central[e]), size, zIndex: central[e] };
  }
  const size = Math.min(Math.max(base / 5, 0.35), 1);
  if (own) return { color: own.label[u] === own.label[v] ? within(ofPart(own, u), 0.4) : LINE, size, zIndex: 0 };
  const at = Math.min(central[u], central[v]);
  return { color: at < 0.25 ? LINE : within(shade(at), 0.5), size, zIndex: at };
}

const graph = new graphology.Graph({ multi: true, type: "undirected" });
for (const name of ["by score", ...data.communities.map((own) => `by ${own.name}`)])
  $("colour").add(new Option(name, $("colour").length ? $("colour").length - 1 : ""));
if (data.shown !== null) $("colour").value = data.shown;
for (let v = 0; v < n; v++) graph.addNode(v, { x: data.x[v], y: data.y[v], label: nameOf(v), ...vertexStyle(v) });
for (let e = 0; e < m; e++) graph.addEdgeWithKey(`e${e}`, data.source[e], data.target[e], edgeStyle(e));

// The vertex under the pointer, its edges and neighbours.
let shown = null;
function label(context, node, settings) {
  context.font = `600 ${settings.labelSize + 1}px ${settings.labelFont}`;
  const width = context.measureText(node.label).width;
  context.beginPath();
  context.arc(node.x, node.y, node.size + 2, 0, 7);
  context.strokeStyle = ACCENT;
  context.lineWidth = 2;
  context.stroke();
  context.globalAlpha = 0.85;
  context.fillStyle = PAGE;
  context.fillRect(node.x + node.size + 3, node.y - 9, width + 6, 18);
  context.globalAlpha = 1;
  context.fillStyle = INK;
  context.fillText(node.label, node.x + node.size + 6, node.y + 5);
}
const renderer = new Sigma(graph, $("network"), {
  allowInvalidContainer: true, defaultDrawNodeHover: label, enableEdgeEvents: byEdge,
  hideEdgesOnMove: m > 20000, labelColor: { color: INK }, labelDensity: 0.6, labelFont: "system-ui, sans-serif",
  labelGridCellSize: 110, labelRenderedSizeThreshold: n < 200 ? base * 1.3 : base * 1.8, maxCameraRatio: 4,
  minCameraRatio: 0.002, stagePadding: 40, zIndex: true,
  nodeReducer: (v, style) => v === shown ? { ...style, highlighted: true, zIndex: 2 } : style,
  edgeReducer: (e, style) => shown !== null && graph.hasExtremity(e, shown) ?
    { ...style, color: ACCENT, size: Math.max(style.size, 1), zIndex: 2 } : style,
});
const camera = renderer.getCamera();

const format = (x) => Number(x.toPrecision(4)).toString();
function show(v) {
  const touched = [shown, v].filter((one) => one !== null);
  shown = v;
  renderer.refresh({
    partialGraph: { nodes: touched, edges: touched.flatMap((one) => graph.edges(one)) }, skipIndexation: true,
  });
}
function text(lines, at) {
  $("hover").textContent = lines.join("\n");
  $("hover").hidden = false;
  const { offsetWidth: width, offsetHeight: height } = $("hover");
  $("hover").style.left = `${Math.max(Math.min(at.x + 14, innerWidth - width - 6), 6)}px`;
  $("hover").style.top = `${Math.max(at.y - height - 12, 6)}px`;
}
function place(v) {
  const at = renderer.graphToViewport(graph.getNodeAttributes(v)), box = $("network").getBoundingClientRect();
  return { x: at.x + box.left, y: at.y + box.top };
}
const scored = (i) => [`${data.measure} ${format(data.score[i])}`, `rank ${data.rank[i]} of ${data.score.length}`];
function tell(v) {
  const lines = [nameOf(v), ...(byEdge ? [] : scored(v)), `degree ${graph.degree(v)}`];
  for (const own of data.communities) lines.push(`${own.name} ${own.label[v] + 1} (${own.sizes[own.label[v]]} vertices)`);
  show(v);
  text(lines, place(v));
}
function clear() {
  if (shown !== null) show(null);
  $("hover").hidden = true;
}
renderer.on("enterNode", ({ node }) => tell(node));
renderer.on("leaveNode", clear);
renderer.on("clickNode", ({ node }) => tell(node));
renderer.on("clickStage", clear);
renderer.on("enterEdge", ({ edge, event }) => {
  const e = +edge.slice(1), box = $("network").getBoundingClientRect();
  text([`${nameOf(data.source[e])} – ${nameOf(data.target[e])}`, ...scored(e)], { x: event.x + box.left, y: event.y + box.top });
});
renderer.on("leaveEdge", () => { $("hover").hidden = true; });

// Search: names that begin like the text come first.
function matches() {
  const wanted = $("search").value.trim().toLowerCase(), first = [], others = [];
  if (wanted)
    for (let v = 0; v < n && first.length < 8; v++) {
      const at = String(nameOf(v)).toLowerCase().indexOf(wanted);
      if (at === 0) first.push(v); else if (at > 0 && others.length < 8) others.push(v);
    }
  return [...first, ...others].sort((u, v) => nameOf(u).length - nameOf(v).length).slice(0, 8);
}
async function go(v) {
  $("matches").replaceChildren();
  $("search").value = nameOf(v);
  clear();
  const { x, y } = renderer.getNodeDisplayData(v);
  await camera.animate({ x, y, ratio: Math.min(camera.ratio, Math.max(4 / Math.sqrt(n), 0.02)) }, { duration: 500 });
  tell(String(v));
}
$("search").addEventListener("input", () => {
  $("matches").replaceChildren(...matches().map((v) => {
    const item = document.createElement("li"), button = document.createElement("button");
    button.textContent = nameOf(v);
    button.addEventListener("click", () => go(v));
    item.append(button);
    return item;
  }));
  $("matches").style.left = `${$("search").offsetLeft}px`;
});
document.querySelector("form").addEventListener("submit", (event) => {
  event.preventDefault();
  const best = matches()[0];
  if (best !== undefined) go(best);
});
$("whole").addEventListener("click", () => { clear(); camera.animatedReset(); });

function legend() {
  const own = communities(), lines = [];
  if (own) {
    own.sizes.slice(0, COLORS.length).forEach((size, i) => {
      const line = document.createElement("div"), mark = document.createElement("i");
      mark.style.background = COLORS[i];
      line.append(mark, `${own.name} ${i + 1}: ${size}`);
      lines.push(line);
    });
    const others = own.sizes.length - COLORS.length;
    if (others > 0) lines.push(others > 1 ? `${others} others are grey` : "1 other is grey");
  } else if (data.score.length) {
    const bar = document.createElement("div"), ends = document.createElement("div");
    const shades = data.lowest ? [...SHADES].reverse() : SHADES;
    bar.className = "bar";
    bar.style.background = `linear-gradient(to right, ${shades})`;
    ends.className = "ends";
    for (const end of [data.scale.low, data.scale.high]) {
      const mark = document.createElement("span");
      mark.textContent = format(end);
      ends.append(mark);
    }
    lines.push(data.measure + (data.scale.log ? ", logarithmic" : ""), bar, ends);
  }
  $("legend").replaceChildren(...lines);
}
function restyle() {
  graph.updateEachNodeAttributes((v, old) => ({ ...old, ...vertexStyle(+v) }), { attributes: ["color", "size", "zIndex"] });
  graph.updateEachEdgeAttributes((e, old) => ({ ...old, ...edgeStyle(+e.slice(1)) }), { attributes: ["color", "size", "zIndex"] });
  legend();
}
for (const id of ["colour", "size"]) $(id).addEventListener("change", restyle);
legend();
window.network = { camera, graph, renderer };
