// The page of the rooms service, on top of base.js.
"use strict";
let state = null;            // the newest snapshot
let editing = null;          // the id of the tag that the dialog is about; null: a new one
let before = null;           // the room of each tag in the state before
const opened = new Set();    // tags whose reasons are shown
const reasons = new Map();   // what was last answered for them
const watched = new Map();   // training runs that were seen running, by tag
const results = new Map();   // what they brought
let spoken = new Map();      // what was last said of them to screen readers, by tag
let searching = false;       // whether the list of beacons was just asked for

const byName = (a, b) => a[1].name.localeCompare(b[1].name) || (a[0] < b[0] ? -1 : 1);
const tags = () => Object.entries(state.tags).sort(byName);
const rooms = () => Object.entries(state.rooms).sort(byName);
const roomName = id => state.rooms[id] ? clean(state.rooms[id].name) : clean(id);
// A room keeps its colour while no other comes or goes.
let colours = new Map();     // their numbers, by the room's id
const colour = id => "c" + (colours.get(id) || 0) % 8;
const percent = share => Math.round(share * 100) + "\u00a0%";
const post = (path, body, error) => act(path, body, { open: false, showModal() {} }, error);

function svg(kind, attributes, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", kind);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

// How probable each room is now: the room that is reported comes first.
function beliefBar(tag) {
  const bar = svg("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", class: "bar-now", "aria-hidden": "true" });
  const shares = tag.home && !tag.stale ? Object.entries(tag.belief) : [];
  if (!shares.length) { bar.classList.add("none"); return bar; }
  shares.sort((a, b) => (b[0] === tag.room) - (a[0] === tag.room) || b[1] - a[1]);
  let x = 0;
  for (const [room, share] of shares) {
    if (share < 0.05) continue;
    const width = Math.min(100 - x, Math.round(share * 100));
    bar.append(svg("rect", { x, y: 0, width, height: 10, class: colour(room) }));
    x += width;
  }
  return bar;
}

const swatch = (kind, ...text) => make("span", { class: "key" }, make("span", { class: "swatch " + kind }), ...text);

