import { useEffect, useRef, useState } from 'preact/hooks'
import { richText } from '../../translations/rich-text.ts'
import { t } from '../../translations/translate.ts'
import { Notice } from '../../ui/notice.tsx'
import { useRestoredFocus } from './restore-focus.ts'
import { matchPath, type Params } from './router.tsx'
import type { Page as PageComponent } from './routes.ts'

type LoadPage = () => Promise<{ default: PageComponent }>

const loadedPages = new Map<LoadPage, PageComponent>()

/** Shows the page at a path; loads its code when it is first opened. */
export function PageHost({ pages, path }: { pages: Record<string, LoadPage>; path: string }) {
  const matchedPage = matchPage(pages, path)
  const [, redraw] = useState(0)
  const [failed, setFailed] = useState<LoadPage>()
  const page = matchedPage && loadedPages.get(matchedPage.load)
  useDocumentTitle()
  useContentFocus(path)
  useRestoredFocus()
  useEffect(() => {
    if (!matchedPage || page) return
    setFailed(undefined)
    matchedPage.load().then(
      (module) => {
        loadedPages.set(matchedPage.load, module.default)
        redraw((count) => count + 1)
      },
      () => setFailed(() => matchedPage.load),
    )
  }, [matchedPage?.load, page])

  if (!matchedPage) {
    return (
      <div class="stack">
        <h1>{t('Page not found')}</h1>
        <p class="soft">{t('Check the address, or choose a page from the menu.')}</p>
      </div>
    )
  }
  if (!page && failed === matchedPage.load) {
    // Loading fails mostly after a server update: the files that this tab refers to no longer exist.
    return (
      <Notice kind="bad">
        {richText('This page could not be loaded. Check your connection and <button>reload</button>', {
          button: (words) => (
            <button type="button" onClick={() => location.reload()}>
              {words}
            </button>
          ),
        })}
      </Notice>
    )
  }
  const Page = page
  return Page ? <Page key={path} params={matchedPage.params} /> : <div aria-busy="true" />
}

/** Sets the document title to the page's heading. */
function useDocumentTitle() {
  useEffect(() => {
    const content = document.getElementById('content')!
    const update = () => {
      const texts = [...(content.querySelector('h1:not(.waiting)')?.childNodes ?? [])]
        .filter(({ nodeType }) => nodeType === Node.TEXT_NODE) // not the status badge
        .map(({ textContent }) => textContent)
      document.title = `${texts.join('').trim() || t('Console')} · Attestry`
    }
    const observer = new MutationObserver(update)
    observer.observe(content, { childList: true, subtree: true, characterData: true })
    update()
    return () => observer.disconnect()
  }, [])
}

/** Moves the focus to the content of a new page, but keeps it in the list when the user switches between phones. */
function useContentFocus(path: string) {
  const previous = useRef(path)
  useEffect(() => {
    const bothPhones = previous.current.startsWith('/phone') && path.startsWith('/phone')
    if (previous.current !== path && !bothPhones) document.getElementById('content')?.focus({ preventScroll: true })
    previous.current = path
  }, [path])
}

function matchPage(pages: Record<string, LoadPage>, path: string): { load: LoadPage; params: Params } | undefined {
  const exact = pages[path]
  if (exact) return { load: exact, params: {} }
  for (const [pattern, load] of Object.entries(pages)) {
    const params = matchPath(pattern, path)
    if (params) return { load, params }
  }
  return undefined
}
