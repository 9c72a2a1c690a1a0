// The status page of a gateway, on top of base.js.
"use strict";
let state = null;      // the newest snapshot
let chosen = null;     // the beacon or region that a dialog is about
let before = null;     // the newest transitions of the state before

function plot(series, label) {
  const points = series.split(",").map(text => text === "" ? null : Number(text));
  const ns = "http://www.w3.org/2000/svg", width = 290, height = 40, low = -100, high = -30;
  const svg = document.createElementNS(ns, "svg");
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("class", "plot");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", label);
  const add = (kind, d) => {
    const path = document.createElementNS(ns, "path");
    path.setAttribute("class", kind);
    path.setAttribute("d", d);
    svg.append(path);
  };
  const x = index => (index * width / Math.max(1, points.length - 1)).toFixed(1);
  const y = dbm => (height - 2 - (Math.min(high, Math.max(low, dbm)) - low) / (high - low) * (height - 4)).toFixed(1);
  add("grid", [-50, -75].map(dbm => `M0 ${y(dbm)}H${width}`).join(""));
  let line = "", area = "", run = [];
  const close = () => {
    if (!run.length) return;
    const [first, last] = [run[0], run[run.length - 1]];
    const path = run.map(index => `${x(index)} ${y(points[index])}`).join("L");
    line += run.length > 1 ? "M" + path : `M${x(first)} ${y(points[first])}h.1`;
    area += `M${x(first)} ${height}L${path}L${x(last)} ${height}Z`;
    run = [];
  };
  points.forEach((dbm, index) => {
    if (dbm !== null) { run.push(index); return; }
    // A gap of one step means one or two lost packets, not an absence.
    if (index + 1 < points.length && points[index + 1] !== null && run.length) return;
    close();
  });
  close();
  add("area", area);
  add("line", line);
  return svg;
}

// Nothing if the battery was not read.
function charge(battery) {
  if (battery === null) return [];
  return [`${battery.low ? "battery low:" : "battery"}\u00a0${battery.percent}\u00a0%`];
}

// What people call a tracker. Its topic is under the details of its regions.
const called = tracker => tracker.name || tracker.topic.split("/").pop();
// The moment so many seconds ago, in epoch seconds. It is kept while it is the same, although ages and time are rounded.
const moments = new Map();
function moment(key, ago) {
  const at = state.time - ago, known = moments.get(key);
  if (known !== undefined && Math.abs(known - at) < 3) return known;
  moments.set(key, at);
  return at;
}

// A tracker with one region, such as a keyfob, is one line.
const isSingle = (tracker, position) => position > 0 && tracker.regionCount === 1;

