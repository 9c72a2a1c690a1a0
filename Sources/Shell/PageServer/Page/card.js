// "Add a gateway" on both pages: the command that makes the card of a gateway, and what stands on it. The service has no secret in its
// answer, and none is asked for here: the command asks where it is run.
"use strict";
{
  const input = (id, attributes) => make("input", { id, maxlength: 200, autocomplete: "off", spellcheck: "false", ...attributes });
  const label = (text, field) => make("label", {}, text + " ", field);
  const [room, host] = [input("card-room", { placeholder: "Kitchen" }), input("card-host", { placeholder: "broker.lan" })];
  const [wifi, country] = [input("card-wifi", { maxlength: 32 }), input("card-country", { maxlength: 2, placeholder: "DE" })];
  const close = make("button", { type: "button" }, "Close");
  const dialog = make("dialog", { id: "card-dialog", "aria-labelledby": "h-gateway" }, make("form", { method: "dialog" },
    make("h2", { id: "h-gateway" }, "Add a gateway"),
    make("p", {}, "A card with Raspberry Pi OS becomes a gateway without a terminal. Run the command on your computer, and copy the files that it writes onto the card's boot partition."),
    make("div", { class: "fields" }, label("Room", room), label("Broker, as the gateway reaches it", host),
      label("Wi-Fi; empty: a cable", wifi), label("Country of the Wi-Fi", country)),
    make("p", { class: "error", id: "card-error", role: "alert" }),
    make("p", {}, make("code", { id: "card-command", class: "wrap" })), make("ul", { id: "card-needs", class: "soft" }), make("div", { id: "card-files" }),
    make("p", { class: "soft" }, "The files hold the secrets in these places until the first boot has moved them. This page does not know them."),
    make("div", { class: "buttons" }, close)));
  document.body.append(dialog);
  close.onclick = () => dialog.close();

  let asked = 0, timer = null;
  async function ask() {
    const number = ++asked;
    const here = /^(localhost|127\.|::1$|\[::1\])/.test(location.hostname) ? "" : location.hostname;
    const choice = { here, room: room.value.trim() || room.placeholder, host: host.value, wifi: wifi.value, country: country.value.toUpperCase() };
    const answer = await fetch("/gateway.json?" + new URLSearchParams(choice)).catch(() => null);
    if (number !== asked) return;
    if (answer && answer.status === 401) { askToken(ask); return; }
    const offer = answer && answer.ok ? await answer.json() : null;
    $("card-error").textContent = offer ? "" : answer ? await answer.text() : silence;
    if (offer) show(offer);
    for (const id of ["card-command", "card-needs", "card-files"]) $(id).hidden = !offer;
  }
  function show(offer) {
    if (!host.value && offer.broker) host.placeholder = clean(offer.broker);
    $("card-command").textContent = offer.command;
    fill($("card-needs"), offer.needs, need => need, need => need, need => make("li", { class: "wrap" }, need));
    fill($("card-files"), offer.files, file => file.name, file => file.text, (file, old) => {
      const shown = make("details", {}, make("summary", {}, file.name), make("pre", { tabindex: 0, class: "mono" }, file.text));
      if (old && old.open) shown.open = true;
      return shown;
    });
  }
  for (const field of [room, host, wifi, country]) field.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(ask, 200); });
  $("add-gateway").addEventListener("click", () => { dialog.showModal(); ask(); });
  dialog.querySelector("form").addEventListener("submit", event => event.preventDefault());
}
