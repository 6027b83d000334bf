import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { type ApiError, type ApiResponse, api } from './api.ts'
import { isReturning } from './router.tsx'

export interface Loaded<T> {
  data: T | undefined
  error: ApiError | undefined
  loading: boolean
  reload: () => Promise<void>
  /** Replaces the data immediately, for example with the response to a write. */
  set: (data: T) => void
}

interface LoadOptions {
  /** Interval in milliseconds at which the data is reloaded while the page is visible; undefined to load it once. */
  pollMs?: number | undefined
}

/** The data of recently shown pages. “Back” shows it at once, at the same scroll position, while it is reloaded. */
const recentData = new Map<string, unknown>()
const MAX_RECENT_DATA = 60

function remember(key: string, data: unknown) {
  recentData.delete(key)
  recentData.set(key, data)
  const [oldest] = recentData.keys()
  if (recentData.size > MAX_RECENT_DATA) recentData.delete(oldest!)
}

/** Removes the data of recently shown pages, when the user signs out. */
export function forgetRecentData(): void {
  recentData.clear()
}

function recall<T>(key: string | undefined): T | undefined {
  return key !== undefined && isReturning() ? (recentData.get(key) as T | undefined) : undefined
}

/** Loads data from the API when the path changes; shows the previous data while reloading. */
export function useData<T>(path: string | undefined, { pollMs }: LoadOptions = {}): Loaded<T> {
  const [state, setState] = useState<{ path?: string; data?: T; error?: ApiError; loading: boolean }>(() => {
    const data = recall<T>(path)
    return data === undefined ? { loading: true } : { path: path!, data, loading: true }
  })
  const currentPath = useRef(path)
  currentPath.current = path

  const reload = useCallback(async () => {
    if (path === undefined) return
    setState((previous) => (previous.path === path ? { ...previous, loading: true } : { path, loading: true }))
    const response: ApiResponse<T> = await api<T>(path)
    if (currentPath.current !== path) return // the user has opened another page
    if (response.ok) remember(path, response.data)
    setState((previous) => {
      if (response.ok) return { path, data: response.data, loading: false }
      // Keep showing the data after a temporary error; the next poll reloads it.
      if (isTemporaryError(response.error) && previous.path === path && previous.data !== undefined)
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

  const isUpToDate = state.path === path
  return {
    data: isUpToDate ? state.data : undefined,
    error: isUpToDate ? state.error : undefined,
    loading: !isUpToDate || state.loading,
    reload,
    set: (data) => setState({ path: path!, data, loading: false }),
  }
}

function isTemporaryError({ status }: ApiError): boolean {
  return status === 0 || status === 429 || status >= 500
}

export interface List<T> {
  items: T[] | undefined
  /** The number of all rows that match the filters, if the API counts them. */
  total: number | undefined
  /** Whether there are more rows than `total`. */
  isMore: boolean
  /** Whether the list lacks recent changes. */
  isIncomplete: boolean
  error: ApiError | undefined
  loading: boolean
  /** Loads the next page of the list, and returns the message of an error; undefined on the last page. */
  more: (() => Promise<string | undefined>) | undefined
  reload: () => Promise<void>
}

interface ListPage<T> {
  items: T[]
  next_cursor: string | null
  total?: number | null
  is_more?: boolean
  is_complete?: boolean
}

interface LaterPages<T> {
  path?: string
  items: T[]
  next: string | null
}

function laterPagesKey(path: string): string {
  return `later pages of ${path}`
}

/** Loads a list of the API page by page. */
export function useList<T>(path: string | undefined, { pollMs }: LoadOptions = {}): List<T> {
  const [laterPages, setLaterPages] = useState<LaterPages<T>>(
    () => recall<LaterPages<T>>(path && laterPagesKey(path)) ?? { items: [], next: null },
  )
  useEffect(() => {
    if (laterPages.path !== undefined) remember(laterPagesKey(laterPages.path), laterPages)
  }, [laterPages])
  const [loading, setLoading] = useState(false)
  const hasLaterPages = laterPages.path === path && laterPages.items.length > 0
  // Polling stops after the first page: rows that are added or moved there would leave a gap before the next page.
  const firstPage = useData<ListPage<T>>(path, {
    pollMs: hasLaterPages ? undefined : pollMs,
  })
  const nextCursor = hasLaterPages ? laterPages.next : (firstPage.data?.next_cursor ?? null)

  async function loadMore(): Promise<string | undefined> {
    setLoading(true)
    const separator = path!.includes('?') ? '&' : '?'
    const response = await api<ListPage<T>>(`${path}${separator}cursor=${encodeURIComponent(nextCursor!)}`)
    setLoading(false)
    if (!response.ok) return response.error.message
    setLaterPages({
      path: path!,
      items: [...(hasLaterPages ? laterPages.items : []), ...response.data.items],
      next: response.data.next_cursor,
    })
    return undefined
  }

  return {
    items: firstPage.data && [...firstPage.data.items, ...(hasLaterPages ? laterPages.items : [])],
    total: firstPage.data?.total ?? undefined,
    isMore: firstPage.data?.is_more === true,
    isIncomplete: firstPage.data?.is_complete === false,
    error: firstPage.error,
    loading: firstPage.loading || loading,
    more: nextCursor === null ? undefined : loadMore,
    async reload() {
      setLaterPages({ path: path!, items: [], next: null })
      await firstPage.reload()
    },
  }
}
