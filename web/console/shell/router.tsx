import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'

const BASE = '/console'

/** The page's address below /console, without a slash at its end: '', '/operator/orgs'. */
function here(): string {
  return location.pathname.slice(BASE.length).replace(/\/+$/, '')
}

const listeners = new Set<() => void>()
addEventListener('popstate', changed)

function changed() {
  for (const listener of [...listeners]) listener()
}

export function navigate(to: string, { replace = false } = {}): void {
  if (replace) history.replaceState(null, '', BASE + to)
  else history.pushState(null, '', BASE + to)
  changed()
}

/** The address, and a new rendering whenever it changes. */
export function useAddress(): { path: string; query: URLSearchParams } {
  const [address, setAddress] = useState(() => here() + location.search)
  useEffect(() => {
    const listen = () => setAddress(here() + location.search)
    listeners.add(listen)
    return () => void listeners.delete(listen)
  }, [])
  const [path = '', search = ''] = address.split('?')
  return { path, query: new URLSearchParams(search) }
}

/** Changes part of the query; a filter is a place that one can link to and go back from. */
export function setQuery(changes: Record<string, string | undefined>): void {
  const query = new URLSearchParams(location.search)
  for (const [name, value] of Object.entries(changes)) {
    if (value) query.set(name, value)
    else query.delete(name)
  }
  const text = query.toString()
  navigate(here() + (text ? `?${text}` : ''), { replace: true })
}

export type Params = Record<string, string>

/** What `:names` in the pattern stand for in the path, or undefined where it does not fit. */
export function match(pattern: string, path: string): Params | undefined {
  const wanted = pattern.split('/')
  const given = path.split('/')
  if (wanted.length !== given.length) return undefined
  const params: Params = {}
  for (const [index, part] of wanted.entries()) {
    const value = decodeURIComponent(given[index]!)
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

/** A link that stays in the page; with Ctrl, Shift or the middle button it is a link like any other. */
export function Link({ to, class: className, current, children, onClick }: LinkProps) {
  return (
    <a
      href={BASE + to}
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
