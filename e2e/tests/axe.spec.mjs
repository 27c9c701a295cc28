// axe finds nothing, in every state that the page can be in by now.

import { expect, test } from "../fixtures.mjs";
import { expectNothingFound, hurry, open, play, press, toDoubleCharge, toFirstStop, toQuestion, toRefusal } from "./helpers.mjs";

for (const scheme of ["light", "dark"]) {
  for (const [size, [width, height]] of Object.entries({ wide: [1440, 900], phone: [360, 740] })) {
    test(`start, running, stopped, asked, judged, side by side: ${scheme}, ${size}`, async ({ page }) => {
      test.setTimeout(180_000);
      await page.emulateMedia({ colorScheme: scheme });
      await page.setViewportSize({ width, height });
      await open(page);
      await expectNothingFound(page);
      await page.getByLabel("Speed").selectOption("¼ ×");
      await play(page).click();
      await expect(page.locator("#ring0-3")).toBeVisible({ timeout: 15_000 });
      await expectNothingFound(page);
      await page.getByRole("button", { name: "Stop", exact: true }).click();
      await hurry(page);
      await toFirstStop(page);
      await expectNothingFound(page);
      await press(page).click();
      await expect(page.locator(".predict.asked")).toBeVisible({ timeout: 30_000 });
      await expectNothingFound(page);
      await page.locator(".opt").nth(0).click();
      await press(page).click();
      await expect(page.locator(".verdict")).toBeVisible({ timeout: 30_000 });
      await expectNothingFound(page);
      await press(page).click();
      await expect(press(page)).toHaveText("Your turn", { timeout: 60_000 });
      await expectNothingFound(page);
    });
  }
}

test("dialogs, sandbox, a notice, menus, switches", async ({ page }) => {
  test.setTimeout(120_000);
  await open(page);
  for (const name of ["Lessons", "Share", "Look", "Help: keys"]) {
    await page.getByRole("button", { name, exact: true }).click();
    await expect(page.locator("dialog[open]")).toBeVisible();
    await expectNothingFound(page);
    await page.keyboard.press("Escape");
  }
  await page.getByRole("button", { name: "Sandbox", exact: true }).click();
  await page.getByLabel("A command").fill("pause nobody");
  await page.getByRole("button", { name: "Do it" }).click();
  await expect(page.locator(".notice")).toBeVisible();
  for (const line of ["crash s1", "cut A -> orders", "pause B", "clock A jump +2s"]) {
    await page.getByLabel("A command").fill(line);
    await page.getByRole("button", { name: "Do it" }).click();
  }
  await page.locator(".switches summary").click();
  await page.locator(".verbs summary").first().click();
  await expectNothingFound(page);
});

test("embedded, and reduced motion, and forced colours", async ({ page }) => {
  await open(page, "/?embed");
  await expectNothingFound(page);
  await page.emulateMedia({ forcedColors: "active" });
  await toFirstStop(page);
  await expectNothingFound(page);
});

for (const lesson of ["a-lease", "heartbeats-and-timeouts", "generation-clock", "isolated-leader"]) {
  test(`the lesson ${lesson}`, async ({ page }) => {
    await open(page, `/?lesson=${lesson}`);
    await expectNothingFound(page);
    await open(page, `/?lesson=${lesson}&page=3`);
    await expectNothingFound(page);
  });
}

test("the trouble page", async ({ page }) => {
  await open(page);
  await page.evaluate(() => leasehold.failed("a test"));
  await expect(page.locator("#trouble")).toBeVisible();
  await expectNothingFound(page);
});
