import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { type ApiError, type ApiResponse, api } from './api.ts'

export interface Loaded<T> {
  data: T | undefined
  error: ApiError | undefined
  loading: boolean
  reload: () => Promise<void>
  /** Replaces the data immediately, for example with the response to a write. */
  set: (data: T) => void
}

interface LoadOptions {
  /** Reloads at this interval while the page is visible. */
  pollMs?: number | undefined
}

/** Loads data from the API when the path changes; shows the previous data while reloading. */
export function useData<T>(path: string | undefined, { pollMs }: LoadOptions = {}): Loaded<T> {
  const [state, setState] = useState<{ path?: string; data?: T; error?: ApiError; loading: boolean }>({
    loading: true,
  })
  const current = useRef(path)
  current.current = path

  const reload = useCallback(async () => {
    if (path === undefined) return
    setState((previous) => (previous.path === path ? { ...previous, loading: true } : { path, loading: true }))
    const response: ApiResponse<T> = await api<T>(path)
    if (current.current !== path) return // the user has opened another page
    setState((previous) => {
      if (response.ok) return { path, data: response.data, loading: false }
      // Keep showing the data after a temporary error; the next poll reloads it.
      if (isTemporary(response.error) && previous.path === path && previous.data !== undefined)
        return { ...previous, loading: false }
      return { path, error: response.error, loading: false }
    })
  }, [path])
  useEffect(() => void reload(), [reload])
  useEffect(() => {
    if (!pollMs) return
    const timer = setInterval(() => {
      if (!document.hidden) void reload()
    }, pollMs)
    return () => clearInterval(timer)
  }, [reload, pollMs])

  const upToDate = state.path === path
  return {
    data: upToDate ? state.data : undefined,
    error: upToDate ? state.error : undefined,
    loading: !upToDate || state.loading,
    reload,
    set: (data) => setState({ path: path!, data, loading: false }),
  }
}

function isTemporary({ status }: ApiError): boolean {
  return status === 0 || status === 429 || status >= 500
}

export interface List<T> {
  items: T[] | undefined
  error: ApiError | undefined
  loading: boolean
  /** Loads the next page; undefined on the last page. */
  more: (() => Promise<void>) | undefined
  reload: () => Promise<void>
}

/** Loads a list of the API page by page. */
export function useList<T>(path: string | undefined, { pollMs }: LoadOptions = {}): List<T> {
  const [later, setLater] = useState<{ path?: string; items: T[]; next: string | null }>({ items: [], next: null })
  const [loading, setLoading] = useState(false)
  const hasLaterPages = later.path === path && later.items.length > 0
  // Polling stops after the first page: rows that are added or moved there would leave a gap before the next page.
  const first = useData<{ items: T[]; next_cursor: string | null }>(path, {
    pollMs: hasLaterPages ? undefined : pollMs,
  })
  const next = hasLaterPages ? later.next : (first.data?.next_cursor ?? null)

  async function more() {
    setLoading(true)
    const separator = path!.includes('?') ? '&' : '?'
    const response = await api<{ items: T[]; next_cursor: string | null }>(
      `${path}${separator}cursor=${encodeURIComponent(next!)}`,
    )
    setLoading(false)
    if (!response.ok) return
    setLater({
      path: path!,
      items: [...(hasLaterPages ? later.items : []), ...response.data.items],
      next: response.data.next_cursor,
    })
  }

  return {
    items: first.data && [...first.data.items, ...(hasLaterPages ? later.items : [])],
    error: first.error,
    loading: first.loading || loading,
    more: next === null ? undefined : more,
    async reload() {
      setLater({ items: [], next: null })
      await first.reload()
    },
  }
}
