/**
 * Returns the token of a link such as `/session#token=…` and removes it from the address, so that it does not stay in the history of a
 * shared computer. The token is stored until the tab is closed, so that a reload still works.
 */
export function takeLinkToken(): string | undefined {
  const token = new URLSearchParams(location.hash.slice(1)).get('token') || undefined
  const name = `attestry token ${location.pathname}`
  // Another link to the same page changes only the fragment, which does not load the page again.
  addEventListener('hashchange', () => location.reload(), { once: true })
  try {
    if (token === undefined) return sessionStorage.getItem(name) ?? undefined
    sessionStorage.setItem(name, token)
    history.replaceState(null, '', location.pathname + location.search)
  } catch {} // without storage, the token stays in the address, because a reload needs it
  return token
}
