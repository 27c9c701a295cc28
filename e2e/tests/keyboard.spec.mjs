// The first minute by real key presses alone, and what keys must not do.

import { expect, test } from "../fixtures.mjs";
import { captionText, open, play, press, tabTo } from "./helpers.mjs";

test("the first minute by the keyboard alone", async ({ page }) => {
  test.setTimeout(120_000);
  await open(page);
  await page.keyboard.press("Tab");
  await page.keyboard.press("k");
  await expect(press(page)).toHaveText("Put A to sleep", { timeout: 30_000 });
  await tabTo(page, press(page));
  await page.keyboard.press("Enter");

  await expect(page.locator(".predict.asked")).toBeVisible({ timeout: 60_000 });
  await tabTo(page, page.locator(".opt").nth(1));
  await page.keyboard.press("Space");
  await expect(page.locator(".opt.mine")).toContainText("It refuses");

  await tabTo(page, press(page));
  await page.keyboard.press("Enter");
  await expect(captionText(page)).toHaveText("Order 7 is charged twice. Nobody crashed.", { timeout: 30_000 });
  await expect(press(page)).toHaveText("Same run, gate on", { timeout: 30_000 });
  await page.keyboard.press("PageDown");
  await expect(page.locator(".stage")).toHaveCount(2);
  await expect(press(page)).toHaveText("Your turn", { timeout: 60_000 });
  await expect(page.locator("[data-write=refused]")).toBeVisible();
});

test("keys act only inside the player, alone, and not in a field", async ({ page }) => {
  await open(page);
  await page.keyboard.press("k");
  await expect(play(page)).toBeVisible();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Control+k");
  await expect(play(page)).toBeVisible();
  const command = page.getByLabel("A command");
  await command.fill("");
  await command.pressSequentially("k.,");
  await expect(command).toHaveValue("k.,");
  await expect(play(page)).toBeVisible();
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("k");
  await expect(page.getByRole("button", { name: "Stop", exact: true })).toBeVisible();
});

test("letters can be turned off; the list of keys comes from the same table", async ({ page }) => {
  await open(page);
  await page.keyboard.press("Tab");
  await page.keyboard.press("?");
  const help = page.getByRole("dialog", { name: "Keys" });
  await expect(help).toBeVisible();
  await expect(help.locator("tbody tr")).toHaveCount(13);
  await help.getByRole("button", { name: "Keys of one letter: on" }).click();
  await page.keyboard.press("Escape");
  await expect(help).toBeHidden();
  await page.keyboard.press("k");
  await expect(play(page)).toBeVisible();
  await page.keyboard.press("ArrowRight");
  await expect(page.locator(".events li").first()).not.toHaveText("Nothing yet.");
});

test("processes are one tab stop with arrows inside", async ({ page }) => {
  await open(page);
  const first = page.locator(".stage [data-process][tabindex='0']");
  await expect(first).toHaveCount(1);
  await tabTo(page, first);
  await expect(first).toHaveAttribute("data-name", "A");
  await page.keyboard.press("ArrowDown");
  await expect(page.locator("[data-name=B]")).toBeFocused();
  await expect(page.locator("[data-name=B]")).toHaveAttribute("aria-pressed", "true");
  await page.keyboard.press("ArrowDown");
  await expect(page.locator("[data-name=orders]")).toBeFocused();
  await expect(page.locator(".panel.selected h2")).toContainText("orders");
  // The ring of the focus is seen.
  const width = await page.locator("[data-name=orders]").evaluate((e) => parseFloat(getComputedStyle(e).outlineWidth));
  expect(width).toBeGreaterThanOrEqual(2);
});

test("a menu closes by Esc and by choosing, and the focus stays with it", async ({ page }) => {
  await open(page);
  const more = page.locator(".verbs summary", { hasText: "More" });
  await more.focus();
  await page.keyboard.press("Enter");
  const item = page.locator(".items").getByRole("button", { name: "Crash A" });
  await expect(item).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(item).toBeHidden();
  await expect(more).toBeFocused();
  await expect(page.locator("[data-name=A]")).toHaveAttribute("aria-pressed", "true");
  await page.keyboard.press("Enter");
  await tabTo(page, item);
  await page.keyboard.press("Enter");
  await expect(page.locator("[data-name=A]")).toHaveClass(/crashed/);
  await expect(page.locator(".menu[open]")).toHaveCount(0);
});

test("a dialog keeps the focus and gives it back", async ({ page }) => {
  await open(page);
  const lessons = page.getByRole("button", { name: "Lessons" });
  await lessons.focus();
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Lessons" });
  await expect(dialog).toBeVisible();
  for (let n = 0; n < 9; n++) await page.keyboard.press("Tab");
  expect(await page.evaluate(() => document.activeElement === document.body || !!document.activeElement.closest("dialog"))).toBe(true);
  await page.keyboard.press("Escape");
  await expect(dialog).toBeHidden();
  await expect(lessons).toBeFocused();
});

test("Tab goes through the page and leaves it at the end", async ({ page }) => {
  await open(page);
  const seen = [];
  for (let n = 0; n < 120; n++) {
    await page.keyboard.press("Tab");
    const name = await page.evaluate(() => (document.activeElement === document.body ? "" : document.activeElement.outerHTML.slice(0, 90)));
    if (name === "" || (seen.length > 10 && name === seen[0])) return;
    seen.push(name);
  }
  throw new Error("Tab never left the page");
});