function drawTracker(tracker, position) {
  const quiet = tracker.monitoring === -1 ? make("span", { class: "pill" }, "quiet: sends no events") : null;
  if (isSingle(tracker, position))
    return make("article", { class: "card tracker single" + (tracker.regions.some(region => region.stale) ? " old" : "") }, quiet, make("div", { class: "rooms", "data-list": "" }));
  const inside = tracker.regions.filter(region => region.inside).length;
  const badge = make("span", { class: "badge", "aria-hidden": "true" }, clean(tracker.tid).slice(0, 4));
  const where = !tracker.regionCount ? "no regions yet: make one of a beacon below" : `${inside} of ${tracker.regionCount} here`;
  return make("article", { class: "card tracker" },
    make("div", { class: "head" }, badge, make("h3", { class: "wrap" }, name(called(tracker))), make("span", { class: "soft" }, where), quiet),
    make("div", { class: "rooms", "data-list": "" }));
}
function fillRooms(rooms, tracker, position) {
  const sorted = [...tracker.regions].sort((a, b) => a.name.localeCompare(b.name) || (a.rid < b.rid ? -1 : 1));
  fill(rooms, sorted, region => region.rid,
    region => JSON.stringify([called(tracker), tracker.regionCount, region.name, region.inside, region.stale, region.rssi, region.distance, whenText(region, position), ago(region.heardAgo), region.explanation, charge(region.battery)]),
    (region, old) => drawRoom(region, old, tracker, position));
}
// In words: since when it is here, or when it left.
function whenText(region, position) {
  if (region.sinceAgo === null) return region.inside ? "here" : "never here";
  if (state.time === null) return region.inside ? "here for " + span(region.sinceAgo) : "left " + ago(region.sinceAgo);
  return (region.inside ? "here since " : "left at ") + clock(moment(`${position}|${region.rid}`, region.sinceAgo), state.time);
}
function drawRoom(region, old, tracker, position) {
  const single = isSingle(tracker, position), title = single ? called(tracker) : region.name;
  const remove = make("button", { class: "quiet remove", "data-role": "remove", type: "button", "aria-label": "Remove region " + clean(region.name) }, "Remove …");
  remove.onclick = () => askRemoval(region, position);
  const edit = make("button", { class: "edit", "data-role": "edit", type: "button", "aria-label": "Change region " + clean(region.name) }, "Change");
  edit.onclick = () => askEdit(region, position);
  const facts = region.stale ? ["as last known: no radio listens"] : [];
  if (region.inside) {
    if (region.rssi !== null && !region.stale) facts.push(signal(region.rssi));
    if (region.distance !== null && !region.stale) facts.push("about\u00a0" + region.distance + "\u00a0m");
    if (region.heardAgo > 15) facts.push("silent for " + span(region.heardAgo));
  }
  facts.push(...charge(region.battery));
  const low = region.battery !== null && region.battery.low;
  const more = make("details", {},
    make("summary", { "data-role": "why" }, make("span", { class: "name" }, name(title), make("span", { class: "unseen" }, region.inside ? ", inside" : ", outside")),
      single && title !== region.name ? make("span", { class: "where" }, name(region.name)) : null,
      low ? make("span", { class: "pill warn" }, ...charge(region.battery)) : null,
      make("span", { class: "when" }, (region.stale ? "as last known: " : "") + whenText(region, position))),
    make("div", { class: "more" }, facts.length ? make("p", {}, facts.join(" · ")) : null,
      make("p", {}, clean(region.explanation) || "No more is known."),
      make("p", { class: "mono" }, clean(region.description)), make("p", { class: "mono" }, `${clean(tracker.topic)}, tid ${clean(tracker.tid)}`),
      make("p", { class: "acts" }, edit, remove)));
  if (old && old.querySelector("details") && old.querySelector("details").open) more.open = true;
  return make("div", { class: "room tag" + (region.inside ? " in" : "") + (region.stale ? " stale" : "") }, more);
}

// The strongest beacons come first, in steps of ten decibels of the best level of the last minutes. Rows that move with
// every packet could be neither read nor clicked.
function inOrder(beacons) {
  const rank = beacon => Math.round(Math.max(-127, ...beacon.series.split(",").filter(Boolean).map(Number)) / 10);
  const keyed = beacons.map(beacon => [rank(beacon), `${beacon.uuid} ${beacon.major + 1e5} ${beacon.minor + 1e5}`, beacon]);
  keyed.sort((a, b) => b[0] - a[0] || (a[1] < b[1] ? -1 : 1));
  return keyed.map(entry => entry[2]);
}

function drawBeacon(beacon) {
  const id = `${beacon.uuid}:${beacon.major}:${beacon.minor}`, who = make("td", { class: "who" });
  if (beacon.regions.length) beacon.regions.forEach((text, index) => who.append(index ? ", " : "", name(text)));
  else if (beacon.gateway) who.append("gateway ", name(beacon.gateway));
  else {
    const button = make("button", { type: "button", "data-role": "make", "aria-label": `Make a region of beacon ${beacon.major} ${beacon.minor}` }, "Make a region");
    button.onclick = () => askRegion(beacon);
    who.append(button);
  }
  const facts = [];
  if (beacon.heardAgo > 15) facts.push("heard " + ago(beacon.heardAgo));
  if (beacon.distance !== null) facts.push(`≈\u00a0${beacon.distance}\u00a0m`);
  facts.push(...charge(beacon.battery));
  if (beacon.interval !== null) facts.push(`every\u00a0${beacon.interval}\u00a0s`);
  return make("tr", { class: beacon.heardAgo > 60 ? "old" : undefined, title: id }, make("td", { class: "minor" }, String(beacon.minor)), who,
    make("td", { class: "major" }, String(beacon.major)), make("td", { class: "mono uuid" }, beacon.uuid),
    make("td", { class: "signal" }, plot(beacon.series, `Signal of the last five minutes, now ${signal(beacon.rssi)}`)),
    make("td", { class: "level" }, signal(beacon.rssi)), make("td", { class: "more", title: facts.join(" · ") }, facts.join(" · ")));
}

