// Functions that the pages share: drawing, the live connection, requests that change state. All text from a service is
// untrusted, because names come over the air and over MQTT. It only becomes text nodes and text attributes.
"use strict";
const $ = id => document.getElementById(id);
const silence = "The service does not answer.";
let pending = null;    // the action that waits for the token
let blocked = null;    // connects again; the live stream waits for the token
let declined = false;  // the dialog was closed without a token, and is not opened again by itself

function make(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) if (value !== undefined) node.setAttribute(name, value);
  node.append(...children.filter(child => child !== null));
  return node;
}
// Right-to-left names stay in their own box, and invisible characters are made visible.
const clean = text => String(text).replace(/[\u0000-\u001f\u007f-\u009f]/g, "\ufffd").slice(0, 201);
const name = text => make("bdi", {}, clean(text) || "(no name)");

function ago(seconds) {
  if (seconds === null || seconds === undefined) return "never";
  if (seconds < 2) return "now";
  if (seconds < 60) return Math.round(seconds) + " s ago";
  if (seconds < 5400) return Math.round(seconds / 60) + " min ago";
  if (seconds < 129600) return Math.round(seconds / 3600) + " h ago";
  return Math.round(seconds / 86400) + " days ago";
}
const span = seconds => ago(seconds).replace(" ago", "").replace("now", "moments");
// A moment in epoch seconds as the local time of this browser; with its date if that is not today's.
function clock(epoch, now) {
  const at = new Date(epoch * 1000), today = new Date(now * 1000).toDateString() === at.toDateString();
  return (today ? "" : at.toLocaleDateString([], { day: "numeric", month: "short" }) + " ") + at.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
}
const signal = dbm => dbm === null ? "–" : dbm + " dBm";

// Makes a shown row equal to a fresh one. Only what differs is touched, so that the focus, open details and a selection in
// the rest are kept. Handlers are properties, because those of the fresh row know the newest state. A list within the row
// (`data-list`) has rows of its own.
function patch(shown, fresh) {
  if (shown.nodeName !== fresh.nodeName || shown.dataset?.role !== fresh.dataset?.role) { shown.replaceWith(fresh); return; }
  if (shown.nodeType === Node.TEXT_NODE) { if (shown.data !== fresh.data) shown.data = fresh.data; return; }
  for (const { name } of [...shown.attributes]) if (!fresh.hasAttribute(name)) shown.removeAttribute(name);
  for (const { name, value } of fresh.attributes) if (shown.getAttribute(name) !== value) shown.setAttribute(name, value);
  for (const handler of ["onclick", "ontoggle"]) shown[handler] = fresh[handler];
  if (shown.dataset.list !== undefined) return;
  const nodes = [...shown.childNodes], wanted = [...fresh.childNodes];
  wanted.forEach((node, index) => { if (nodes[index]) patch(nodes[index], node); else shown.append(node); });
  for (const node of nodes.slice(wanted.length)) node.remove();
}

// Redraws only changed rows. All rows of a list are elements of one kind.
function fill(parent, items, key, signature, draw) {
  const old = new Map([...parent.children].map(child => [child.dataset.key, child]));
  const active = parent.contains(document.activeElement) ? document.activeElement : null;
  const used = new Set();
  const keyed = items.map(item => {
    let id = key(item);
    while (used.has(id)) id += "+";   // two rows with one key would take each other's place
    used.add(id);
    return [id, item];
  });
  for (const [id, node] of old) if (!used.has(id)) node.remove();
  let at = parent.firstElementChild;
  for (const [id, item] of keyed) {
    const mark = signature(item);
    let node = old.get(id);
    if (!node || node.dataset.mark !== mark) {
      const fresh = draw(item, node);
      fresh.dataset.key = id;
      fresh.dataset.mark = mark;
      if (node) patch(node, fresh); else node = fresh;
    }
    if (node !== at) parent.insertBefore(node, at); else at = at.nextElementSibling;
  }
  // A row that is moved loses the focus.
  if (active && active.isConnected && document.activeElement !== active) active.focus({ preventScroll: true });
}

