/**
 * Updates a part of the page without replacing it: remaining elements keep their identity, and with it focus, selection and
 * scroll position. Unchanged elements are not touched, so nothing flickers.
 */

/**
 * Makes the children of `place` equal to `children`, position by position.
 * @param {Element} place
 * @param {Node[]} children   fresh nodes; used up
 */
export function renewChildren(place, children) {
  const present = [...place.childNodes];
  children.forEach((fresh, position) => {
    if (position < present.length) renew(present[position], fresh);
    else place.append(fresh);
  });
  for (const node of present.slice(children.length)) node.remove();
}

function renew(node, fresh) {
  if (node.nodeName !== fresh.nodeName || node.namespaceURI !== fresh.namespaceURI) {
    node.replaceWith(fresh);
    return;
  }
  if (node.nodeType !== 1) {
    if (node.data !== fresh.data) node.data = fresh.data;
    return;
  }
  for (const { name } of [...node.attributes]) {
    if (!fresh.hasAttribute(name)) node.removeAttribute(name);
  }
  for (const { name, value } of [...fresh.attributes]) {
    if (node.getAttribute(name) !== value) node.setAttribute(name, value);
  }
  renewChildren(node, [...fresh.childNodes]);
}
