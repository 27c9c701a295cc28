// The decisive moments, for `cargo xtask shots`: one picture per row of the first minute, and one per lesson.
//
// Each has a `name` (the pictures are `<name>.<size>.<look>.png`) and `show`, which brings an open page to the
// moment; it may wait, but never for a time, only for something to be there. `path` is what to open, relative
// to the page. `fullPage` takes the whole length of the page instead of the window.

export const moments = [
  {
    name: "arrival",
    path: "",
    show: async (page) => {
      await page.locator(".stage").waitFor();
    },
  },
];
