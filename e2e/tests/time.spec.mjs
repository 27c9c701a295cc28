// Going back, scrubbing, acting in the past, returning to the old future, and a run of one's own.

import { expect, test } from "../fixtures.mjs";
import { captionText, clock, hurry, open, play, press, tabTo, toDoubleCharge, toFirstStop, toRefusal } from "./helpers.mjs";

const button = (page, name) => page.getByRole("button", { name, exact: true });

test("one steps back to before the refusal, and it is not there", async ({ page }) => {
  test.setTimeout(90_000);
  await open(page);
  await hurry(page);
  await toRefusal(page);
  const right = page.locator(".stage").nth(1);
  await expect(right.locator("[data-write=refused]")).toHaveCount(1);
  for (let n = 0; n < 12 && (await right.locator("[data-write=refused]").count()) > 0; n++) {
    await button(page, "Step back").click();
  }
  await expect(right.locator("[data-write=refused]")).toHaveCount(0);
  await expect(right.locator(".plate")).toHaveText(/highest\s*2/);
  // And forward again: the same.
  for (let n = 0; n < 12 && (await right.locator("[data-write=refused]").count()) === 0; n++) {
    await button(page, "Next").click();
  }
  await expect(right.locator("[data-write=refused]")).toHaveCount(1);
});

test("the time line is scrubbed by pointer and by keys", async ({ page }) => {
  await open(page);
  await hurry(page);
  await toDoubleCharge(page);
  const slider = page.getByRole("slider", { name: "Time" });
  const box = await slider.boundingBox();
  await page.mouse.click(box.x + box.width * 0.3, box.y + 60);
  const there = await clock(page);
  expect(there).toBeGreaterThan(2);
  expect(there).toBeLessThan(6);
  await expect(page.locator(".write")).toHaveCount(0);
  await page.mouse.move(box.x + box.width * 0.2, box.y + 60);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.1, box.y + 60, { steps: 4 });
  await page.mouse.up();
  expect(await clock(page)).toBeLessThan(there);

  await slider.focus();
  await page.keyboard.press("End");
  await expect(page.locator(".write")).toHaveCount(2);
  const text = await slider.getAttribute("aria-valuetext");
  expect(text).toMatch(/^\d+\.\d s: .+/);
  const values = [];
  for (const key of ["ArrowLeft", "ArrowLeft", "PageDown", "Home"]) {
    await page.keyboard.press(key);
    values.push(Number(await slider.getAttribute("aria-valuenow")));
  }
  expect(values).toEqual([...values].sort((a, b) => b - a));
  expect(values.at(-1)).toBe(0);
  await page.keyboard.press("ArrowRight");
  expect(Number(await slider.getAttribute("aria-valuenow"))).toBeGreaterThan(0);
});

test("an act in the past starts a new future, and the old one can be returned to", async ({ page }) => {
  await open(page);
  await hurry(page);
  await toDoubleCharge(page);
  await button(page, "Sandbox").click();
  await expect(page.locator(".caption .tag")).toHaveText("sandbox");
  const end = await clock(page);
  const slider = page.getByRole("slider", { name: "Time" });
  const box = await slider.boundingBox();
  await page.mouse.click(box.x + box.width * 0.45, box.y + 60);
  const past = await clock(page);
  expect(past).toBeLessThan(end);
  await page.getByRole("button", { name: "Wake A", exact: true }).first().click();
  const futures = page.locator(".branches button");
  await expect(futures).toHaveCount(2);
  await expect(futures.nth(1)).toHaveAttribute("aria-pressed", "true");
  await futures.nth(0).click();
  await slider.focus();
  await page.keyboard.press("End");
  await expect(page.locator(".write").last()).toContainText("A charge 7");
  expect(await clock(page)).toBeCloseTo(end, 1);
  // Back in the lesson, where it was left.
  await page.getByRole("button", { name: "Back to the lesson" }).click();
  await expect(press(page)).toHaveText("Same run, gate on");
});

test("an act that the lesson did not ask for makes the run one's own, and the lesson waits", async ({ page }) => {
  await open(page);
  await hurry(page);
  await toFirstStop(page);
  await page.locator(".stage [data-name=B]").click();
  await page.locator(".verbs").getByRole("button", { name: "Put B to sleep" }).click();
  await expect(page.locator(".caption .tag")).toHaveText("sandbox");
  await expect(page.locator(".disc.worker.asleep")).toHaveAttribute("data-name", "B");
  await page.getByRole("button", { name: "Back to the lesson" }).click();
  await expect(press(page)).toHaveText("Put A to sleep");
  await expect(page.locator(".disc.worker.asleep")).toHaveCount(0);
  // What the lesson asks for, by another button, is its press.
  await page.locator(".stage [data-name=A]").click();
  await page.locator(".verbs").getByRole("button", { name: "Put A to sleep" }).click();
  await expect(page.locator(".caption .tag")).toHaveCount(0);
  await expect(page.locator(".disc.worker.asleep")).toHaveAttribute("data-name", "A");
});

