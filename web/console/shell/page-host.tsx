import { useEffect, useRef, useState } from 'preact/hooks'
import { Notice } from '../../ui/notice.tsx'
import { useKeptFocus } from './restore-focus.ts'
import { match, type Params } from './router.tsx'
import type { Page } from './routes.ts'

type Load = () => Promise<{ default: Page }>

const loaded = new Map<Load, Page>()

/** Fetches a page's code when it is first opened; its place stays empty for that moment. */
export function PageHost({ pages, path }: { pages: Record<string, Load>; path: string }) {
  const found = find(pages, path)
  const [, redraw] = useState(0)
  const [failed, setFailed] = useState<Load>()
  const page = found && loaded.get(found.load)
  useTitle()
  useFocus(path)
  useKeptFocus()
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
        <h1>There is no such page</h1>
        <p class="soft">The address may be mistyped, or what it named is gone.</p>
      </div>
    )
  }
  if (!page && failed === found.load) {
    // Most often the server has been renewed meanwhile: what this tab knows by name is gone.
    return (
      <Notice kind="bad">
        This page could not be fetched. Check the connection and{' '}
        <button type="button" onClick={() => location.reload()}>
          load it again
        </button>
      </Notice>
    )
  }
  const Shown = page
  return Shown ? <Shown key={path} params={found.params} /> : <div aria-busy="true" />
}

/** The window is called what its page is called, as soon as that is known. */
function useTitle() {
  useEffect(() => {
    const content = document.getElementById('content')!
    const name = () => {
      const words = [...(content.querySelector('h1:not(.waiting)')?.childNodes ?? [])]
        .filter(({ nodeType }) => nodeType === Node.TEXT_NODE) // not the state that stands beside it
        .map(({ textContent }) => textContent)
      document.title = `${words.join('').trim() || 'Console'} · Attestry`
    }
    const watch = new MutationObserver(name)
    watch.observe(content, { childList: true, subtree: true, characterData: true })
    name()
    return () => watch.disconnect()
  }, [])
}

/** On a new page the keyboard goes on in its content; from one phone to the next it stays in the list. */
function useFocus(path: string) {
  const before = useRef(path)
  useEffect(() => {
    const phones = before.current.startsWith('/phone') && path.startsWith('/phone')
    if (before.current !== path && !phones) document.getElementById('content')?.focus({ preventScroll: true })
    before.current = path
  }, [path])
}

function find(pages: Record<string, Load>, path: string): { load: Load; params: Params } | undefined {
  const exact = pages[path]
  if (exact) return { load: exact, params: {} }
  for (const [pattern, load] of Object.entries(pages)) {
    const params = match(pattern, path)
    if (params) return { load, params }
  }
  return undefined
}
