import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { t } from '../../translations/translate.ts'
import './search-box.css'

interface Props<T> {
  id: string
  label: string
  hint?: string
  placeholder?: string
  /** Minimum number of characters to search for. */
  minLength?: number
  find: (query: string) => Promise<T[]>
  keyOf: (item: T) => string
  show: (item: T) => ComponentChildren
  onChoose: (item: T) => void
  /** Focuses the input when it appears. */
  autoFocus?: boolean
  /** Called when the focus leaves the search box. */
  onLeave?: () => void
  /** Content to show below the results, or instead of them if nothing was found. */
  footer?: (query: string, found: T[], clear: () => void) => ComponentChildren
}

const DEBOUNCE_MS = 180

/** ARIA attributes that connect the input with its list. Preact's types allow this role only together with a datalist. */
function comboBoxAttributes(id: string, expanded: boolean, highlightedIndex: number): object {
  return {
    role: 'combobox',
    'aria-expanded': expanded,
    'aria-controls': `${id}-options`,
    'aria-autocomplete': 'list',
    'aria-activedescendant': highlightedIndex >= 0 ? `${id}-option-${highlightedIndex}` : undefined,
  }
}

/** Searches while the user types. Arrow keys move in the list, Enter selects. */
export function SearchBox<T>(props: Props<T>) {
  const {
    id,
    label,
    hint,
    placeholder,
    minLength = 2,
    find,
    keyOf,
    show,
    onChoose,
    footer,
    autoFocus = false,
    onLeave,
  } = props
  const [text, setText] = useState('')
  const [found, setFound] = useState<{ query: string; items: T[] }>()
  const [highlightedIndex, setHighlightedIndex] = useState(-1)
  const [focusCount, setFocusCount] = useState(0)
  const latestQuery = useRef('')
  const input = useRef<HTMLInputElement>(null)

  useEffect(() => {
    const query = text.trim()
    latestQuery.current = query
    setHighlightedIndex(-1)
    if ([...query].length < minLength || focusCount === 0) {
      setFound(undefined)
      return
    }
    const timer = setTimeout(async () => {
      const items = await find(query)
      if (latestQuery.current === query) setFound({ query, items }) // otherwise a newer search is running
    }, DEBOUNCE_MS)
    return () => clearTimeout(timer)
  }, [text, focusCount])

  useEffect(() => {
    if (autoFocus) input.current?.focus()
  }, [])

  const items = found?.items ?? []
  const noResults = found && items.length === 0 ? t('No results.') : null
  const footerContent = found && footer ? footer(found.query, items, () => setText('')) : noResults
  useEffect(() => {
    if (highlightedIndex >= 0)
      document.getElementById(`${id}-option-${highlightedIndex}`)?.scrollIntoView({ block: 'nearest' })
  }, [highlightedIndex])
  return (
    <div class="search-box" onFocusOut={closeList}>
      <label for={id}>{label}</label>
      <input
        id={id}
        ref={input}
        type="search"
        autoComplete="off"
        placeholder={placeholder}
        aria-describedby={hint ? `${id}-hint` : undefined}
        {...comboBoxAttributes(id, items.length > 0, highlightedIndex)}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={handleKey}
        onFocus={() => setFocusCount(focusCount + 1)}
      />
      {hint && (
        <p class="soft small" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      <div class="search-results" hidden={!footerContent && items.length === 0}>
        <div
          id={`${id}-options`}
          role="listbox"
          aria-label={t('Results: {label}', { label })}
          class="options"
          hidden={items.length === 0}
        >
          {items.map((item, index) => (
            // The input keeps the focus and handles the keyboard.
            <div
              key={keyOf(item)}
              id={`${id}-option-${index}`}
              role="option"
              tabIndex={-1}
              aria-selected={index === highlightedIndex}
              class="option"
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => select(item)}
              onKeyDown={() => {}}
            >
              {show(item)}
            </div>
          ))}
        </div>
        {/* biome-ignore lint/a11y/noStaticElementInteractions: a click in the footer must not move the focus first */}
        <div class="search-footer soft small" aria-live="polite" onMouseDown={(event) => event.preventDefault()}>
          {footerContent}
        </div>
      </div>
    </div>
  )

  /** Closes the list when the focus leaves the search box, but not when it moves to a button inside. */
  function closeList({
    currentTarget,
    relatedTarget,
  }: {
    currentTarget: HTMLElement
    relatedTarget: EventTarget | null
  }) {
    if (currentTarget.contains(relatedTarget as Node | null)) return
    setFound(undefined)
    onLeave?.()
  }

  function handleKey(event: KeyboardEvent) {
    if (event.key === 'ArrowDown') setHighlightedIndex(Math.min(highlightedIndex + 1, items.length - 1))
    else if (event.key === 'ArrowUp') setHighlightedIndex(Math.max(highlightedIndex - 1, -1))
    else if (event.key === 'Escape') setText('')
    else if (event.key === 'Enter') {
      const item = items[Math.max(highlightedIndex, 0)]
      if (item) select(item)
    } else return
    event.preventDefault()
  }

  function select(item: T) {
    onChoose(item)
    setText('')
    setFound(undefined)
    input.current?.focus()
  }
}