// One sentence for a transition, in the names that people gave: "Anna's keys left Hall". Beacons of the gateway itself are named alone; a circle has
// no beacon, and the gateway is what entered it.
function sentence(entry) {
  const place = state.trackers.findIndex(tracker => entry.tracker ? tracker.topic === entry.tracker : tracker.tid === entry.tid);
  const tracker = state.trackers[place], verb = entry.event === "enter" ? " entered" : " left";
  if (tracker && place === 0 && !tracker.name && entry.beacon !== null) return [name(entry.name), verb];
  return [make("b", {}, name(tracker ? called(tracker) : entry.tid)), verb + " ", name(entry.name)];
}

function drawTransition(entry) {
  const at = state.time === null ? null : Math.round(state.time - entry.ago);
  return make("li", { class: entry.event === "enter" ? "enter" : "leave" },
    make("time", at === null ? {} : { title: new Date(at * 1000).toLocaleString() }, at === null ? ago(entry.ago) : clock(at, state.time)),
    make("span", { class: "wrap" }, ...sentence(entry)));
}

function tiles() {
  const list = [];
  for (const adapter of state.scanner.adapters) {
    const facts = [`${adapter.reports.toLocaleString()} reports`];
    if (adapter.duty !== null) facts.push(Math.round(adapter.duty * 100) + " % duty");
    if (adapter.malformed) facts.push(adapter.malformed + " malformed");
    if (adapter.lost) facts.push(adapter.lost + " lost");
    if (adapter.restarts) facts.push(adapter.restarts + " restarts");
    facts.push("heard " + ago(adapter.heardAgo));
    if (adapter.trouble) facts.unshift(clean(adapter.trouble));
    const now = adapter.listening || adapter.pausing;
    list.push([`Radio ${clean(adapter.name)}`, now ? `listening, ${adapter.reportsPerSecond} reports/s` : "not listening", facts.join(" · "), !now]);
  }
  if (state.scanner.problem) list.push(["Radio", "none", clean(`${state.scanner.problem.text}; ${state.scanner.problem.cure}`), true]);
  else if (!state.scanner.adapters.length) list.push(["Radio", "none", "no Bluetooth adapter was found", true]);
  for (const broker of state.brokers)
    list.push([`${broker.kind === "server" ? "Server" : "Broker"} ${clean(broker.name)}`, broker.state, clean(broker.reason) || (broker.sinceAgo === null ? "" : "for " + span(broker.sinceAgo)), broker.state === "disconnected" || Boolean(broker.reason)]);
  for (const proxy of state.bluetoothProxies) {
    const served = proxy.clients.filter(client => client.subscribed).length;
    const facts = proxy.clients.map(client => `${clean(client.name)} at ${clean(client.address)}${client.refusal ? ": " + clean(client.refusal) : ""}`);
    facts.push(`${proxy.sent.toLocaleString()} packets`);
    if (proxy.dropped) facts.push(proxy.dropped + " dropped");
    if (proxy.lost) facts.push(proxy.lost + " lost");
    if (proxy.refused) facts.push(proxy.refused + " refused");
    if (proxy.failed) facts.push(proxy.failed + " without the key");
    list.push([`Bluetooth proxy ${clean(proxy.name)}`, proxy.problem ? "not listening" : `port ${proxy.port}, ${served} client${served === 1 ? "" : "s"}`, proxy.problem ? clean(proxy.problem) : facts.join(" · "), Boolean(proxy.problem) || proxy.clients.some(client => client.refusal)]);
  }
  if (state.ownBeacon) {
    const own = state.ownBeacon, problem = own.problem && clean(`${own.problem.text}; ${own.problem.cure}`);
    const pace = own.burst ? `in ${own.burst} s of each minute` : `one packet each ${own.interval} ms`;
    list.push(["Own beacon", problem ? "not sent" : own.interval ? `sent by ${clean(own.adapter)}` : "asked for", problem || (own.interval ? pace : "the controller has not confirmed it yet"), Boolean(problem)]);
  }
  const queue = [`${state.queue.sent.toLocaleString()} sent`];
  if (state.queue.setAside) queue.push(state.queue.setAside + " set aside");
  if (state.queue.dropped) queue.push(state.queue.dropped + " given up");
  list.push(["Queue", state.queue.pending ? state.queue.pending + " waiting" : "empty", queue.join(" · "), state.queue.dropped > 0]);
  list.push(["Storage", state.store.ok ? "writing" : "failing", state.store.ok ? state.store.writes.toLocaleString() + " writes" : clean(state.store.problem), !state.store.ok]);
  const read = state.trackers.flatMap(tracker => tracker.regions).filter(region => region.battery !== null);
  // Regions of two trackers may be of one beacon.
  const batteries = [...new Map(read.map(region => [region.beacon ?? region.description, region])).values()];
  if (batteries.length) {
    const low = batteries.filter(region => region.battery.low);
    const least = batteries.reduce((a, b) => b.battery.percent < a.battery.percent ? b : a);
    list.push(["Batteries", low.length ? low.length + " low" : "good", `lowest: ${clean(least.name)} ${least.battery.percent} %`, low.length > 0]);
  }
  list.push(["Clock", state.time === null ? "not known yet" : new Date(state.time * 1000).toLocaleString(), state.time === null ? "messages are stamped when it is" : "", state.time === null]);
  return list;
}