// A link to the other page of this machine, if it can be reached from where this one was opened.
function showLink(place, page, text) {
  const isLocal = host => /^(localhost|127\.|::1$|\[::1\])/.test(host);
  const mark = page ? JSON.stringify([page, text]) : "";
  if (place.dataset.mark === mark) return;
  place.dataset.mark = mark;
  place.replaceChildren();
  if (page && (!isLocal(page.host) || isLocal(location.hostname)))
    place.append(make("a", { href: `//${location.hostname}:${page.port}/` }, text), " · ");
}

function drawFinding(finding) {
  return make("li", { class: finding.level },
    make("p", {}, make("span", { class: "level" }, finding.level === "ok" ? "OK" : finding.level), " · ", clean(finding.subject)),
    make("p", {}, clean(finding.text)), finding.cure ? make("p", {}, "→ " + clean(finding.cure)) : null);
}

function live(text, kind) {
  if ($("live").textContent !== text) $("live").textContent = text;
  $("live").className = "pill " + kind;
}

// `show` draws the whole state, which every event carries. Events come every second. A link that is cut on its way, such
// as by a router without power, causes no error: only the events stay away.
const patience = 10000;   // milliseconds
let stream = null, silenceTimer = null;
function connect(show) {
  const watch = () => {
    clearTimeout(silenceTimer);
    silenceTimer = setTimeout(() => { live("no connection", "bad"); stream.close(); connect(show); }, patience);
  };
  stream = new EventSource("/events");
  watch();
  stream.onmessage = event => {
    watch();
    // What cannot be drawn, such as the state of a newer service, is not live.
    try { show(JSON.parse(event.data)); } catch (error) { live("cannot be shown: reload this page", "bad"); throw error; }
    live("live", "good");
  };
  stream.onerror = () => {
    live("no connection", "bad");
    if (stream.readyState !== EventSource.CLOSED) return;   // the browser tries again by itself
    clearTimeout(silenceTimer);
    fetch("/status.json").then(answer => {
      if (answer.status === 401) needToken(show);
      else setTimeout(connect, 5000, show);
    }).catch(() => setTimeout(connect, 5000, show));
  };
}

function needToken(show) {
  blocked = () => connect(show);
  if (declined) wait(); else if (!$("token-dialog").open) askToken(null);
}
// Another tab may get the token.
function wait() {
  live("no connection: reload this page to give the token", "bad");
  const again = blocked;
  setTimeout(() => { if (blocked === again) { blocked = null; again(); } }, patience);
}

// Changing things

const send = (path, body) => fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });

const underWay = new Set();
async function act(path, body, dialog, error) {
  const request = path + JSON.stringify(body);
  if (underWay.has(request)) return;   // a second click; the service would refuse it as done already
  underWay.add(request);
  const answer = await send(path, body).catch(() => null);
  underWay.delete(request);
  if (answer && answer.status === 401) { askToken(() => act(path, body, dialog, error)); return; }
  if (answer && answer.ok) { if (dialog.open) dialog.close(); return; }
  error.textContent = answer ? await answer.text() : silence;
  if (!dialog.open) dialog.showModal();
}

function askToken(then, error) {
  pending = then;
  if ($("token-dialog").open) return;
  $("token-error").textContent = error || "";
  $("token").value = "";
  $("token-dialog").showModal();
}

// A link of `status --link` ends with a token, which the browser sends to no server before it is exchanged for the session.
const oneTime = () => /^#link=(\w+)$/.exec(location.hash);
async function begin(show) {
  const link = oneTime();
  if (link) {
    history.replaceState(null, "", location.pathname);
    const answer = await send("/session", { link: link[1] }).catch(() => null);
    if (!answer || !answer.ok) askToken(null, answer ? await answer.text() : silence);
  }
  connect(show);
}
window.addEventListener("hashchange", () => oneTime() && location.reload());
$("token-form").addEventListener("submit", async event => {
  event.preventDefault();
  const answer = await send("/session", { token: $("token").value }).catch(() => null);
  if (!answer || !answer.ok) { $("token-error").textContent = answer ? await answer.text() : silence; return; }
  const [then, again] = [pending, blocked];
  [pending, blocked, declined] = [null, null, false];
  $("token-dialog").close();
  if (again) again();
  if (then) await then();
});
// Who closes the dialog without a token does not do what needed it.
$("token-dialog").addEventListener("close", () => {
  pending = null;
  if (blocked) { declined = true; wait(); }
});

for (const button of document.querySelectorAll("[data-close]"))
  button.addEventListener("click", () => button.closest("dialog").close());
