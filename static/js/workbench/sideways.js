// Shows on the pane's edges that the page is wider than the pane, and on which side it continues.

/** @param {HTMLElement} root @param {import("../lib/page.js").Page} page */
export function showSideways(root, page) {
  const pane = root.querySelector("[data-page-pane]");
  const show = () => {
    pane.dataset.more = page.hiddenSides;
  };
  page.whenScrolled(show);
  show();
}