function fillTiles(list, rows) {
  fill(list, rows, tile => tile[4] || tile[0], tile => JSON.stringify(tile), tile =>
    make("div", { class: tile[3] ? "bad" : "" }, make("dt", {}, tile[0]), make("dd", {}, tile[1]), tile[2] ? make("dd", {}, tile[2]) : null));
}

function phoneTile(phone) {
  const heard = phone.heardAgo === null ? "not heard yet" : phone.heardAgo > 60 ? "silent for " + span(phone.heardAgo) : "heard " + ago(phone.heardAgo);
  const facts = [];
  if (phone.lost) facts.push("if it is near, it was reset: add it again under the same name");
  if (phone.gateways) facts.push(phone.gateways.length ? "also at " + phone.gateways.map(clean).join(", ") : "at no other gateway");
  return [clean(phone.name), heard, facts.join(" · "), phone.lost, phone.uuid];
}

function show(next) {
  state = next;
  $("device").textContent = clean(state.device);
  document.title = `${clean(state.device)} · iBeacon gateway`;
  $("subtitle").textContent = `${state.scanner.listening ? "listening" : "not listening"} · ${state.beaconCount} beacons · up ${span(state.uptime)}`;
  $("version").textContent = "version " + clean(state.version);
  showLink($("pages"), state.roomsPage, "rooms");
  const keyed = state.trackers.map((tracker, position) => ({ tracker, position }));
  fill($("trackers"), keyed, item => String(item.position),
    item => JSON.stringify([item.tracker.tid, called(item.tracker), item.tracker.monitoring, item.tracker.regions.filter(r => r.inside).length, item.tracker.regionCount, item.tracker.regions.some(r => r.stale)]),
    item => drawTracker(item.tracker, item.position));
  keyed.forEach(item => fillRooms($("trackers").children[item.position].querySelector(".rooms"), item.tracker, item.position));
  const beacons = inOrder(state.beacons.filter(beacon => !$("only-unknown").checked || !beacon.regions.length && !beacon.gateway));
  fill($("beacons"), beacons, beacon => `${beacon.uuid}:${beacon.major}:${beacon.minor}`,
    beacon => JSON.stringify([beacon.rssi, beacon.distance, beacon.interval, beacon.series, beacon.regions, beacon.gateway, charge(beacon.battery), beacon.heardAgo > 15 ? ago(beacon.heardAgo) : 0]), drawBeacon);
  $("beacon-table").hidden = !beacons.length;
  $("beacon-count").textContent = `(${state.beaconCount})`;
  $("no-beacons").hidden = beacons.length > 0;
  $("no-beacons").textContent = state.beacons.length ? "All beacons listed belong to a region." : "Nothing was heard in the last five minutes.";
  const base = state.time === null ? 0 : state.time;
  fill($("timeline"), state.transitions.slice(0, 50), entry => `${Math.round(base - entry.ago)}|${entry.tid}|${entry.rid}|${entry.event}`,
    entry => JSON.stringify([state.time === null ? ago(entry.ago) : clock(base - entry.ago, base), entry.name, state.trackers.map(called)]), drawTransition);
  $("no-transitions").hidden = state.transitions.length > 0;
  announce();
  fillTiles($("state"), tiles());
  fillTiles($("phones"), state.phones.map(phoneTile));
  $("no-phones").hidden = state.phones.length > 0;
  const bad = state.findings.filter(finding => finding.level !== "ok");
  $("health").hidden = bad.length === 0;
  const each = [finding => finding.subject + finding.text, finding => JSON.stringify(finding), drawFinding];
  fill($("findings"), bad, ...each);
  fill($("all-findings"), state.findings, ...each);
}

