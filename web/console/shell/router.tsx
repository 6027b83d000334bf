import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'

const CONSOLE_PATH = '/console'

/** Returns the current path below /console, without a trailing slash: '', '/operator/orgs'. */
function currentPath(): string {
  return location.pathname.slice(CONSOLE_PATH.length).replace(/\/+$/, '')
}

const listeners = new Set<() => void>()
addEventListener('popstate', notifyListeners)

function notifyListeners() {
  for (const listener of [...listeners]) listener()
}

export function navigate(to: string, { replace = false } = {}): void {
  if (replace) history.replaceState(null, '', CONSOLE_PATH + to)
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
  const text = query.toString()
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
