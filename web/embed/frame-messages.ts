/** A message to the page that contains the frame. */
export type FrameMessage =
  | { type: 'ready' }
  | { type: 'resize'; height: number }
  | { type: 'completed'; status: string }
  | { type: 'failed'; code: string }

/**
 * Sends messages to the page that contains the frame, and its height whenever that changes. The browser delivers them to this origin only.
 * Returns undefined if the page is not in a frame.
 */
export function openFrame(origin: string, root: HTMLElement) {
  if (window.parent === window) return undefined
  const send = (message: FrameMessage | { type: 'loaded' }) =>
    window.parent.postMessage({ source: 'attestry', ...message }, origin)
  // Shows that the browser has not blocked the frame.
  send({ type: 'loaded' })
  new ResizeObserver(() => send({ type: 'resize', height: Math.ceil(root.getBoundingClientRect().height) })).observe(
    root,
  )
  return { send: send as (message: FrameMessage) => void }
}
