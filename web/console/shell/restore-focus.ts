import { useEffect } from 'preact/hooks'

/** Where one can go on from, from near to far. */
const PLACES = 'section[aria-label], table, main'

/**
 * Keeps the keyboard where it was when what had the focus goes away: the row that was decided, the button that is needed no more.
 * The browser would begin again at the top of the page.
 */
export function useKeptFocus(): void {
  useEffect(() => {
    const content = document.getElementById('content')!
    let focused: Element | undefined
    let around: HTMLElement[] = []
    const remember = ({ target }: FocusEvent) => {
      focused = target instanceof Element ? target : undefined
      around = placesAround(focused)
    }
    const watch = new MutationObserver(() => {
      if (!focused || focused.isConnected || document.activeElement !== document.body) return
      const place = around.find((each) => each.isConnected)
      focused = undefined
      if (!place) return
      if (!place.hasAttribute('tabindex')) place.tabIndex = -1
      place.focus({ preventScroll: true })
    })
    content.addEventListener('focusin', remember)
    watch.observe(content, { childList: true, subtree: true })
    return () => {
      content.removeEventListener('focusin', remember)
      watch.disconnect()
    }
  }, [])
}

function placesAround(element: Element | undefined): HTMLElement[] {
  const places: HTMLElement[] = []
  for (
    let at = element?.parentElement?.closest<HTMLElement>(PLACES);
    at;
    at = at.parentElement?.closest<HTMLElement>(PLACES)
  )
    places.push(at)
  return places
}
