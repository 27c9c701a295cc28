// The first minute, as a newcomer gets it: with the lesson's own seed, and with other numbers.

import { expect, test } from "../fixtures.mjs";
import { captionText, clock, expectNoOverlap, open, play, press, record, recorded } from "./helpers.mjs";

const worlds = [
  { name: "the lesson's seed", path: "/", lease: 5 },
  { name: "another seed and an 8 s lease", path: "/?seed=11&lease=8s", lease: 8 },
];

for (const { name, path, lease } of worlds) {
  test(`the first minute, with ${name}`, async ({ page }) => {
    test.setTimeout(120_000);
    await open(page, path);
    await record(page, ".caption .watch", "captions");
    await expect(captionText(page)).toHaveText("Press Play. Watch A’s ring.");
    await expect(page.locator(".plate")).toHaveText(/open/);

    // The first thing happens within two seconds.
    await play(page).click();
    await expect(page.locator("#ring0-3")).toBeVisible({ timeout: 2_000 });
    await expect(page.locator(".ledger .holds")).toContainText("A holds");

    // It stops by itself between two lines of A's code.
    await expect(press(page)).toHaveText("Put A to sleep", { timeout: 30_000 });
    await expect(captionText(page)).toHaveText("A has checked: the lease is mine. Next line: send.");
    await expect(page.locator("[data-stub=in-hand]")).toHaveText(/1\s*charge 7/);
    await expectNoOverlap(page);
    await press(page).click();

    // The ring drains, B gets the lease, and the lesson asks.
    await expect(page.locator(".predict.asked .q")).toHaveText("A wakes. What does the store do?", { timeout: 60_000 });
    await expect(page.locator("[data-truth=A]")).toContainText("lapsed");
    await expect(page.locator("[data-belief=A]")).toHaveText("believes: mine");
    await expect(page.locator("[data-belief=B]")).toHaveText("believes: mine");
    await expect(page.locator(".write")).toHaveText([/✓\s*2\s*B charge 7/]);
    await expect(page.locator("[aria-current=page]")).toHaveAttribute("aria-label", /Page 3/);
    await page.locator(".opt").nth(1).click();

    await expect(press(page)).toHaveText("Wake A");
    await expect(page.locator(".opt.mine")).toContainText("your prediction");
    await press(page).click();
    await expect(captionText(page)).toHaveText("Order 7 is charged twice. Nobody crashed.", { timeout: 30_000 });
    await expect(page.locator(".write")).toHaveText([/✓\s*2\s*B charge 7/, /!\s*1\s*A charge 7/]);

    // What was predicted stands beside what happened.
    await expect(press(page)).toHaveText("Same run, gate on", { timeout: 30_000 });
    await expect(page.locator(".opt.mine")).toContainText("you chose this");
    await expect(page.locator(".opt.true")).toContainText("this is what happened");
    await expect(page.locator("[data-invariant=no-older-token]")).toHaveClass("broken");
    await press(page).click();

    // Two runs, side by side: the left accepted, the right refused.
    await expect(page.locator(".stage")).toHaveCount(2);
    await expect(press(page)).toHaveText("Your turn", { timeout: 60_000 });
    await expect(captionText(page)).toHaveText("Refused: 1 < 2. No clock needed.");
    const [left, right] = [page.locator(".stage").nth(0), page.locator(".stage").nth(1)];
    await expect(left.locator(".write").last()).toContainText("A charge 7");
    await expect(left.locator(".write").last()).toHaveAttribute("data-write", "accepted late");
    await expect(right.locator(".write").last()).toHaveAttribute("data-write", "refused");
    await expect(right.locator(".write").last()).toContainText("stale: 1 < 2");
    await expect(page.locator("[data-invariant=no-older-token]")).toHaveClass("kept");
    await expectNoOverlap(page);

    await press(page).click();
    await expect(page.locator(".goal")).toContainText("Get a write accepted from a worker whose lease has lapsed");

    const captions = await recorded(page, "captions");
    expect(captions).toContain(`A holds the lease for ${lease} s.`);
    expect(captions).toContain("Lapsed. A cannot know.");
    expect(captions).toContain("B has charged order 7.");
  });
}

test("the second run begins shortly before the two differ", async ({ page }) => {
  test.setTimeout(90_000);
  await open(page, "/?page=4");
  await play(page).click();
  await expect(page.locator(".stage")).toHaveCount(2);
  const began = await clock(page);
  await expect(page.locator(".stage").nth(1).locator("[data-write=refused]")).toBeVisible({ timeout: 30_000 });
  expect((await clock(page)) - began).toBeLessThan(3);
  expect(began).toBeGreaterThan(4);
});