// The belief of the last five minutes: for each step a column, shared among the rooms. A step in which no page was open has no
// column at all.
function beliefPlot(tag) {
  const width = 300, height = 40;
  const series = Object.entries(tag.series).map(([room, text]) => ({ room, values: text.split(",") }));
  series.sort((a, b) => (b.room === tag.room) - (a.room === tag.room) || (a.room < b.room ? -1 : 1));
  const columns = series.length ? series[0].values.length : 0, step = width / Math.max(1, columns);
  const plot = svg("svg", { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", class: "belief", role: "img" });
  const column = (index, low, high) =>
    `M${(index * step).toFixed(1)} ${low.toFixed(1)}h${(step + 0.3).toFixed(1)}V${high.toFixed(1)}h-${(step + 0.3).toFixed(1)}Z`;
  const recorded = new Array(columns).fill(false), below = new Array(columns).fill(0), most = [];
  for (const { values } of series) values.forEach((text, index) => { if (text !== "") recorded[index] = true; });
  plot.append(svg("path", { class: "rest", d: recorded.map((is, index) => is ? column(index, height, 0) : "").join("") }));
  for (const { room, values } of series) {
    let path = "";
    values.forEach((text, index) => {
      const value = Number(text) / 100;
      if (!value) return;
      const low = height * (1 - below[index]);
      path += column(index, low, Math.max(0, low - height * value));
      below[index] += value;
      if (value > 0.5) most[index] = room;
    });
    plot.append(svg("path", { d: path, class: colour(room) }));
  }
  const path = most.filter((room, index) => room && room !== most[index - 1]).map(roomName);
  plot.setAttribute("aria-label", path.length ? "Most probable in the last five minutes: " + path.join(", then ") : "No data in the last five minutes");
  const keys = series.map(({ room }) => swatch(colour(room), name(roomName(room))));
  keys.push(swatch("rest", "other rooms"));
  if (recorded.includes(false)) keys.push(swatch("none", "not recorded: no page was open"));
  return make("div", {}, make("p", {}, "The last five minutes:"), plot, make("p", { class: "keys" }, ...keys));
}

// Who is where

const manyTags = 12;   // from so many on, there are search and order
const byChange = (a, b) => b[1].since - a[1].since || byName(a, b);
const whereText = tag => !tag.home ? "away" : tag.room ? roomName(tag.room) : "at home";

function matching() {
  const wanted = $("tools").hidden ? "" : $("search").value.trim().toLocaleLowerCase();
  if (!wanted) return tags();
  const has = text => clean(text).toLocaleLowerCase().includes(wanted);
  return tags().filter(([, tag]) => has(tag.name) || has(whereText(tag)) || has(tag.beacon));
}

function places() {
  const all = matching(), many = state.tagCount >= manyTags;
  if (many && $("order").value !== "room") {
    if ($("order").value === "since") all.sort(byChange);
    return all.length ? [{ id: ":all", name: "All tags", flat: true, room: null, note: "", tags: all }] : [];
  }
  const inside = new Map();
  for (const entry of all) if (entry[1].home) inside.set(entry[1].room, [...(inside.get(entry[1].room) || []), entry]);
  const list = rooms().map(([id, room]) => ({ id, name: clean(room.name), room, tags: inside.get(id) || [] })).filter(place => place.tags.length || !many);
  groupByFloor(list);
  const unknown = all.filter(([, tag]) => tag.home && !state.rooms[tag.room]);
  const away = all.filter(([, tag]) => !tag.home);
  if (unknown.length) list.push({ id: ":unknown", name: "At home", room: null, note: "room not known yet", tags: unknown });
  if (away.length) list.push({ id: ":away", name: "Away", room: null, note: "", tags: away });
  return list;
}

const floorName = floor => floor === undefined ? "Other rooms" : floor === 0 ? "Ground floor" : `Floor ${floor}`;

// Where the floor of a room is known, the rooms of each floor stand below its name, the lowest floor first. Rooms without one come last.
function groupByFloor(list) {
  const floorOf = place => place.room.floor, rank = place => floorOf(place) === undefined ? Infinity : floorOf(place);
  if (list.every(place => floorOf(place) === undefined)) return;
  list.sort((a, b) => rank(a) === rank(b) ? 0 : rank(a) - rank(b));
  for (let index = list.length - 1; index >= 0; index -= 1) {
    const floor = floorOf(list[index]);
    if (index === 0 || floorOf(list[index - 1]) !== floor) list.splice(index, 0, { id: `:floor${floor}`, name: floorName(floor), isFloor: true, room: null, note: "", tags: [] });
  }
}

function drawPlace(place) {
  if (place.isFloor) return make("li", { class: "floor" }, make("h3", {}, place.name), make("ul", { "data-list": "", hidden: "" }));
  const { room } = place, note = room && room.stale ? (place.tags.length ? "as last known" : "not heard now") : place.note;
  return make("li", { class: "place" + (room && room.stale ? " stale" : "") + (place.flat ? " flat" : "") + (place.tags.length ? " occupied" : "") + (room ? " " + colour(place.id) : "") },
    make("div", { class: "head" }, make("h3", {}, name(place.name)),
      make("p", { class: "facts" }, note || (place.tags.length ? String(place.tags.length) : "nobody"))),
    make("ul", { "data-list": "" }));
}

// Nothing of a battery that is not low, or of which nothing is known.
const battery = tag => tag.lowBattery === undefined ? "" : `battery\u00a0${tag.lowBattery}\u00a0%`;

// One line for each tag. What else is known of it is drawn when it is opened.
function drawTag([id, tag], flat) {
  const trains = tag.training && !tag.training.over;
  const when = trains ? "training" : tag.stale ? "as last known" : !tag.since ? "never heard" : state.time === null ? "" : (tag.home ? "" : "left ") + clock(tag.since, state.time);
  const more = make("details", {},
    make("summary", { "data-role": "why" }, make("span", { class: "name" }, name(tag.name)),
      battery(tag) ? make("span", { class: "low" }, battery(tag)) : null,
      flat ? make("span", { class: "where" }, name(whereText(tag))) : null, beliefBar(tag), make("span", { class: "when" }, tag.home && !tag.stale && !trains ? make("span", { class: "unseen" }, "since ") : null, when)),
    opened.has(id) ? drawMore(id, tag, trains) : null);
  more.open = opened.has(id);
  more.ontoggle = event => {
    const { open } = event.currentTarget;
    if (open === opened.has(id)) return;
    if (open) { opened.add(id); explain(id); } else opened.delete(id);
    fillPlaces();
  };
  return make("li", { class: "tag" + (tag.stale ? " stale" : "") + (tag.home ? "" : " away") }, more);
}

function drawMore(id, tag, trains) {
  const text = clean(tag.name), facts = [];
  const since = tag.since && state.time !== null ? " since " + clock(tag.since, state.time) : "";
  facts.push((tag.home ? "in " + (tag.room ? roomName(tag.room) : "a room that is not known yet") : "away") + since);
  if (tag.lastRoomName) facts.push("last in " + clean(tag.lastRoomName));
  if (tag.lastHeard && state.time !== null) facts.push("heard last at " + clock(tag.lastHeard, state.time));
  if (tag.stale) facts.push("this is the last that is known: it may have gone since");
  else if (tag.home && tag.room && !trains) facts.push(percent(tag.confidence) + " sure");
  if (battery(tag)) facts.push("low " + battery(tag));
  if (trains) facts.push("training " + clean(tag.training.roomName));
  const acts = make("p", { class: "acts" });
  if (!tag.configured) {
    const edit = make("button", { class: "edit", type: "button", "data-role": "edit", "aria-label": "Rename " + text }, "Rename");
    edit.onclick = () => askTag(id);
    const remove = make("button", { class: "quiet remove", type: "button", "data-role": "remove", "aria-label": "Remove " + text }, "Remove …");
    remove.onclick = () => askRemoval(id);
    acts.append(edit, remove);
  }
  return make("div", { class: "more" }, make("p", {}, facts.join(" · ")),
    Object.keys(tag.series).length ? beliefPlot(tag) : null,
    state.time !== null && visits && visits.has(id) ? make("div", {}, make("p", {}, "The last 24 hours, until now:"), dayStrip(id), lastStays(id)) : null,
    ...(reasons.get(id) || ["…"]).map(sentence => make("p", { class: "wrap" }, clean(sentence))), make("p", { class: "mono" }, clean(tag.beacon)), acts);
}

function lastStays(id) {
  const text = stays(id).slice(-4).reverse().map(stay => `${stay.name} ${stay.open ? "since " + clock(stay.from, state.time) : clock(stay.from, state.time) + " – " + clock(stay.to, state.time)}`);
  return make("p", {}, text.join(" · "));
}

async function explain(id) {
  const answer = await fetch("/tag.json?id=" + encodeURIComponent(id)).catch(() => null);
  if (!answer || !answer.ok) return;
  const text = (await answer.json()).reasons;
  if (JSON.stringify(text) === JSON.stringify(reasons.get(id))) return;
  reasons.set(id, text);
  if (state) fillPlaces();
}

function fillPlaces() {
  const many = state.tagCount >= manyTags, list = places();
  if (!many) $("search").value = "";
  $("tools").hidden = !many;
  $("places").className = many ? "many" : "";
  fill($("places"), list, place => place.id,
    place => JSON.stringify([place.name, place.note, place.flat, place.room && [place.room.stale, colour(place.id)], place.tags.length]), drawPlace);
  list.forEach((place, index) => fill($("places").children[index].querySelector("ul"), place.tags, entry => entry[0],
    ([id, tag]) => {
      const open = opened.has(id);
      return JSON.stringify([tag.name, tag.since, tag.confidence, tag.belief, tag.stale, tag.home, battery(tag), whereText(tag), tag.training && !tag.training.over, Object.keys(tag.belief).map(colour), open,
        open && state.time !== null && dayKey(id), open && [tag.lastRoomName, tag.lastHeard, tag.series, tag.configured, reasons.get(id)]]);
    }, entry => drawTag(entry, place.flat)));
  const empty = many && !$("search").value.trim() ? rooms().filter(([, room]) => !room.count) : [];
  const mark = JSON.stringify(empty.map(([, room]) => room.name));
  if ($("nobody").dataset.mark !== mark) {
    $("nobody").dataset.mark = mark;
    $("nobody").hidden = !empty.length;
    $("nobody").replaceChildren("Nobody in ", ...empty.flatMap(([, room], index) => [index ? ", " : "", name(room.name)]));
  }
  $("legend").hidden = !state.tagCount;
  $("no-match").hidden = list.length > 0 || !$("search").value.trim();
  $("no-match").textContent = $("no-match").hidden ? "" : "No tag here has this in its name, room or beacon.";
}
$("search").addEventListener("input", () => { seek(); if (state) fillPlaces(); });

// Of very many tags the state has a part; the service searches the others.
let found = {}, sought = "";
async function seek() {
  const wanted = $("tools").hidden ? "" : $("search").value.trim();
  if (!state || !wanted || state.tagCount <= Object.keys(state.listed).length) { found = {}; sought = ""; return; }
  const answer = await fetch("/tags.json?search=" + encodeURIComponent(wanted)).catch(() => null);
  if (!answer || !answer.ok || wanted !== $("search").value.trim()) return;
  found = (await answer.json()).tags;
  const isNew = wanted !== sought;
  sought = wanted;
  state.tags = { ...found, ...state.listed };
  if (isNew) fillPlaces();
}
$("order").addEventListener("change", () => state && fillPlaces());

// The day: where each tag was in the last 24 hours. It is asked for when it is shown, each minute and when a tag has moved.

let visits = null, dayMark = "", dayAsked = 0;
async function askDay() {
  const mark = JSON.stringify(tags().map(([id, tag]) => [id, tag.home, tag.room]));
  if (mark === dayMark && Date.now() - dayAsked < 60000) return;
  [dayMark, dayAsked] = [mark, Date.now()];
  const answer = await fetch("/day.json").catch(() => null);
  if (!answer || !answer.ok) return;
  visits = new Map();
  for (const visit of (await answer.json()).visits) visits.set(visit.tag, [...(visits.get(visit.tag) || []), visit]);
  if (state) { fillPlaces(); fillDay(); }
}

function stays(id) {
  const end = state.time, begin = end - 86400;
  return ((visits && visits.get(id)) || []).map(visit => {
    // Where no end is known, only the beginning is drawn.
    const open = visit.to === null && state.tags[id] && state.tags[id].home && state.tags[id].room === visit.room;
    const from = visit.from === null ? visit.to : visit.from, to = visit.to === null ? (open ? end : from) : visit.to;
    return { room: visit.room, name: clean(state.rooms[visit.room] ? state.rooms[visit.room].name : visit.roomName), open, from: Math.max(begin, from), to: Math.max(begin, to) };
  });
}

function dayStrip(id) {
  const begin = state.time - 86400, list = stays(id), x = at => ((at - begin) / 86.4).toFixed(1);
  const told = list.slice(-8).map(stay => `${stay.name} ${clock(stay.from, state.time)} to ${stay.open ? "now" : clock(stay.to, state.time)}`);
  const strip = svg("svg", { viewBox: "0 0 1000 10", preserveAspectRatio: "none", class: "strip", role: "img", "aria-label": told.length ? "The last 24 hours: " + told.join(", ") : "In no room in the last 24 hours" });
  for (const stay of list)
    strip.append(svg("rect", { x: x(stay.from), y: 0, width: Math.max(1.5, (stay.to - stay.from) / 86.4).toFixed(1), height: 10, class: colour(stay.room) },
      svg("title", {}, `${stay.name}, ${clock(stay.from, state.time)} to ${stay.open ? "now" : clock(stay.to, state.time)}`)));
  // Every six hours of the local day.
  const hour = new Date(begin * 1000);
  hour.setMinutes(0, 0, 0);
  for (let step = 0; step < 26; step++, hour.setTime(hour.getTime() + 3600000))
    if (hour.getHours() % 6 === 0 && hour.getTime() / 1000 > begin && hour.getTime() / 1000 < state.time)
      strip.append(svg("path", { d: `M${x(hour.getTime() / 1000)} 0v10`, class: "hour" }));
  return strip;
}
// A strip moves by a pixel in some minutes only.
const dayKey = id => [Math.floor(state.time / 120), visits && visits.get(id), state.tags[id].room, state.tags[id].home, colours.size];

function fillDay() {
  if (!$("day").open && !opened.size) return;
  if (state.time === null) return;
  askDay();
  if (!$("day").open) return;
  const hours = [24, 18, 12, 6, 0].map(ago => new Date((state.time - ago * 3600) * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hour12: false }));
  if ($("day-hours").textContent !== hours.join("")) $("day-hours").replaceChildren(...hours.map(text => make("span", {}, text)));
  $("no-day").hidden = !visits || visits.size > 0;
  fill($("day-list"), visits && visits.size ? matching() : [], entry => entry[0], ([id, tag]) => JSON.stringify([tag.name, ...dayKey(id)]),
    ([id, tag]) => make("li", {}, make("span", { class: "name" }, name(tag.name)), dayStrip(id)));
}
$("day").addEventListener("toggle", () => state && fillDay());

// Rooms: which gateways stand there, and what was trained. Training is what people do here. To forget is rare, and is asked.

function drawRoom([id, room]) {
  const facts = [room.gateways.length ? (room.gateways.length === 1 ? "gateway " : "gateways ") + room.gateways.map(clean).join(", ") : "no gateway"];
  if (room.stale && state.current && room.gateways.length) facts.push("not heard now: no gateway listens here");
  const trained = room.trainedSeconds >= 1;
  const train = make("button", { type: "button", "data-role": "train", "aria-label": "Train " + clean(room.name) }, "Train");
  train.onclick = () => {
    $("training-room").value = room.name;
    $("training-form").scrollIntoView({ block: "center" });
    ($("training-tag").value ? $("training-start") : $("training-tag")).focus();
  };
  const acts = make("p", { class: "acts" });
  if (trained || room.ownSeconds >= 1) {
    const forget = make("button", { type: "button", class: "quiet", "data-role": "forget", "aria-label": "Forget what was learned of " + clean(room.name) }, "Forget …");
    forget.onclick = () => askToForget({ id, name: clean(room.name) });
    acts.append(forget);
  }
  acts.append(train);
  return make("li", { class: (room.stale ? "stale " : "") + colour(id) }, make("p", { class: "who" }, make("span", { class: "swatch" }), name(room.name)),
    make("p", { class: "facts" }, facts.join(" · ")), make("p", { class: "pill" + (trained ? " good" : "") }, trained ? "trained" : "not trained"), acts);
}

// For screen readers: one sentence for each tag that changed its room. All are set at once, because each text replaces the
// one before.
function announce() {
  const now = new Map(tags().map(([id, tag]) => [id, tag.home ? tag.room : ":away"])), sentences = [];
  if (before) for (const [id, room] of now) {
    if (!before.has(id) || before.get(id) === room) continue;
    const where = room === ":away" ? "is away" : room ? "is in " + roomName(room) : "is at home";
    sentences.push(`${clean(state.tags[id].name)} ${where}`);
  }
  if (sentences.length) $("announcer").textContent = sentences.join(". ");
  before = now;
}

// Gateways

const problems = {
  sharedName: ["shared name", "bad"], offline: ["offline", "bad"], noReadings: ["no readings", "warn"], silent: ["silent", "warn"],
  late: ["late", "warn"], notListening: ["not listening", "warn"], deaf: ["receives nothing", "bad"], exchanged: ["exchanged?", "warn"],
  wrongKey: ["wrong key", "bad"], sameRadio: ["a gateway has this radio", ""], moved: ["moved?", "warn"], covered: ["covered?", "warn"],
};

// What is known of the beacon that the site asks a gateway to send.
const ownBeacon = id => state.survey ? state.survey.gateways[id] : undefined;

function drawGateway([id, gateway]) {
  const { listening, problem } = gateway.health;
  const [text, kind] = gateway.stale ? ["not known now", ""] : problem ? problems[problem] || [clean(problem), "warn"] : listening ? ["listening", "good"] : ["not heard yet", ""];
  const facts = [gateway.room === null ? "no room" : clean(gateway.room)];
  if (gateway.heardAgo === null) facts.push("no readings yet");
  else if (gateway.heardAgo > 15) facts.push("heard " + ago(gateway.heardAgo));
  facts.push(gateway.version === null ? "no card: ESPresense, or not connected yet" : gateway.version ? "version " + clean(gateway.version) : "version not known");
  if (gateway.scanner) facts.push(clean(gateway.scanner));
  if (gateway.otherVersion) facts.push("another version than most gateways");
  const beacon = ownBeacon(id);
  if (beacon) facts.push(`own beacon: ${clean(beacon.state)}, heard by ${beacon.heardBy}${beacon.measures ? ", " + beacon.measures : ""}`);
  return make("li", { class: (problem || gateway.otherVersion ? "bad" : "") + (gateway.stale ? " stale" : "") },
    make("p", { class: "who" }, name(id)), make("p", { class: "facts" }, facts.join(" · ")), make("p", { class: "pill " + kind }, text));
}

// Beacons that are no tags, while they are asked for

function findBeacons() {
  $("nearby-error").textContent = "";
  post("/nearby", {}, $("nearby-error"));
}
$("find-beacons").addEventListener("click", () => { searching = true; findBeacons(); });
$("find-again").addEventListener("click", findBeacons);

function drawBeacon(beacon) {
  const facts = [beacon.room === null ? clean(beacon.gateway) : `${clean(beacon.room)} (${clean(beacon.gateway)})`, signal(beacon.dBm)];
  facts.push(beacon.ago < 3 ? "heard now" : "heard " + ago(beacon.ago), "for " + span(beacon.since));
  const known = beacon.tag !== null ? ["the tag ", name(beacon.tag)] : beacon.region !== null ? ["in the region ", name(beacon.region)] : null;
  const button = make("button", { type: "button", "data-role": "make", "aria-label": "Make a tag of " + clean(beacon.id) }, "Make a tag");
  button.onclick = () => askTag(null, beacon.id);
  return make("li", {}, make("p", { class: "mono wrap" }, clean(beacon.id)),
    beacon.tag === null ? button : null, make("p", { class: "facts" }, facts.join(" · ")),
    known ? make("p", { class: "facts" }, make("b", {}, ...known)) : null);
}

function fillNearby() {
  const { nearby } = state;
  $("nearby").hidden = nearby === null;
  if (nearby === null) return;
  $("nearby-left").textContent = nearby.left ? `(${nearby.left} s)` : "(ended)";
  fill($("nearby-list"), nearby.beacons, beacon => beacon.id,
    beacon => JSON.stringify([beacon.gateway, beacon.room, beacon.dBm, beacon.tag, beacon.region, beacon.ago < 3 ? "" : ago(beacon.ago), span(beacon.since)]), drawBeacon);
  $("no-beacons").hidden = nearby.beacons.length > 0;
  const told = nearby.left ? "No other beacon is heard so far." : "No other beacon was heard. Only gateways of this version that may read and write these topics answer.";
  if ($("no-beacons").textContent !== told) $("no-beacons").textContent = told;
  if (!searching) return;
  searching = false;
  $("nearby").scrollIntoView({ block: "nearest" });
  $("h-nearby").focus({ preventScroll: true });
}

// Training

function ring(done, text) {
  const around = 2 * Math.PI * 42;
  return svg("svg", { viewBox: "0 0 100 100", class: "ring", role: "progressbar", "aria-valuemin": 0, "aria-valuemax": 100, "aria-valuenow": Math.round(done * 100), "aria-label": "Training" },
    svg("circle", { class: "rest", cx: 50, cy: 50, r: 42 }),
    svg("circle", { class: "done", cx: 50, cy: 50, r: 42, transform: "rotate(-90 50 50)", "stroke-dasharray": around.toFixed(1), "stroke-dashoffset": (around * (1 - done)).toFixed(1) }),
    svg("text", { x: 50, y: 50 }, text));
}

function followTraining() {
  for (const [id, tag] of tags()) {
    const run = tag.training;
    if (!run) continue;
    if (!run.over) { watched.set(id, run.room); results.delete(id); continue; }
    if (watched.get(id) !== run.room) continue;
    watched.delete(id);
    askResult(id, run);
  }
}

async function askResult(id, run, tries = 5) {
  const answer = await fetch(`/room.json?id=${encodeURIComponent(run.room)}&tag=${encodeURIComponent(id)}`).catch(() => null);
  // Rooms are compared one at a time: 503 says to ask again.
  if (answer && answer.status === 503 && tries > 0) { setTimeout(askResult, 1500, id, run, tries - 1); return; }
  const text = answer && answer.ok ? (await answer.json()).result : [answer ? await answer.text() : silence];
  results.set(id, { roomName: run.roomName, text });
  if (state) fillTrainings();
}

function fillTrainings() {
  const running = tags().filter(([, tag]) => tag.training && !tag.training.over).map(([id, tag]) => ({ id, name: tag.name, run: tag.training }));
  const over = [...results].filter(([id]) => state.tags[id]).map(([id, result]) => ({ id, name: state.tags[id].name, result }));
  fill($("trainings"), [...running, ...over], entry => entry.id, entry => JSON.stringify([entry.run, entry.result, entry.name]), entry => {
    if (entry.result) {
      const close = make("button", { type: "button", "data-role": "close" }, "Close");
      close.onclick = () => { results.delete(entry.id); fillTrainings(); };
      return make("li", {}, make("p", { class: "who result" }, name(entry.result.roomName), " with ", name(entry.name)),
        make("div", { class: "result" }, ...entry.result.text.map(sentence => make("p", { class: "wrap" }, clean(sentence)))),
        make("div", { class: "foot result" }, close));
    }
    const { run } = entry, left = Math.ceil(run.left), gone = Math.max(0, run.seconds - run.left);
    const stop = make("button", { type: "button", "data-role": "stop" }, "Stop");
    stop.onclick = () => post("/learn", { room: run.roomName, tag: entry.id, seconds: 0 }, $("training-error"));
    const drawn = ring(run.seconds ? gone / run.seconds : 1, `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`);
    return make("li", {}, drawn, make("p", { class: "who" }, name(run.roomName), " with ", name(entry.name)),
      make("p", { class: "soft" }, `heard in ${Math.round(run.learned)} of ${Math.round(gone)} s`), make("p", {}, stop));
  });
  announceTrainings(running, over);
}

// For screen readers: the beginning of a training, what is left of it every half minute, and what it brought. The ring on
// the page changes every second.
function announceTrainings(running, over) {
  const now = new Map();
  for (const { id, name, run } of running)
    now.set(id, `Training of ${clean(run.roomName)} with ${clean(name)}: ${Math.max(1, Math.ceil(run.left / 30)) * 30} seconds left`);
  for (const { id, name, result } of over)
    now.set(id, `Training of ${clean(result.roomName)} with ${clean(name)} is over. ${result.text.map(clean).join(" ")}`);
  const sentences = [...now].filter(([id, text]) => spoken.get(id) !== text).map(([, text]) => text);
  if (sentences.length) $("training-announcer").textContent = sentences.join(". ");
  spoken = now;
}

function fillForm() {
  const list = tags(), chosen = $("training-tag").value;
  const mark = JSON.stringify(list.map(([id, tag]) => [id, tag.name]));
  if ($("training-tag").dataset.mark !== mark) {
    $("training-tag").replaceChildren(...list.map(([id, tag]) => make("option", { value: id }, clean(tag.name))));
    $("training-tag").dataset.mark = mark;
    if (state.tags[chosen]) $("training-tag").value = chosen;
  }
  const names = JSON.stringify(rooms().map(([, room]) => room.name));
  if ($("room-names").dataset.mark !== names) {
    $("room-names").replaceChildren(...rooms().map(([, room]) => make("option", { value: clean(room.name) })));
    $("room-names").dataset.mark = names;
  }
  $("training-start").disabled = !list.length;
}
$("training-form").addEventListener("submit", event => {
  event.preventDefault();
  $("training-error").textContent = "";
  const room = $("training-room").value.trim();
  if (room) post("/learn", { room, tag: $("training-tag").value, seconds: 120 }, $("training-error"));
});

// The whole

function tiles() {
  const list = [];
  const decides = { active: "this service decides", refused: "decides nothing: the broker does not take what it writes", standby: "standby", listening: "listens for another service" }[state.role] || clean(state.role);
  list.push([`Service ${clean(state.instance)}`, decides, state.activeService === null ? "up " + span(state.uptime) : `'${clean(state.activeService)}' decides`, state.role === "refused"]);
  const { broker, queue, store } = state;
  list.push([`Broker ${clean(broker.name)}`, broker.state, clean(broker.reason) || (broker.sinceAgo === null ? "" : "for " + span(broker.sinceAgo)), broker.state !== "connected"]);
  list.push(["Queue", queue.pending ? queue.pending + " waiting" : "empty", `${queue.sent.toLocaleString()} sent` + (queue.dropped ? ` · ${queue.dropped} given up` : ""), queue.dropped > 0]);
  list.push(["Storage", store.ok ? "writing" : "failing", store.ok ? "" : clean(store.problem), !store.ok]);
  return list;
}

function show(next) {
  state = next;
  state.listed = state.tags;
  state.tags = { ...found, ...state.listed };
  $("site").textContent = clean(state.site);
  document.title = `${clean(state.site)} · iBeacon rooms`;
  colours = new Map(Object.keys(state.rooms).sort().map((id, number) => [id, number]));
  const gateways = Object.entries(state.gateways);
  $("subtitle").textContent = (state.role === "standby" ? "standby · " : "") + (state.current ? "" : state.broker.state === "connected" || state.broker.sinceAgo === null ? "as last known: " : `as last known ${ago(state.broker.sinceAgo)}: `) + `${state.homeCount} of ${state.tagCount} tags at home · ${state.listening} of ${state.gatewayCount} gateways listen`;
  $("version").textContent = "version " + clean(state.version);
  $("tag-count").textContent = `(${state.tagCount})`;
  const more = state.tagCount - Object.keys(state.listed).length;
  $("more-tags").hidden = more <= 0;
  $("more-tags").textContent = `${more} more tags are not shown until they are searched by name or room; 'ibeacon-gateway rooms status' lists all.`;
  const moreRooms = state.roomCount - Object.keys(state.rooms).length, moreGateways = state.gatewayCount - gateways.length;
  $("more-rooms").hidden = moreRooms <= 0;
  $("more-rooms").textContent = `${moreRooms} more rooms are not shown here: rooms with tags come first.`;
  $("more-gateways").hidden = moreGateways <= 0;
  $("more-gateways").textContent = `${moreGateways} more gateways are not shown here: those that need attention come first. 'ibeacon-gateway rooms gateways' lists all.`;
  for (const id of opened) if (state.tags[id]) explain(id); else opened.delete(id);
  if ($("search").value) seek();
  fillPlaces();
  fillDay();
  showLink($("pages"), state.gatewayPage, state.gatewayPage ? "gateway " + clean(state.gatewayPage.name) : "");
  fill($("room-list"), rooms(), entry => entry[0],
    ([id, room]) => JSON.stringify([room.name, room.stale, state.current, room.gateways, room.trainedSeconds >= 1, room.ownSeconds >= 1, colour(id)]), drawRoom);
  announce();
  fillNearby();
  fillForm();
  followTraining();
  fillTrainings();
  fill($("gateways"), gateways.sort((a, b) => a[0].localeCompare(b[0])), entry => entry[0],
    ([id, gateway]) => JSON.stringify([gateway.room, gateway.stale, gateway.health, gateway.version, gateway.scanner, gateway.otherVersion, ownBeacon(id), gateway.heardAgo > 15 ? ago(gateway.heardAgo) : gateway.heardAgo === null]), drawGateway);
  $("no-gateways").hidden = gateways.length > 0;
  fill($("state"), tiles(), tile => tile[0], tile => JSON.stringify(tile), tile =>
    make("div", { class: tile[3] ? "bad" : "" }, make("dt", {}, tile[0]), make("dd", {}, tile[1]), tile[2] ? make("dd", {}, tile[2]) : null));
  $("health").hidden = state.findings.length === 0;
  $("adopt-tags").hidden = !state.adopt;
  fill($("findings"), state.findings, finding => finding.subject + finding.text, finding => JSON.stringify([finding, question(finding), doubt(finding)]), drawRoomFinding);
}

// What a person must say of gateways that name another room than before is a finding with a button for each answer.
const question = finding => state.roomQuestions.find(question => question.text === finding.text);

// So is what a person must say of a gateway that seems to be moved or covered.
const doubt = finding => state.survey ? state.survey.questions.find(asked => asked.text === finding.text) : undefined;

function drawDoubt(finding, { gateway, kind }) {
  const text = clean(gateway), stays = make("button", { type: "button", "data-role": "stays" }, "It is to stay so");
  stays.onclick = () => askFirst(`Is ${text} to stay as it is?`, `What the gateways usually hear of ${text} is measured anew, which takes half a day.` + (kind === "moved" ? " Train the rooms around it again." : ""), "It is to stay", "/gateways/moved", { gateway });
  const row = drawFinding(finding);
  row.append(make("p", { class: "acts" }, stays));
  return row;
}

function drawRoomFinding(finding) {
  const asked = question(finding), doubted = doubt(finding);
  if (doubted) return drawDoubt(finding, doubted);
  if (!asked) return drawFinding(finding);
  const [from, to] = [clean(asked.fromName), clean(asked.toName)];
  const answers = make("p", { class: "acts" });
  const answer = (text, role, ask) => {
    const button = make("button", { type: "button", "data-role": role }, text);
    button.onclick = ask;
    answers.append(button);
  };
  answer(`${from} is called ${to} now`, "renamed", () => askFirst(`Is ${from} called ${to} now?`, `What was trained in ${from} is kept as that of ${to}. The gateways stand where they stood.`, "It was renamed", "/rooms/rename", { from: asked.fromName, to: asked.toName }));
  for (const gateway of asked.gateways)
    answer(`${clean(gateway)} was carried to ${to}`, "moved", () => askFirst(`Was ${clean(gateway)} carried to ${to}?`, `What ${clean(gateway)} measured in ${from} is deleted, because it was measured elsewhere.`, "It was carried", "/gateways/moved", { gateway }));
  const row = drawFinding({ ...finding, cure: "" });
  row.append(answers);
  return row;
}

// Changing things

function askTag(id, beacon = "") {
  editing = id;
  $("h-tag").textContent = id === null ? "Add a tag" : "Rename this tag";
  $("tag-name").value = id === null ? "" : state.tags[id].name;
  $("tag-beacon").value = beacon;
  $("tag-beacon").required = id === null;
  $("tag-beacon").readOnly = beacon !== "";
  $("tag-beacon-label").hidden = id !== null;
  $("tag-hint").hidden = id !== null || beacon !== "";
  $("tag-error").textContent = "";
  $("tag-dialog").showModal();
}
$("add-tag").addEventListener("click", () => askTag(null));
$("adopt-tags").addEventListener("click", () => askFirst("Adopt the site's list of tags?", "This service takes the tags of the list that the broker retains, keeps its own, and goes on as the service of the site.", "Adopt it", "/tags/adopt", {}));
$("tag-form").addEventListener("submit", event => {
  event.preventDefault();
  const text = $("tag-name").value.trim(), beacon = $("tag-beacon").value.trim();
  if (editing === null) act("/tags", { name: text, beacon }, $("tag-dialog"), $("tag-error"));
  else act("/tags/rename", { id: editing, name: text }, $("tag-dialog"), $("tag-error"));
});

function askFirst(title, text, button, path, body) {
  $("h-confirm").textContent = title;
  $("confirm-text").textContent = text;
  $("confirm-ok").textContent = button;
  $("confirm-error").textContent = "";
  const dialog = $("confirm-dialog");
  dialog.returnValue = "";
  dialog.onclose = () => {
    if (dialog.returnValue !== "ok") return;
    dialog.returnValue = "";
    act(path, body, dialog, $("confirm-error"));
  };
  dialog.showModal();
}
const askRemoval = id => askFirst("Remove this tag?", `${clean(state.tags[id].name)} is no longer reported in any room, and its retained state is cleared.`, "Remove it", "/tags/remove", { id });
const askToForget = place => askFirst("Forget what was learned?", `The learned data of ${place.name} is deleted. A room without a gateway disappears.`, "Forget it", "/rooms/forget", { id: place.id });

begin(show);
