import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'

const CONSOLE_PATH = '/console'

/** Returns the current path below /console, without a trailing slash: '', '/operator/orgs'. */
function currentPath(): string {
  return location.pathname.slice(CONSOLE_PATH.length).replace(/\/+$/, '')
}

const listeners = new Set<() => void>()
/** Whether the current page was opened with “Back” or “Forward”. */
let returning = false
/** The last query of each path, so that a link to a list keeps its filters. */
const latestQueries = new Map<string, string>()

history.scrollRestoration = 'manual' // the browser would scroll before the page is loaded
addEventListener('popstate', ({ state }) => {
  returning = true
  notifyListeners()
  void restoreScroll(Number(state?.scrollY ?? 0))
})

addEventListener('pagehide', saveScroll)
if (history.state?.scrollY) void restoreScroll(history.state.scrollY) // a reload

function saveScroll() {
  history.replaceState({ ...history.state, scrollY }, '')
}

/** Returns whether the page was opened with “Back” or “Forward”, so that it should look as before. */
export function isReturning(): boolean {
  return returning
}

const MAX_RESTORE_MS = 3000

/** Scrolls to a position as soon as the page is long enough. Stops when the user scrolls or opens another page. */
async function restoreScroll(top: number) {
  const { href } = location
  const endTime = performance.now() + MAX_RESTORE_MS
  let interrupted = false
  const interrupt = () => {
    interrupted = true
  }
  for (const type of ['wheel', 'touchstart', 'keydown'])
    addEventListener(type, interrupt, { once: true, passive: true })
  while (!interrupted && location.href === href && performance.now() < endTime) {
    scrollTo(0, top)
    if (Math.abs(scrollY - top) < 2) return
    await new Promise((resolve) => requestAnimationFrame(resolve))
  }
}

/** Returns a path with the filters that the user last chose there. */
function withLatestQuery(path: string): string {
  return path + (latestQueries.get(path) ?? '')
}

function notifyListeners() {
  for (const listener of [...listeners]) listener()
}

export function navigate(to: string, { replace = false } = {}): void {
  if (!replace) {
    returning = false
    saveScroll()
    const [path = '', search = ''] = to.split('?')
    latestQueries.set(path, search && `?${search}`)
  }
  if (replace) history.replaceState(history.state, '', CONSOLE_PATH + to)
  else history.pushState(null, '', CONSOLE_PATH + to)
  notifyListeners()
}

/** Returns the current path and query; renders again when they change. */
export function useAddress(): { path: string; query: URLSearchParams } {
  const [address, setAddress] = useState(() => currentPath() + location.search)
  useEffect(() => {
    const listen = () => setAddress(currentPath() + location.search)
    listeners.add(listen)
    return () => void listeners.delete(listen)
  }, [])
  const [path = '', search = ''] = address.split('?')
  return { path, query: new URLSearchParams(search) }
}

/** Changes query parameters, so that a filter is part of the address and can be linked to. */
export function setQuery(changes: Record<string, string | undefined>): void {
  const query = new URLSearchParams(location.search)
  for (const [name, value] of Object.entries(changes)) {
    if (value) query.set(name, value)
    else query.delete(name)
  }
  returning = false
  const text = query.toString()
  latestQueries.set(currentPath(), text ? `?${text}` : '')
  navigate(currentPath() + (text ? `?${text}` : ''), { replace: true })
}

export type Params = Record<string, string>

/** Returns the values of the `:names` in a pattern, or undefined if the path does not match. */
export function matchPath(pattern: string, path: string): Params | undefined {
  const patternParts = pattern.split('/')
  const pathParts = path.split('/')
  if (patternParts.length !== pathParts.length) return undefined
  const params: Params = {}
  for (const [index, part] of patternParts.entries()) {
    const value = decodeURIComponent(pathParts[index]!)
    if (part.startsWith(':')) params[part.slice(1)] = value
    else if (part !== value) return undefined
  }
  return params
}

interface LinkProps {
  to: string
  class?: string
  current?: boolean
  children: ComponentChildren
  onClick?: () => void
}

/** A link that navigates without a page load. With Ctrl, Shift or the middle button the browser handles it. */
export function Link({ to, class: className, current, children, onClick }: LinkProps) {
  return (
    <a
      href={CONSOLE_PATH + to}
      class={className}
      aria-current={current ? 'page' : undefined}
      onClick={(event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return
        event.preventDefault()
        onClick?.()
        navigate(to)
        scrollTo(0, 0)
      }}
    >
      {children}
    </a>
  )
}

/** A link to the list that contains the page's object, with the filters that the user chose there. */
export function ParentLink({ to, children }: { to: string; children: ComponentChildren }) {
  return <Link to={withLatestQuery(to)}>{children}</Link>
}
