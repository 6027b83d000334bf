import { useEffect } from 'preact/hooks'

/** Elements that can receive the focus when a focused element inside them is removed. */
const CONTAINER_SELECTOR = 'section[aria-label], table, main'

/**
 * Moves the focus to the nearest remaining container when the focused element is removed, for example a skill request that was approved.
 * Without this, keyboard navigation would start again at the top of the page.
 */
export function useRestoredFocus(): void {
  useEffect(() => {
    const content = document.getElementById('content')!
    let focused: Element | undefined
    let containers: HTMLElement[] = []
    const rememberContainers = ({ target }: FocusEvent) => {
      focused = target instanceof Element ? target : undefined
      containers = containersOf(focused)
    }
    const observer = new MutationObserver(() => {
      if (!focused || focused.isConnected || document.activeElement !== document.body) return
      const container = containers.find((each) => each.isConnected)
      focused = undefined
      if (!container) return
      if (!container.hasAttribute('tabindex')) container.tabIndex = -1
      container.focus({ preventScroll: true })
    })
    content.addEventListener('focusin', rememberContainers)
    observer.observe(content, { childList: true, subtree: true })
    return () => {
      content.removeEventListener('focusin', rememberContainers)
      observer.disconnect()
    }
  }, [])
}

/** Returns the containers around an element, innermost first. */
function containersOf(element: Element | undefined): HTMLElement[] {
  const containers: HTMLElement[] = []
  for (
    let container = element?.parentElement?.closest<HTMLElement>(CONTAINER_SELECTOR);
    container;
    container = container.parentElement?.closest<HTMLElement>(CONTAINER_SELECTOR)
  )
    containers.push(container)
  return containers
}
