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

// The level of a kind of communities: that of the slider if colours are of this kind.
const places = data.communities.map((kind) => kind.at);
const levelOf = (kind) => data.communities[kind].levels[places[kind]];
const communities = () => $("colour").value === "" ? null : levelOf(+$("colour").value);
const ofPart = (own, v) => COLORS[own.color[own.label[v]]] ?? GREY;

// Scores in their order, the most central first: those below the threshold are faded.
const order = data.score.map((_, i) => i).sort((i, j) => data.rank[i] - data.rank[j]);
let least = order.length;  // the worst rank that is not
const faded = (i) => data.rank[i] > least;
const FADED = mix(PAGE, LINE, 0.6);
const base = Math.min(Math.max(110 / Math.sqrt(n), 1.3), 6);
const sized = (at) => $("size").value ? 0.7 + 2 * at ** 1.5 : 1;

function vertexStyle(v) {
  const own = communities(), size = base * (byEdge ? 0.7 : sized(central[v]));
  if (!byEdge && faded(v)) return { color: FADED, label: "", size, zIndex: -1 };
  const color = own ? ofPart(own, v) : byEdge ? GREY : shade(central[v]);
  return { color, label: nameOf(v), size, zIndex: byEdge ? 0 : central[v] };
}
function edgeStyle(e) {
  const [u, v] = [data.source[e], data.target[e]], own = communities();
  if (byEdge ? faded(e) : faded(u) || faded(v)) return { color: FADED, size: 0.35, zIndex: -1 };
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
for (let v = 0; v < n; v++) graph.addNode(v, { x: data.x[v], y: data.y[v], ...vertexStyle(v) });
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
// Many edges are lines of one pixel and vertices single points: what the processor renders several
// times faster than rectangles and discs of triangles.
const large = m > 5000;
const { EdgeLineProgram, NodePointProgram } = Sigma.rendering;
const programs = large ?
  { edgeProgramClasses: { line: EdgeLineProgram }, nodeProgramClasses: { circle: NodePointProgram } } : {};
const renderer = new Sigma(graph, $("network"), {
  allowInvalidContainer: true, defaultDrawNodeHover: label, enableEdgeEvents: byEdge,
  hideEdgesOnMove: large, hideLabelsOnMove: large, labelColor: { color: INK }, labelDensity: 0.6, labelFont: "system-ui, sans-serif",
  labelGridCellSize: 110, labelRenderedSizeThreshold: n < 200 ? base * 1.3 : base * 1.8, maxCameraRatio: 4,
  minCameraRatio: 0.002, stagePadding: 40, zIndex: true, ...programs,
  nodeReducer: (v, style) => v === shown ? { ...style, highlighted: true, zIndex: 2 } : style,
  edgeReducer: (e, style) => shown !== null && graph.hasExtremity(e, shown) ?
    { ...style, color: ACCENT, size: Math.max(style.size, 1), zIndex: 2 } : style,
});
const camera = renderer.getCamera();
// What is above and below the network may take more lines or fewer.
new ResizeObserver(() => renderer.scheduleRender()).observe($("network"));

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
  data.communities.forEach(({ name }, kind) => {
    const own = levelOf(kind), size = own.sizes[own.label[v]];
    lines.push(`${name} ${own.label[v] + 1} (${size} ${size === 1 ? "vertex" : "vertices"})`);
  });
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
    const { name } = data.communities[+$("colour").value];
    own.sizes.slice(0, COLORS.length).forEach((size, i) => {
      const line = document.createElement("div"), mark = document.createElement("i");
      mark.style.background = COLORS[own.color[i]];
      line.append(mark, `${name} ${i + 1}: ${size}`);
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
const STYLE = { attributes: ["color", "label", "size", "zIndex"] };
function restyle() {
  graph.updateEachNodeAttributes((v, old) => Object.assign(old, vertexStyle(+v)), STYLE);
  graph.updateEachEdgeAttributes((e, old) => Object.assign(old, edgeStyle(+e.slice(1))), STYLE);
  legend();
}
let waiting = false;
function soon() {  // a slider may move several times within a frame
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => { waiting = false; restyle(); });
}

// The sliders: the level of a sweep or of a division, and the lowest score that is not faded.
function aboutLevel() {
  const kind = $("colour").value, several = kind === "" ? [] : data.communities[+kind].levels;
  $("levels").hidden = several.length < 2;
  if (several.length < 2) return;
  const { name, sizes } = levelOf(+kind);
  $("level").max = several.length - 1;
  $("level").value = places[+kind];
  $("chosen").textContent = `${name}: ${sizes.length} ${sizes.length === 1 ? "part" : "parts"}`;
}
function aboutScores() {
  const worst = order[least - 1], all = order.length;
  $("above").textContent = least < all ? `${format(data.score[worst])}: ${least} of ${all}` : "all";
}
$("scores").hidden = order.length < 2 || data.rank.every((rank) => rank === 1);
$("level").addEventListener("input", () => {
  places[+$("colour").value] = +$("level").value;
  aboutLevel();
  soon();
});
$("least").addEventListener("input", () => {
  const ranks = Math.round(order.length ** (1 - $("least").value / 100));
  least = ranks;
  while (least < order.length && data.rank[order[least]] <= ranks) least++;  // of an equal score
  aboutScores();
  soon();
});
for (const id of ["colour", "size"]) $(id).addEventListener("change", () => { aboutLevel(); restyle(); });
aboutLevel();
aboutScores();
legend();
window.network = { camera, graph, renderer };