// For screen readers: one sentence for each new transition, never the whole list again. All are set at once, because each
// text replaces the one before.
function announce() {
  const now = state.transitions.filter(entry => entry.ago < 10)
    .map(entry => ({ at: state.uptime - entry.ago, what: JSON.stringify([entry.tid, entry.rid, entry.event]), entry }));
  // The uptime has whole seconds only.
  const isKnown = one => before.some(other => other.what === one.what && Math.abs(other.at - one.at) < 1.5);
  const fresh = before === null ? [] : now.filter(one => !isKnown(one)).reverse();
  if (fresh.length)
    $("announcer").textContent = fresh.map(({ entry }) => make("span", {}, ...sentence(entry)).textContent).join(". ");
  before = now;
}

function askRegion(beacon) {
  chosen = beacon;
  $("region-error").textContent = "";
  $("region-name").value = "";
  $("region-beacon").textContent = `${beacon.uuid}:${beacon.major}:${beacon.minor}`;
  $("region-tracker").replaceChildren(...state.trackers.map((tracker, position) => make("option", { value: position }, clean(called(tracker)))));
  $("region-tracker-label").hidden = state.trackers.length < 2;
  $("region-dialog").showModal();
}
$("region-form").addEventListener("submit", event => {
  event.preventDefault();
  const text = $("region-name").value.trim();
  if (!text || text.includes(":")) { $("region-error").textContent = "Give it a name without ':'."; return; }
  const scope = new FormData($("region-form")).get("scope");
  const waypoint = { _type: "waypoint", desc: text, uuid: chosen.uuid, lat: 0, lon: 0, rad: 0, tst: Math.floor(Date.now() / 1000) };
  if (scope !== "uuid") waypoint.major = chosen.major;
  if (scope === "minor") waypoint.minor = chosen.minor;
  act("/regions", { tracker: Number($("region-tracker").value || 0), waypoint }, $("region-dialog"), $("region-error"));
});

const editFields = ["desc", "uuid", "major", "minor", "leaveAfter", "enterRSSI", "leaveRSSI"];
async function askEdit(region, position) {
  chosen = { rid: region.rid, position };
  $("edit-error").textContent = "";
  const answer = await fetch(`/region.json?tracker=${position}&rid=${encodeURIComponent(region.rid)}`).catch(() => null);
  if (answer && answer.status === 401) { askToken(() => askEdit(region, position)); return; }
  const form = answer && answer.ok ? await answer.json() : null;
  for (const field of editFields) $("edit-" + field).value = form && form[field] !== null ? form[field] : "";
  if (!form) $("edit-error").textContent = answer ? await answer.text() : silence;
  $("edit-save").disabled = !form;
  $("edit-dialog").showModal();
}
// null removes a setting, so that the configuration's value applies again. A removed region must not come back.
$("edit-form").addEventListener("submit", event => {
  event.preventDefault();
  const waypoint = { rid: chosen.rid };
  for (const field of editFields) {
    const text = $("edit-" + field).value.trim();
    waypoint[field] = text === "" ? null : ["desc", "uuid"].includes(field) || text === "auto" ? text : Number(text);
  }
  if (!waypoint.desc || waypoint.desc.includes(":")) { $("edit-error").textContent = "Give it a name without ':'."; return; }
  act("/regions/edit", { tracker: chosen.position, waypoint }, $("edit-dialog"), $("edit-error"));
});

