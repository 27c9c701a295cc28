// What is drawn is what is so: rings, dots, belief, and the gate that a refused write never passes.

import { expect, test } from "../fixtures.mjs";
import {
  clock, expectNoOverlap, hurry, open, play, press, record, recorded, toDoubleCharge, toFirstStop, toQuestion, toRefusal,
} from "./helpers.mjs";

const until = async (page, name) => parseFloat((await page.locator(`[data-truth=${name}]`).textContent()).match(/until ([\d.]+)/)[1]);
const part = async (page, id) => parseFloat(await page.locator(`#ring0-${id}`).getAttribute("data-part"));

test("a ring is what is left of the lease in truth", async ({ page }) => {
  await open(page);
  await toFirstStop(page);
  const lease = 5;
  expect(await part(page, 3)).toBeCloseTo(((await until(page, "A")) - (await clock(page))) / lease, 1);
  await press(page).click();
  // While it drains, at any moment.
  for (let n = 0; n < 3; n++) {
    await page.waitForFunction((n) => parseFloat(document.querySelector("#clock").textContent) > 3 + n, n);
    const [now, end, left] = await page.evaluate(() => [
      parseFloat(document.querySelector("#clock").textContent),
      parseFloat(document.querySelector("[data-truth=A]").textContent.match(/until ([\d.]+)/)[1]),
      parseFloat(document.querySelector("#ring0-3").dataset.part),
    ]);
    expect(Math.abs(left - (end - now) / lease)).toBeLessThan(0.045);
  }
});

test("a check is an open dot, its send a filled one, and both stand where they happened", async ({ page }) => {
  await open(page);
  await hurry(page);
  await toDoubleCharge(page);
  const marks = await page.evaluate(() => {
    const svg = document.querySelector(".lanes svg");
    const ticks = [...svg.querySelectorAll("line.tl-tick")].map((line) => parseFloat(line.getAttribute("x1")));
    const seconds = [...svg.querySelectorAll("text.tl-figure")]
      .filter((text) => ticks.includes(parseFloat(text.getAttribute("x"))) && parseFloat(text.getAttribute("y")) > 150)
      .map((text) => [parseFloat(text.getAttribute("x")), parseFloat(text.textContent)]);
    const dot = (e) => ({ at: Number(e.dataset.at) / 1e6, x: parseFloat(e.getAttribute("cx")), y: parseFloat(e.getAttribute("cy")) });
    return {
      seconds,
      check: dot(svg.querySelector(".tl-check.odds")),
      send: dot(svg.querySelector(".tl-send.odds")),
      fill: getComputedStyle(svg.querySelector(".tl-send.odds")).fill,
      open: getComputedStyle(svg.querySelector(".tl-check.odds")).fill,
    };
  });
  const [[x0, s0], [x1, s1]] = [marks.seconds[0], marks.seconds.at(-1)];
  const x = (second) => x0 + ((second - s0) / (s1 - s0)) * (x1 - x0);
  expect(Math.abs(marks.check.x - x(marks.check.at))).toBeLessThan(1);
  expect(Math.abs(marks.send.x - x(marks.send.at))).toBeLessThan(1);
  expect(marks.send.y).toBe(marks.check.y);
  expect(marks.send.at - marks.check.at).toBeGreaterThan(5);
  expect(marks.fill).not.toBe(marks.open);
});

test("belief does not change while A sleeps, only its age does", async ({ page }) => {
  await open(page);
  await toFirstStop(page);
  await record(page, "[data-belief=A]", "beliefs");
  await record(page, "#age0-3", "ages");
  await press(page).click();
  await expect(page.locator(".predict.asked")).toBeVisible({ timeout: 30_000 });
  expect(await recorded(page, "beliefs")).toEqual(["believes: mine"]);
  const ages = (await recorded(page, "ages")).map((text) => parseFloat(text.match(/[\d.]+/)?.[0] ?? "0"));
  expect(ages.length).toBeGreaterThan(20);
  expect(ages).toEqual([...ages].sort((a, b) => a - b));
  expect(ages.at(-1)).toBeGreaterThan(5);
  await expect(page.locator(".worker.asleep .asleep-hatch")).toBeVisible();
});

for (const [name, size] of Object.entries({ wide: [1920, 1000], usual: [1440, 900], phone: [360, 740] })) {
  test(`a refused stub never passes the gate, ${name}`, async ({ page }) => {
    test.setTimeout(90_000);
    await page.setViewportSize({ width: size[0], height: size[1] });
    await open(page);
    await hurry(page);
    await toDoubleCharge(page);
    await page.evaluate(() => {
      window.passed = { frames: 0, bounced: 0, worst: -1e9 };
      const look = () => {
        const stage = document.querySelectorAll(".stage")[1];
        const gate = stage?.querySelector(".gate")?.getBoundingClientRect();
        for (const stub of stage?.querySelectorAll("[data-stub=stub], [data-stub=bounce], [data-stub=refused]") ?? []) {
          if (!/charge/.test(stub.textContent)) continue;
          const rect = stub.getBoundingClientRect();
          const isWide = stage.classList.contains("wide");
          const beyond = isWide ? rect.right - gate.left : rect.bottom - gate.top;
          window.passed.worst = Math.max(window.passed.worst, beyond);
          window.passed.frames += 1;
          window.passed.bounced += stub.dataset.stub === "bounce" ? 1 : 0;
        }
        requestAnimationFrame(look);
      };
      look();
    });
    await page.getByLabel("Speed").selectOption("1 ×");
    await press(page).click();
    await expect(press(page)).toHaveText("Your turn", { timeout: 60_000 });
    const passed = await page.evaluate(() => window.passed);
    expect(passed.bounced, "the bounce was seen").toBeGreaterThan(5);
    expect(passed.worst, "pixels beyond the gate").toBeLessThanOrEqual(0);
  });
}

for (const width of [1440, 1280, 1079, 1024, 820, 700, 480, 360, 320]) {
  test(`nothing overlaps at ${width} px`, async ({ page }) => {
    test.setTimeout(90_000);
    await page.setViewportSize({ width, height: 800 });
    await open(page);
    await hurry(page);
    await expectNoOverlap(page);
    await toQuestion(page);
    await expectNoOverlap(page);
    const sideways = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    expect(sideways, "no sideways scrolling").toBeLessThanOrEqual(0);
    await page.goto("/?page=4");
    await hurry(page);
    await play(page).click();
    await expect(press(page)).toHaveText("Your turn", { timeout: 30_000 });
    await expectNoOverlap(page);
  });
}

for (const lesson of ["a-lease", "heartbeats-and-timeouts", "generation-clock", "isolated-leader"]) {
  for (const width of [1440, 820, 360]) {
    test(`nothing overlaps in ${lesson} at ${width} px`, async ({ page }) => {
      await page.setViewportSize({ width, height: 800 });
      await open(page, `/?lesson=${lesson}`);
      await expectNoOverlap(page);
      await open(page, `/?lesson=${lesson}&page=3`);
      await expectNoOverlap(page);
    });
  }
}

test("side by side, both runs show one time", async ({ page }) => {
  await open(page);
  await hurry(page);
  await toRefusal(page);
  const cursors = await page.evaluate(() => ["#cursor0", "#cursor1"].map((id) => document.querySelector(id).getAttribute("transform")));
  expect(cursors[0]).toBe(cursors[1]);
});
