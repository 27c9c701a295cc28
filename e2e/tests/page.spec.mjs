// Deep links, embedding, stillness before Play, reduced motion, and what is shown when something breaks.

import { expect, test } from "../fixtures.mjs";
import { captionText, clock, open, play, press, toFirstStop } from "./helpers.mjs";

test("a link opens a lesson at a page, and the address follows", async ({ page }) => {
  await open(page, "/?lesson=pause-outlives-its-lease&page=3");
  await expect(page.locator("[aria-current=page]")).toHaveAttribute("aria-label", /Page 3 of 5: A wakes/);
  await expect(page.locator(".predict.asked")).toBeVisible();
  await page.getByRole("button", { name: "Back", exact: true }).click();
  await expect(page).toHaveURL(/page=2/);
  await expect(page.locator(".lesson h2").first()).toHaveText("B takes over");
});

test("every lesson opens, and its pages can be turned", async ({ page }) => {
  for (const lesson of ["pause-outlives-its-lease", "a-lease", "heartbeats-and-timeouts", "generation-clock", "isolated-leader"]) {
    await open(page, `/?lesson=${lesson}`);
    await expect(page.locator(".dots .now")).toHaveAttribute("aria-label", /^Page 1/);
    const pages = await page.locator(".dots li").count();
    await page.locator(".dots button").nth(pages - 1).click();
    await expect(page.locator(".dots .now")).toHaveAttribute("aria-label", new RegExp(`^Page ${pages}`));
    await expect(page.locator(".why.refusal", { hasText: "cannot go on" })).toHaveCount(0);
  }
});

test("what the address asks for and cannot be had is said once", async ({ page }) => {
  await open(page, "/?lesson=no-such&theme=pink&page=99&lease=0s");
  const notice = page.locator(".notice");
  await expect(notice).toContainText("There is no lesson");
  await expect(notice).toContainText("theme=pink");
  await expect(notice).toContainText("lease=0s");
  await expect(captionText(page)).toHaveText("Press Play. Watch A’s ring.");
  await notice.getByRole("button").click();
  await expect(notice).toHaveCount(0);
});

test("embedded: no head, no writing to the address or the storage, no focus", async ({ page, baseURL }) => {
  await page.route("**/host.html", (route) =>
    route.fulfill({
      contentType: "text/html",
      body: `<!doctype html><html lang="en"><title>A host</title><input id="mine" autofocus aria-label="mine">
        <iframe title="Leasehold" src="${baseURL}?embed&lesson=pause-outlives-its-lease" width="700" height="700"></iframe></html>`,
    }),
  );
  await page.goto("/host.html");
  const frame = page.frameLocator("iframe");
  await expect(frame.locator(".stage")).toBeVisible();
  await page.waitForTimeout(500);
  expect(await page.evaluate(() => document.activeElement.id)).toBe("mine");
  await expect(frame.locator("header")).toHaveCount(0);
  await frame.locator(".play").click();
  await expect(frame.locator(".press")).toHaveText("Put A to sleep", { timeout: 30_000 });
  await frame.getByRole("button", { name: "Continue" }).click();
  const inside = page.frames()[1];
  expect(inside.url()).not.toContain("page=");
  expect(await inside.evaluate(() => localStorage.length)).toBe(0);
});

for (const path of ["/", "/?embed"]) {
  test(`nothing moves before Play at ${path}`, async ({ page }) => {
    await open(page, path);
    await page.evaluate(() => document.fonts.ready);
    const before = await page.screenshot();
    await page.waitForTimeout(2_000);
    expect((await page.screenshot()).equals(before)).toBe(true);
    expect(await clock(page)).toBe(0);
  });
}

test("nothing is drawn while the film is stopped", async ({ page }) => {
  await open(page);
  await toFirstStop(page);
  const changes = await page.evaluate(async () => {
    let changes = 0;
    new MutationObserver((list) => (changes += list.length)).observe(document.body, { subtree: true, attributes: true, childList: true, characterData: true });
    await new Promise((done) => setTimeout(done, 700));
    return changes;
  });
  expect(changes).toBe(0);
});

test("with reduced motion, what is on its way stands still until it has arrived", async ({ page }) => {
  await page.emulateMedia({ reducedMotion: "reduce" });
  await open(page);
  await page.evaluate(() => {
    window.places = {};
    const look = () => {
      for (const thing of document.querySelectorAll(".flying")) {
        const place = thing.getAttribute("transform");
        if (place) (window.places[thing.id] ??= new Set()).add(place);
      }
      requestAnimationFrame(look);
    };
    look();
  });
  await toFirstStop(page);
  const most = await page.evaluate(() => Math.max(...Object.values(window.places).map((set) => set.size)));
  expect(most).toBe(1);
});

test("motion and theme can be set by the address and by hand, and are kept", async ({ page }) => {
  await open(page, "/?theme=dark&motion=reduced");
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
  await expect(page.locator("html")).toHaveAttribute("data-motion", "reduced");
  await open(page, "/");
  await page.getByRole("button", { name: "Look", exact: true }).click();
  await page.getByRole("button", { name: "Dark", exact: true }).click();
  await page.keyboard.press("Escape");
  await page.reload();
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
});

test("progress is kept between visits", async ({ page }) => {
  await open(page, "/?lesson=pause-outlives-its-lease&page=4");
  await page.getByRole("button", { name: "Back", exact: true }).click();
  await open(page, "/");
  await page.getByRole("button", { name: "Lessons" }).click();
  await expect(page.locator(".shelf li").first()).toContainText("page");
});

test.describe("when something breaks", () => {
  test.use({ allowedErrors: [/./] });

  test("a panic shows what happened, and the run so far can be gone on with", async ({ page }) => {
    await open(page);
    await toFirstStop(page);
    await press(page).click();
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    const run = await page.evaluate(() => leasehold.run());
    expect(run).toContain("pause A");
    // Break it for real: the next message panics.
    await page.evaluate(() => history.replaceState(null, "", "?fault=panic"));
    await page.reload();
    await expect(page.locator(".stage")).toBeVisible();
    await page.evaluate((run) => leasehold.mirror(run), run);
    await page.getByRole("button", { name: "Next", exact: true }).click();
    const trouble = page.locator("#trouble");
    await expect(trouble).toBeVisible();
    await expect(trouble).toContainText("Something went wrong");
    await expect(trouble).toContainText("the address asked for a fault");
    await expect(page.locator(".stage")).toBeHidden();
    await page.getByRole("button", { name: "Go on with the run so far" }).click();
    await expect(page.locator(".notice")).toContainText("This is the run from before the page broke.");
    await expect(page.locator(".caption .tag")).toHaveText("sandbox");
    await expect(page.locator(".disc.worker.asleep")).toHaveAttribute("data-name", "A");
  });

  test("a load that fails says so, with a way on", async ({ page }) => {
    await page.route("**/*.wasm", (route) => route.abort());
    await page.goto("/");
    await expect(page.locator("#trouble")).toBeVisible();
    await expect(page.getByRole("button", { name: "Open the page anew" })).toBeVisible();
    await page.unroute("**/*.wasm");
    await page.getByRole("button", { name: "Open the page anew" }).click();
    await expect(page.locator(".stage")).toBeVisible();
  });

  test("a run that cannot be read is said, and the page opens all the same", async ({ page }) => {
    await page.addInitScript(() => sessionStorage.setItem("leasehold.recovered", '{"version": 99'));
    await page.goto("/");
    await expect(page.locator(".notice")).toContainText("cannot be read");
    await expect(play(page)).toBeVisible();
  });
});