async function readSettings() {
  const answer = await fetch("/settings.json").catch(() => null);
  return answer && answer.ok ? answer.json() : null;
}
async function askSettings() {
  const shown = await readSettings();
  const set = shown ? shown.settings : { names: [], devices: [] };
  $("set-discovery").checked = Boolean(set.discovery);
  for (const field of ["lat", "lon", "leaveAfter"]) $("set-" + field).value = set[field] ?? "";
  $("set-names").replaceChildren(...set.names.map((text, position) => make("label", {}, make("span", {}, "Name of ", name(set.devices[position])),
    make("input", { value: text ?? "", maxlength: 100, autocomplete: "off" }))));
  $("settings-error").textContent = shown ? shown.obstacle || "" : silence;
  $("settings-save").disabled = !shown || shown.obstacle !== null;
  $("settings-dialog").showModal();
}
$("settings-open").addEventListener("click", askSettings);
// Settings are tried first: they stay when the broker has accepted a connection with them, and are put back otherwise.
$("settings-form").addEventListener("submit", async event => {
  event.preventDefault();
  const dialog = $("settings-dialog"), error = $("settings-error"), before = await readSettings();
  const number = field => $(field).value === "" ? null : Number(Number($(field).value).toFixed(6));
  const after = $("set-leaveAfter").value.trim();
  const wanted = { discovery: $("set-discovery").checked, lat: number("set-lat"), lon: number("set-lon"), leaveAfter: after === "auto" ? after : Number(after),
    names: [...$("set-names").querySelectorAll("input")].map(input => input.value.trim() || null) };
  const answer = await send("/settings", wanted).catch(() => null);
  if (answer && answer.status === 401) { askToken(() => $("settings-form").requestSubmit()); return; }
  if (!answer || !answer.ok) { error.textContent = answer ? await answer.text() : silence; return; }
  if (!before) { error.textContent = "The settings were sent, but the service does not say what became of them."; return; }
  const isSet = now => Object.keys(wanted).every(key => JSON.stringify(now.settings[key]) === JSON.stringify(wanted[key]));
  for (;;) {
    const now = await readSettings();
    if (!dialog.open) return;
    if (now && now.refused > before.refused) { error.textContent = `Put back: ${clean(now.reason)}`; return; }
    if (now && !now.isOnTrial && isSet(now)) { dialog.close(); return; }
    error.textContent = now ? "Being tried …" : silence;
    await new Promise(done => setTimeout(done, 500));
  }
});

function askRemoval(region, position) {
  $("remove-name").textContent = clean(region.name);
  $("remove-error").textContent = "";
  const dialog = $("remove-dialog");
  dialog.returnValue = "";
  dialog.onclose = () => {
    if (dialog.returnValue !== "ok") return;
    dialog.returnValue = "";
    act("/regions/remove", { tracker: position, rid: region.rid }, dialog, $("remove-error"));
  };
  dialog.showModal();
}

function tellCommand() {
  const text = $("phone-name").value.trim() || "Jane";
  $("phone-command").textContent = `sudo ibeacon-gateway phones add '${clean(text).replaceAll("'", "'\\''")}'`;
}
$("phone-name").addEventListener("input", tellCommand);
$("phone-add").addEventListener("click", () => { tellCommand(); $("phone-dialog").showModal(); });

$("only-unknown").addEventListener("change", () => state && show(state));
begin(show);
