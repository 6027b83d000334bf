import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { type Answer, api, type Refusal } from './api.ts'

export interface Loaded<T> {
  data: T | undefined
  refusal: Refusal | undefined
  loading: boolean
  reload: () => Promise<void>
  /** Shows this at once, for instance what a write has answered. */
  set: (data: T) => void
}

/** Reads from the API when the path changes; keeps showing what it has while it reads again. */
export function useData<T>(path: string | undefined, { every }: { every?: number | undefined } = {}): Loaded<T> {
  const [state, setState] = useState<{ path?: string; data?: T; refusal?: Refusal; loading: boolean }>({
    loading: true,
  })
  const current = useRef(path)
  current.current = path

  const reload = useCallback(async () => {
    if (path === undefined) return
    setState((known) => (known.path === path ? { ...known, loading: true } : { path, loading: true }))
    const answer: Answer<T> = await api<T>(path)
    if (current.current !== path) return // the reader has gone on meanwhile
    setState((known) => {
      if (answer.ok) return { path, data: answer.data, loading: false }
      // A hiccup while something is shown: it stays, and is read again later.
      if (isPassing(answer.refusal) && known.path === path && known.data !== undefined)
        return { ...known, loading: false }
      return { path, refusal: answer.refusal, loading: false }
    })
  }, [path])
  useEffect(() => void reload(), [reload])
  useEffect(() => {
    if (!every) return
    const timer = setInterval(() => {
      if (!document.hidden) void reload()
    }, every)
    return () => clearInterval(timer)
  }, [reload, every])

  const fresh = state.path === path
  return {
    data: fresh ? state.data : undefined,
    refusal: fresh ? state.refusal : undefined,
    loading: !fresh || state.loading,
    reload,
    set: (data) => setState({ path: path!, data, loading: false }),
  }
}

function isPassing({ status }: Refusal): boolean {
  return status === 0 || status === 429 || status >= 500
}

export interface List<T> {
  items: T[] | undefined
  refusal: Refusal | undefined
  loading: boolean
  more: (() => Promise<void>) | undefined
  reload: () => Promise<void>
}

/** A list of the API, page by page. */
export function useList<T>(path: string | undefined, { every }: { every?: number | undefined } = {}): List<T> {
  const [rest, setRest] = useState<{ path?: string; items: T[]; next: string | null }>({ items: [], next: null })
  const [loading, setLoading] = useState(false)
  const follows = rest.path === path && rest.items.length > 0
  // Who reads further down reads in peace: rows that come or move on top would leave a gap before the next page.
  const first = useData<{ items: T[]; next_cursor: string | null }>(path, { every: follows ? undefined : every })
  const next = follows ? rest.next : (first.data?.next_cursor ?? null)

  async function more() {
    setLoading(true)
    const join = path!.includes('?') ? '&' : '?'
    const answer = await api<{ items: T[]; next_cursor: string | null }>(
      `${path}${join}cursor=${encodeURIComponent(next!)}`,
    )
    setLoading(false)
    if (!answer.ok) return
    setRest({
      path: path!,
      items: [...(follows ? rest.items : []), ...answer.data.items],
      next: answer.data.next_cursor,
    })
  }

  return {
    items: first.data && [...first.data.items, ...(follows ? rest.items : [])],
    refusal: first.refusal,
    loading: first.loading || loading,
    more: next === null ? undefined : more,
    async reload() {
      setRest({ items: [], next: null })
      await first.reload()
    },
  }
}
