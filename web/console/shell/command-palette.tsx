import { useEffect, useRef, useState } from 'preact/hooks'
import type { SearchHit, SearchHitList } from '../../api-types/console.ts'
import { t } from '../../translations/translate.ts'
import { api } from './api.ts'
import { navigate } from './router.tsx'
import { navigation, operatorNavigation } from './routes.ts'
import type { OrgContext } from './session.ts'
import './command-palette.css'

const DEBOUNCE_MS = 160
const MIN_SEARCH_LENGTH = 2

/** A page or a record that can be opened. */
interface Target {
  key: string
  group: string
  name: string
  detail: string
  to: string
}

const GROUP_NAMES: Record<SearchHit['kind'], string> = {
  candidate: t('Candidates'),
  mandate: t('Jobs'),
  campaign: t('Campaigns'),
  workflow: t('Workflows'),
  verification: t('Verifications'),
}

/** Opens the palette with Ctrl-K or ⌘K, or with `/` unless the user is typing into a field. */
export function useCommandPalette(): [boolean, (isOpen: boolean) => void] {
  const [isOpen, setIsOpen] = useState(false)
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const isShortcut = event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey) && !event.altKey
      const isSlash = event.key === '/' && !event.ctrlKey && !event.metaKey && !event.altKey && !isTyping(event.target)
      if (!isShortcut && !isSlash) return
      event.preventDefault()
      setIsOpen(true)
    }
    addEventListener('keydown', listen)
    return () => removeEventListener('keydown', listen)
  }, [])
  return [isOpen, setIsOpen]
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
}

interface Props {
  context: OrgContext | undefined
  isOperator: boolean
  onClose: () => void
}

/** Dialog that searches pages, candidates, jobs, campaigns, workflows and verifications. */
export function CommandPalette({ context, isOperator, onClose }: Props) {
  const [text, setText] = useState('')
  const [hits, setHits] = useState<{ query: string; items: SearchHit[] }>()
  const [index, setIndex] = useState(0)
  const dialog = useRef<HTMLDialogElement>(null)
  const query = text.trim()
  const latestQuery = useRef(query)
  latestQuery.current = query
  useEffect(() => {
    const opener = document.activeElement as HTMLElement | null
    dialog.current?.showModal()
    return () => opener?.focus?.()
  }, [])
  useEffect(() => {
    setIndex(0)
    if (!context || [...query].length < MIN_SEARCH_LENGTH) return setHits(undefined)
    const timer = setTimeout(async () => {
      const response = await api<SearchHitList>(context.apiPath(`/search?q=${encodeURIComponent(query)}`))
      if (response.ok && latestQuery.current === query) setHits({ query, items: response.data.items })
    }, DEBOUNCE_MS)
    return () => clearTimeout(timer)
  }, [query])

  const targets = [...pageTargets(context, isOperator, query), ...hitTargets(context, hits?.items ?? [])]
  const isSearching = context !== undefined && [...query].length >= MIN_SEARCH_LENGTH && hits?.query !== query
  useEffect(() => {
    document.getElementById(`palette-option-${index}`)?.scrollIntoView({ block: 'nearest' })
  }, [index])
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes the dialog
    <dialog
      ref={dialog}
      class="palette"
      aria-label={t('Search')}
      onClose={onClose}
      onClick={(event) => event.target === dialog.current && dialog.current?.close()}
    >
      <input
        type="search"
        class="palette-input"
        aria-label={t('Search pages and records')}
        placeholder={t('Search candidates, jobs, campaigns, pages…')}
        autoComplete="off"
        maxLength={200}
        {...comboBoxAttributes(targets.length > 0, index)}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={handleKey}
      />
      <div id="palette-options" role="listbox" aria-label={t('Results')} class="palette-options">
        {targets.map((target, at) => (
          <div key={target.key}>
            {target.group !== targets[at - 1]?.group && (
              <p class="palette-group" role="presentation">
                {target.group}
              </p>
            )}
            <div
              id={`palette-option-${at}`}
              role="option"
              tabIndex={-1}
              class="palette-option"
              aria-selected={at === index}
              onMouseMove={() => setIndex(at)}
              onClick={() => open(target)}
              onKeyDown={() => {}}
            >
              <span>{target.name}</span> <span class="soft small">{target.detail}</span>
            </div>
          </div>
        ))}
      </div>
      <p class="palette-foot soft small" aria-live="polite">
        {isSearching
          ? t('Searching…')
          : targets.length === 0
            ? t('No results.')
            : t('Arrow keys to move, Enter to open, Esc to close')}
      </p>
    </dialog>
  )

  function handleKey(event: KeyboardEvent) {
    if (event.key === 'ArrowDown') setIndex(Math.min(index + 1, targets.length - 1))
    else if (event.key === 'ArrowUp') setIndex(Math.max(index - 1, 0))
    else if (event.key === 'Enter' && targets[index]) open(targets[index])
    else return
    event.preventDefault()
  }

  function open({ to }: Target) {
    dialog.current?.close()
    navigate(to)
    scrollTo(0, 0)
  }
}

/** ARIA attributes that connect the input with its list. Preact's types allow this role only together with a datalist. */
function comboBoxAttributes(expanded: boolean, index: number): object {
  return {
    role: 'combobox',
    'aria-expanded': expanded,
    'aria-controls': 'palette-options',
    'aria-autocomplete': 'list',
    'aria-activedescendant': expanded ? `palette-option-${index}` : undefined,
  }
}

const ACTIONS = [
  { name: t('New campaign'), path: '/campaigns/new' },
  { name: t('New job'), path: '/mandates/new' },
  { name: t('New workflow'), path: '/workflows/new' },
  { name: t('Candidates to call'), path: '/results?verdict=to_call' },
]
const MAX_PAGES = 8

/** Returns the pages and actions whose names contain every word of the query. */
function pageTargets(context: OrgContext | undefined, isOperator: boolean, query: string): Target[] {
  const words = query.toLowerCase().split(/\s+/)
  const pages = context
    ? navigation.flatMap(({ entries }) =>
        entries
          .filter(({ role, path }) => context.can(role) && !(path === '/phone' && context.mode === 'live'))
          .map(({ name, path }) => ({ name, to: context.pagePath(path), detail: '' })),
      )
    : []
  const actions = context?.can('recruiter')
    ? ACTIONS.map(({ name, path }) => ({ name, to: context.pagePath(path), detail: '' }))
    : []
  const operatorPages = isOperator
    ? operatorNavigation.map(({ name, path }) => ({ name, to: `/operator${path}`, detail: t('Operate') }))
    : []
  return [...actions, ...pages, ...operatorPages]
    .filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)))
    .slice(0, MAX_PAGES)
    .map((page) => ({ ...page, key: page.to, group: t('Pages') }))
}

function hitTargets(context: OrgContext | undefined, hits: SearchHit[]): Target[] {
  return hits.map(({ kind, id, name, detail }) => ({
    key: `${kind} ${id}`,
    group: GROUP_NAMES[kind],
    name,
    detail,
    to: context!.pagePath(pathOf(kind, id)),
  }))
}

function pathOf(kind: SearchHit['kind'], id: string): string {
  return kind === 'candidate' ? `/results/${id}` : `/${kind}s/${id}`
}
