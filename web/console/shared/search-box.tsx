import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

interface Props<T> {
  id: string
  label: string
  hint?: string
  placeholder?: string
  /** The fewest characters that are searched for. */
  shortest?: number
  find: (query: string) => Promise<T[]>
  keyOf: (item: T) => string
  show: (item: T) => ComponentChildren
  onChoose: (item: T) => void
  /** Shown below what was found, or in place of it. */
  otherwise?: (query: string, found: T[], clear: () => void) => ComponentChildren
}

const PAUSE = 180

/** What makes an input and its list one thing for a screen reader. The types allow the role only beside a datalist. */
function comboBox(id: string, expanded: boolean, at: number): object {
  return {
    role: 'combobox',
    'aria-expanded': expanded,
    'aria-controls': `${id}-options`,
    'aria-autocomplete': 'list',
    'aria-activedescendant': at >= 0 ? `${id}-option-${at}` : undefined,
  }
}

/** Search as you type; the list is reached with the arrow keys and taken with Enter. */
export function SearchBox<T>(props: Props<T>) {
  const { id, label, hint, placeholder, shortest = 2, find, keyOf, show, onChoose, otherwise } = props
  const [text, setText] = useState('')
  const [found, setFound] = useState<{ query: string; items: T[] }>()
  const [at, setAt] = useState(-1)
  const [entered, setEntered] = useState(0)
  const asked = useRef('')
  const input = useRef<HTMLInputElement>(null)

  useEffect(() => {
    const query = text.trim()
    asked.current = query
    setAt(-1)
    if ([...query].length < shortest) {
      setFound(undefined)
      return
    }
    const timer = setTimeout(async () => {
      const items = await find(query)
      if (asked.current === query) setFound({ query, items }) // else a newer question is under way
    }, PAUSE)
    return () => clearTimeout(timer)
  }, [text, entered])

  const items = found?.items ?? []
  const nothing = found && items.length === 0 ? 'Nothing found.' : null
  const said = found && otherwise ? otherwise(found.query, items, () => setText('')) : nothing
  useEffect(() => {
    if (at >= 0) document.getElementById(`${id}-option-${at}`)?.scrollIntoView({ block: 'nearest' })
  }, [at])
  return (
    <div class="search-box" onFocusOut={leave}>
      <label for={id}>{label}</label>
      <input
        id={id}
        ref={input}
        type="search"
        autoComplete="off"
        placeholder={placeholder}
        aria-describedby={hint ? `${id}-hint` : undefined}
        {...comboBox(id, items.length > 0, at)}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={move}
        onFocus={() => setEntered(entered + 1)}
      />
      {hint && (
        <p class="soft small" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      <div class="found" hidden={!said && items.length === 0}>
        <div
          id={`${id}-options`}
          role="listbox"
          aria-label={`Found: ${label}`}
          class="options"
          hidden={items.length === 0}
        >
          {items.map((item, index) => (
            // The input keeps the focus: the keyboard moves in the list through it.
            <div
              key={keyOf(item)}
              id={`${id}-option-${index}`}
              role="option"
              tabIndex={-1}
              aria-selected={index === at}
              class="option"
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => take(item)}
              onKeyDown={() => {}}
            >
              {show(item)}
            </div>
          ))}
        </div>
        {/* biome-ignore lint/a11y/noStaticElementInteractions: what is pressed in it does not take the focus away before */}
        <div class="otherwise soft small" aria-live="polite" onMouseDown={(event) => event.preventDefault()}>
          {said}
        </div>
      </div>
    </div>
  )

  /** The list closes when the focus goes elsewhere, not on its way to a button that belongs to it. */
  function leave({ currentTarget, relatedTarget }: { currentTarget: HTMLElement; relatedTarget: EventTarget | null }) {
    if (!currentTarget.contains(relatedTarget as Node | null)) setFound(undefined)
  }

  function move(event: KeyboardEvent) {
    if (event.key === 'ArrowDown') setAt(Math.min(at + 1, items.length - 1))
    else if (event.key === 'ArrowUp') setAt(Math.max(at - 1, -1))
    else if (event.key === 'Escape') setText('')
    else if (event.key === 'Enter') {
      const item = items[Math.max(at, 0)]
      if (item) take(item)
    } else return
    event.preventDefault()
  }

  function take(item: T) {
    onChoose(item)
    setText('')
    setFound(undefined)
    input.current?.focus()
  }
}
