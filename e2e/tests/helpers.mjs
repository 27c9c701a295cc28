// What the tests of the page do again and again: play, press, wait for what the lesson comes to, measure.

import AxeBuilder from "@axe-core/playwright";
import { expect } from "../fixtures.mjs";

export const play = (page) => page.getByRole("button", { name: "Play", exact: true });
export const press = (page) => page.locator(".press");
export const clock = async (page) => parseFloat(await page.locator("#clock").textContent());
export const captionText = (page) => page.locator(".caption .watch");

/** Opens the page and waits until it can be used. */
export async function open(page, path = "/") {
  await page.goto(path);
  await expect(page.locator(".stage").first()).toBeVisible();
  await expect(page.locator("#loading")).toBeHidden();
}

/** Plays at fourfold speed, for tests that are about something else than the playing. */
export async function hurry(page) {
  await page.getByLabel("Speed").selectOption("4 ×");
}

/** Plays to the first stop: A has checked, and is about to send. */
export async function toFirstStop(page) {
  await play(page).click();
  await expect(press(page)).toHaveText("Put A to sleep", { timeout: 30_000 });
}

/** On to the question of what the store will do. */
export async function toQuestion(page) {
  await toFirstStop(page);
  await press(page).click();
  await expect(page.locator(".predict.asked")).toBeVisible({ timeout: 30_000 });
}

/** On to the end of the first run: the late write is accepted. */
export async function toDoubleCharge(page, choice = 2) {
  await toQuestion(page);
  await page.locator(".opt").nth(choice).click();
  await expect(press(page)).toHaveText("Wake A");
  await press(page).click();
  await expect(press(page)).toHaveText("Same run, gate on", { timeout: 30_000 });
}

/** On to the end of the second run: the late write is refused, beside the first run. */
export async function toRefusal(page) {
  await toDoubleCharge(page);
  await press(page).click();
  await expect(press(page)).toHaveText("Your turn", { timeout: 30_000 });
}

/** Everything that an element's text has been from now on; read it with `texts`. */
export async function record(page, selector, name) {
  await page.evaluate(
    ([selector, name]) => {
      const seen = (window[name] = []);
      const look = () => {
        const text = document.querySelector(selector)?.textContent ?? "";
        if (seen.at(-1) !== text) seen.push(text);
      };
      look();
      new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true });
    },
    [selector, name],
  );
}
export const recorded = (page, name) => page.evaluate((name) => window[name], name);

/** The boxes of everything on the stages that must not cover one another; says which do. */
export async function expectNoOverlap(page) {
  const faults = await page.evaluate(() => {
    const faults = [];
    for (const stage of document.querySelectorAll(".stage")) {
      const room = stage.getBoundingClientRect();
      const marked = [...stage.querySelectorAll("[data-box] > *, .disc, [data-plate], .truth.under, .column")];
      const parts = marked.filter((e) => e.getClientRects().length > 0 && getComputedStyle(e).visibility !== "hidden");
      const rects = parts.map((e) => {
        // What a text really covers, not the room it was given.
        const range = document.createRange();
        range.selectNodeContents(e);
        const own = e.matches(".disc, [data-plate]") || e.children.length > 0;
        const rect = own ? e.getBoundingClientRect() : range.getBoundingClientRect();
        return { name: `${e.className} “${e.textContent.slice(0, 24)}”`, rect, e };
      });
      for (const { name, rect, e } of rects) {
        const outside = rect.left < room.left - 1 || rect.right > room.right + 1 || rect.bottom > room.bottom + 1;
        if (e.offsetWidth > 1 && outside) faults.push(`${name} leaves the stage`);
      }
      for (let a = 0; a < rects.length; a++) {
        for (let b = a + 1; b < rects.length; b++) {
          const [p, q] = [rects[a], rects[b]];
          if (p.e.contains(q.e) || q.e.contains(p.e)) continue;
          // What is only for listening is one pixel wide.
          if (p.e.offsetWidth <= 1 || q.e.offsetWidth <= 1) continue;
          const w = Math.min(p.rect.right, q.rect.right) - Math.max(p.rect.left, q.rect.left);
          const h = Math.min(p.rect.bottom, q.rect.bottom) - Math.max(p.rect.top, q.rect.top);
          if (w > 1 && h > 2) faults.push(`${p.name} and ${q.name} overlap by ${w.toFixed(0)} x ${h.toFixed(0)}`);
        }
      }
    }
    const small = [...document.querySelectorAll("body *")].filter((e) => {
      const hasText = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
      return hasText && e.getClientRects().length > 0 && parseFloat(getComputedStyle(e).fontSize) < 12;
    });
    faults.push(...small.map((e) => `“${e.textContent.slice(0, 20)}” is smaller than 12 px`));
    return faults;
  });
  expect(faults, "nothing overlaps, leaves the stage or is too small").toEqual([]);
}

/** axe, with every tag of ACCESSIBILITY 1 and the rule for target sizes, which is off by default. */
export async function expectNothingFound(page) {
  const axe = new AxeBuilder({ page })
    .options({ rules: { "target-size": { enabled: true } } })
    .withTags(["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]);
  const { violations } = await axe.analyze();
  const findings = violations.flatMap(({ id, help, nodes }) =>
    nodes.map((node) => `${id}: ${help}: ${node.target.join(" ")}: ${node.any.map((a) => a.message).join("; ")}`),
  );
  expect(findings, "axe finds nothing").toEqual([]);
}

/** Presses Tab until the element has the focus. */
export async function tabTo(page, locator, most = 80) {
  for (let n = 0; n < most; n++) {
    if (await locator.evaluate((e) => e === document.activeElement).catch(() => false)) return;
    await page.keyboard.press("Tab");
  }
  await expect(locator, "it is reached by Tab").toBeFocused();
}
