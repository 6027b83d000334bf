import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import './action-menu.css'

interface NamedItem {
  name: string
  /** Marks an action that cannot be undone. */
  danger?: boolean
}

interface ActionItem extends NamedItem {
  act: () => void
  disabled?: boolean
}

interface LinkItem extends NamedItem {
  href: string
  /** The name of the file to save; without it, the link opens in a new tab. */
  download?: string
}

export type MenuItem = ActionItem | LinkItem

interface Props {
  label: string
  /** The items, in groups that a line separates. Empty groups are left out. */
  groups: MenuItem[][]
  /** CSS class of the button. */
  class?: string
}

/**
 * A button that opens a menu of less frequent actions. Keyboard: Enter, Space and the arrow keys open it; the arrow keys, Home, End and the
 * first letter of an item move the focus; Escape and Tab close it.
 */
export function ActionMenu({ label, groups, class: className }: Props) {
  const [isOpen, setIsOpen] = useState(false)
  const firstFocus = useRef<'first' | 'last'>('first')
  const wrapper = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  const id = useId()
  const filledGroups = groups.filter((items) => items.length > 0)
  // Before the next key is handled: people who know a menu type fast.
  useLayoutEffect(() => {
    if (!isOpen) return
    listItems()
      .at(firstFocus.current === 'first' ? 0 : -1)
      ?.focus()
    const closeOutside = ({ target }: Event) => wrapper.current?.contains(target as Node) || setIsOpen(false)
    addEventListener('pointerdown', closeOutside)
    return () => removeEventListener('pointerdown', closeOutside)
  }, [isOpen])
  if (filledGroups.length === 0) return null
  return (
    <div class="action-menu" ref={wrapper}>
      <button
        type="button"
        id={`${id}-button`}
        ref={button}
        class={className}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-controls={isOpen ? `${id}-menu` : undefined}
        onClick={() => (isOpen ? close() : open('first'))}
        onKeyDown={(event) => {
          if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
          event.preventDefault()
          open(event.key === 'ArrowDown' ? 'first' : 'last')
        }}
      >
        {label}
      </button>
      {isOpen && (
        <div
          id={`${id}-menu`}
          class="menu-items"
          role="menu"
          tabIndex={-1}
          aria-labelledby={`${id}-button`}
          onKeyDown={handleKey}
        >
          {filledGroups.map((items) => (
            // biome-ignore lint/a11y/useSemanticElements: a fieldset is not allowed in a menu
            <div key={items[0]!.name} class="menu-group" role="group">
              {items.map((item) => (
                <Item key={item.name} item={item} onChoose={() => choose(item)} />
              ))}
            </div>
          ))}
        </div>
      )}
    </div>
  )

  function listItems(): HTMLElement[] {
    return [...wrapper.current!.querySelectorAll<HTMLElement>('[role=menuitem]')]
  }

  function open(focus: 'first' | 'last') {
    firstFocus.current = focus
    setIsOpen(true)
  }

  /** Closes the menu and returns the focus to the button, to which dialogs return it, too. */
  function close() {
    button.current!.focus()
    setIsOpen(false)
  }

  function choose(item: MenuItem) {
    if ('act' in item && item.disabled) return
    close()
    if ('act' in item) item.act()
  }

  function handleKey(event: KeyboardEvent) {
    if (event.key === 'Tab') return setIsOpen(false)
    if (event.key === 'Escape') {
      event.stopPropagation()
      return close()
    }
    const items = listItems()
    const index = items.indexOf(document.activeElement as HTMLElement)
    if (event.key === ' ' && items[index]?.matches('a')) {
      event.preventDefault() // the space bar scrolls the page if the focus is on a link
      return items[index]!.click()
    }
    const next = nextIndex(items, index, event)
    if (next === undefined) return
    event.preventDefault()
    items.at(next)?.focus()
  }
}

/** Returns the index of the item to which a key moves the focus; -1 is the last one. */
function nextIndex(items: HTMLElement[], index: number, { key, ctrlKey, metaKey, altKey }: KeyboardEvent) {
  if (key === 'ArrowDown') return (index + 1) % items.length
  if (key === 'ArrowUp') return Math.max(index, 0) - 1
  if (key === 'Home') return 0
  if (key === 'End') return -1
  if (key.length !== 1 || key === ' ' || ctrlKey || metaKey || altKey) return undefined
  const startsWithKey = (item: HTMLElement) => item.textContent!.toLowerCase().startsWith(key.toLowerCase())
  const found = [...items.slice(index + 1), ...items.slice(0, index + 1)].find(startsWithKey)
  return found && items.indexOf(found)
}

function Item({ item, onChoose }: { item: MenuItem; onChoose: () => void }) {
  const attributes = {
    role: 'menuitem',
    tabIndex: -1,
    class: item.danger ? 'menu-item danger-item' : 'menu-item',
  } as const
  if ('href' in item)
    return (
      <a
        {...attributes}
        href={item.href}
        {...(item.download === undefined ? { target: '_blank', rel: 'noreferrer' } : { download: item.download })}
        onClick={onChoose}
      >
        {item.name}
      </a>
    )
  return (
    <button type="button" {...attributes} aria-disabled={item.disabled || undefined} onClick={onChoose}>
      {item.name}
    </button>
  )
}