test("a sandbox from any moment: crash, cut, heal, clocks, switches, the command box", async ({ page }) => {
  await open(page);
  await hurry(page);
  await toFirstStop(page);
  const box = page.getByLabel("A command");
  const say = async (line) => {
    await box.fill(line);
    await page.getByRole("button", { name: "Do it" }).click();
  };
  await say("crash s2");
  await expect(page.locator(".dot.crashed")).toHaveText("s2");
  await say("partition A | B s1 s3 orders");
  await expect(page.locator(".wire.cut").first()).toBeVisible();
  await say("heal");
  await expect(page.locator(".wire.cut")).toHaveCount(0);
  await say("clock A rate +10%");
  await expect(page.locator(".badge")).toHaveText("+10 %");
  await say("set fence enforce");
  await expect(page.locator(".plate")).toHaveText(/highest/);
  // One way only: one stroke has a gap.
  await page.locator(".stage [data-name=A]").click();
  await page.locator(".verbs summary", { hasText: "Links" }).click();
  await page.locator(".items").getByRole("button", { name: "Cut A → orders" }).click();
  await expect(page.locator(".wire.cut")).toHaveCount(1);

  await say("pause C");
  await expect(page.locator(".notice")).toContainText("C");
  await say("sleep A");
  await expect(page.locator(".notice")).toContainText("Column 1");
  await expect(page.locator(".disc.worker.asleep")).toHaveCount(0);
});

test("the same run with one thing changed stands beside the first", async ({ page }) => {
  await open(page);
  await hurry(page);
  await toDoubleCharge(page);
  await page.locator(".verbs summary", { hasText: "Gate" }).click();
  await page.locator(".items").getByRole("button", { name: "Same run, gate on" }).click();
  await expect(page.locator(".stage")).toHaveCount(2);
  await expect(page.locator(".stage").nth(0).locator("[data-write='accepted late']")).toHaveCount(1);
  await expect(page.locator(".stage").nth(1).locator("[data-write=refused]")).toHaveCount(1);
});

test("a prediction is judged, and a right one is told so too", async ({ page }) => {
  await open(page);
  await hurry(page);
  await play(page).click();
  await expect(press(page)).toBeVisible({ timeout: 30_000 });
  await press(page).click();
  await expect(page.locator(".predict.asked")).toBeVisible({ timeout: 30_000 });
  // The question blocks going on.
  await page.getByRole("button", { name: "Continue" }).dispatchEvent("click");
  await expect(page.locator("[aria-current=page]")).toHaveAttribute("aria-label", /Page 3/);
  await play(page).dispatchEvent("click");
  await expect(page.locator(".predict.asked")).toBeVisible();
  await page.locator(".opt").nth(2).click();
  await press(page).click();
  await expect(page.locator(".verdict")).toHaveText("As you predicted.", { timeout: 30_000 });
  await expect(page.locator(".opt.mine.true")).toContainText("you chose this, and it is what happened");
  await expect(page.locator(".why cite")).toContainText("·");
});

test("a goal is reached by doing", async ({ page }) => {
  await open(page, "/?page=5");
  await press(page).click();
  await hurry(page);
  const say = async (line) => {
    await page.getByLabel("A command").fill(line);
    await page.getByRole("button", { name: "Do it" }).click();
  };
  await expect(page.locator(".caption .tag")).toHaveText("sandbox");
  // A gets the lease, checks, sleeps; B gets it and does not write; A wakes.
  await play(page).click();
  await expect(page.locator(".ledger .holds")).toContainText("A holds", { timeout: 20_000 });
  await say("pause A before send");
  await say('write A orders "charge 7"');
  await expect(page.locator(".ledger .holds")).toContainText("B holds", { timeout: 30_000 });
  await say("resume A");
  await expect(page.locator(".goal .status")).toContainText("Reached at", { timeout: 30_000 });
});

test("every action is spoken once, in a sentence that is not long", async ({ page }) => {
  await open(page);
  await page.evaluate(() => {
    window.spoken = [];
    const look = () => {
      for (const id of ["say-1", "say-2"]) {
        const text = document.getElementById(id).textContent;
        if (text && window.spoken.at(-1) !== text) window.spoken.push(text);
      }
    };
    for (const id of ["say-1", "say-2"]) {
      new MutationObserver(look).observe(document.getElementById(id), { childList: true, characterData: true, subtree: true });
    }
  });
  await page.getByRole("button", { name: "Next", exact: true }).click();
  await expect.poll(() => page.evaluate(() => window.spoken.length)).toBe(1);
  await page.locator(".stage [data-name=B]").click();
  await expect.poll(() => page.evaluate(() => window.spoken.length)).toBe(2);
  await page.locator(".verbs").getByRole("button", { name: "Put B to sleep" }).click();
  await expect.poll(() => page.evaluate(() => window.spoken.length)).toBe(3);
  const spoken = await page.evaluate(() => window.spoken);
  for (const sentence of spoken) expect(sentence.length).toBeLessThanOrEqual(120);
  expect(spoken[2]).toContain("B falls asleep.");
});
