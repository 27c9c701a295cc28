// The decisive moments, for `cargo xtask shots`: one picture per row of the first minute, and one per lesson.
//
// Each has a `name` (the pictures are `<name>.<size>.<look>.png`) and `show`, which brings an open page to the
// moment; it may wait, but never for a time, only for something to be there. `path` is what to open, relative
// to the page. `fullPage` takes the whole length of the page instead of the window.

const play = (page) => page.getByRole("button", { name: "Play", exact: true }).click();
const stop = (page) => page.getByRole("button", { name: "Stop", exact: true }).click();
const press = (page) => page.locator(".press").click();
const hurry = (page) => page.getByLabel("Speed").selectOption("4 ×");
const there = (page, selector, text) => page.locator(selector, text ? { hasText: text } : {}).first().waitFor({ timeout: 60_000 });

/** To the n-th row of the first minute. */
async function minute(page, row) {
  await there(page, ".stage");
  if (row === 0) return;
  await hurry(page);
  await play(page);
  if (row === 1) {
    await there(page, ".ledger .holds");
    return stop(page);
  }
  await there(page, ".press", "Put A to sleep");
  if (row === 2) return;
  await press(page);
  await there(page, ".predict.asked");
  if (row === 3) return;
  await page.locator(".opt").nth(1).click();
  await there(page, ".press", "Wake A");
  if (row === 4) return;
  await press(page);
  await there(page, ".press", "Same run, gate on");
  if (row === 5) return;
  await press(page);
  await there(page, ".press", "Your turn");
  if (row === 6) return;
  await press(page);
  await there(page, ".goal");
}

const rows = ["0-still", "2-ring-fills", "6-checked", "10-asked", "25-chosen", "27-charged-twice", "40-side-by-side", "55-your-turn"];
const firstMinute = rows.map((name, row) => ({
  name: `minute-${name}`,
  path: "",
  show: (page) => minute(page, row),
}));

/** The stub on its way, and the stub that bounces: the film is stopped in the middle of it. */
const flights = [
  {
    name: "stub-on-its-way",
    path: "",
    show: async (page) => {
      await minute(page, 4);
      await page.getByLabel("Speed").selectOption("¼ ×");
      await press(page);
      await there(page, "[data-stub=stub]", "charge");
      await stop(page);
    },
  },
  {
    name: "stub-bounces",
    path: "",
    show: async (page) => {
      await minute(page, 5);
      await page.getByLabel("Speed").selectOption("¼ ×");
      await press(page);
      await there(page, "[data-stub=bounce]");
      await stop(page);
    },
  },
];

const lessons = ["a-lease", "heartbeats-and-timeouts", "generation-clock", "isolated-leader"].map((lesson) => ({
  name: `lesson-${lesson}`,
  path: `?lesson=${lesson}&page=3`,
  show: (page) => there(page, ".stage"),
}));

const whole = [
  { name: "whole-page", path: "?page=4", fullPage: true, show: (page) => there(page, ".stage") },
  { name: "embedded", path: "?embed", show: (page) => there(page, ".stage") },
];

export const moments = [...firstMinute, ...flights, ...lessons, ...whole];
