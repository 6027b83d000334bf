import { useEffect, useState } from 'preact/hooks'
import { Notice } from '../ui/notice.tsx'
import type { Page } from './pages.ts'
import { match, type Params } from './router.tsx'

type Load = () => Promise<{ default: Page }>

const loaded = new Map<Load, Page>()

/** Fetches a page's code when it is first opened, and shows the one before until it is there. */
export function PageHost({ pages, path }: { pages: Record<string, Load>; path: string }) {
  const found = find(pages, path)
  const [, redraw] = useState(0)
  const [failed, setFailed] = useState(false)
  const page = found && loaded.get(found.load)
  useEffect(() => {
    if (!found || page) return
    setFailed(false)
    found.load().then(
      (module) => {
        loaded.set(found.load, module.default)
        redraw((count) => count + 1)
      },
      () => setFailed(true),
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
  if (failed) return <Notice kind="bad">This page could not be fetched. Check the connection and load it again.</Notice>
  const Shown = page
  return Shown ? <Shown key={path} params={found.params} /> : <div aria-busy="true" />
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
