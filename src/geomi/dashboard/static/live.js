// Keeps the page of a crawl fresh, and shows times in the reader's own zone. Everything on the page
// works without it. What the server sends was escaped there; it is parsed as a document of its own,
// in which nothing runs.
"use strict";

function showTimes(root) {
  const shape = new Intl.DateTimeFormat(document.documentElement.lang, {
    dateStyle: "medium",
    timeStyle: "short",
  });
  for (const one of root.querySelectorAll("time[datetime]")) {
    one.title = one.textContent;
    one.textContent = shape.format(new Date(one.dateTime));
  }
}

function follow(part) {
  const source = new EventSource(part.dataset.live);
  source.addEventListener("figures", (event) => {
    const written = new DOMParser().parseFromString(event.data, "text/html");
    showTimes(written);
    part.replaceChildren(...written.body.childNodes);
  });
  source.addEventListener("over", () => {
    source.close();
    window.location.reload();
  });
}

// On a phone the menu is one line; the page that is open may lie beyond its end. scrollIntoView would
// also move the place where Tab begins, past the link that skips the menu.
function centre(item, menu) {
  const [inner, outer] = [item.getBoundingClientRect(), menu.getBoundingClientRect()];
  menu.scrollLeft += inner.left + inner.width / 2 - (outer.left + outer.width / 2);
}

showTimes(document);
const here = document.querySelector("header nav [aria-current]");
if (here !== null) {
  centre(here, here.closest("nav"));
}
const live = document.querySelector("[data-live]");
if (live !== null && "EventSource" in window) {
  follow(live);
}
