import { useEffect, useRef, useState } from 'preact/hooks'
import { Notice } from '../../ui/notice.tsx'
import { useRestoredFocus } from './restore-focus.ts'
import { match, type Params } from './router.tsx'
import type { Page as PageComponent } from './routes.ts'

type Load = () => Promise<{ default: PageComponent }>

const loaded = new Map<Load, PageComponent>()

/** Shows the page at a path; loads its code when it is first opened. */
export function PageHost({ pages, path }: { pages: Record<string, Load>; path: string }) {
  const found = findPage(pages, path)
  const [, redraw] = useState(0)
  const [failed, setFailed] = useState<Load>()
  const page = found && loaded.get(found.load)
  useTitle()
  useFocus(path)
  useRestoredFocus()
  useEffect(() => {
    if (!found || page) return
    setFailed(undefined)
    found.load().then(
      (module) => {
        loaded.set(found.load, module.default)
        redraw((count) => count + 1)
      },
      () => setFailed(() => found.load),
    )
  }, [found?.load, page])

  if (!found) {
    return (
      <div class="stack">
        <h1>Page not found</h1>
        <p class="soft">Check the address, or choose a page from the menu.</p>
      </div>
    )
  }
  if (!page && failed === found.load) {
    // Usually the server was updated, and the files that this tab refers to no longer exist.
    return (
      <Notice kind="bad">
        This page could not be loaded. Check your connection and{' '}
        <button type="button" onClick={() => location.reload()}>
          reload
        </button>
      </Notice>
    )
  }
  const Page = page
  return Page ? <Page key={path} params={found.params} /> : <div aria-busy="true" />
}

/** Sets the document title to the page's heading. */
function useTitle() {
  useEffect(() => {
    const content = document.getElementById('content')!
    const update = () => {
      const texts = [...(content.querySelector('h1:not(.waiting)')?.childNodes ?? [])]
        .filter(({ nodeType }) => nodeType === Node.TEXT_NODE) // not the status badge
        .map(({ textContent }) => textContent)
      document.title = `${texts.join('').trim() || 'Console'} · Attestry`
    }
    const observer = new MutationObserver(update)
    observer.observe(content, { childList: true, subtree: true, characterData: true })
    update()
    return () => observer.disconnect()
  }, [])
}

/** Moves the focus to the content of a new page, but keeps it in the list when the user switches between phones. */
function useFocus(path: string) {
  const previous = useRef(path)
  useEffect(() => {
    const bothPhones = previous.current.startsWith('/phone') && path.startsWith('/phone')
    if (previous.current !== path && !bothPhones) document.getElementById('content')?.focus({ preventScroll: true })
    previous.current = path
  }, [path])
}

function findPage(pages: Record<string, Load>, path: string): { load: Load; params: Params } | undefined {
  const exact = pages[path]
  if (exact) return { load: exact, params: {} }
  for (const [pattern, load] of Object.entries(pages)) {
    const params = match(pattern, path)
    if (params) return { load, params }
  }
  return undefined
}
