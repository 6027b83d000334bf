import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { t } from '../translations/translate.ts'
import { Notice } from './notice.tsx'
import { SubmitButton } from './submit-button.tsx'

export interface Column<T> {
  name: string
  /** Aligns the column to the right, for numbers. */
  right?: boolean
  /** Hidden on narrow screens. */
  aside?: boolean
  /** CSS class of the cells. */
  class?: string
  cell: (row: T) => ComponentChildren
}

interface Props<T> {
  caption: string
  columns: Column<T>[]
  rows: T[] | undefined
  keyOf: (row: T) => string
  /** Shown instead of an empty table; should explain what to do next. */
  empty: ComponentChildren
  /** Loads more rows, and returns the message of an error. */
  loadMore?: (() => Promise<string | undefined>) | undefined
  loading?: boolean
  /** Adds a column with which rows are selected. */
  selection?: Selection<T> | undefined
  /** CSS class of the table. */
  class?: string
}

export interface Selection<T> {
  /** The keys of the selected rows. */
  keys: ReadonlySet<string>
  onChange: (keys: Set<string>) => void
  /** The name of a row for screen readers. */
  nameOf: (row: T) => string
}

/** Placeholder of an empty cell; hidden on phones. */
const EMPTY_CELL = '–'

/** A table. On phones each row becomes a card whose cells show their column's name. */
export function Table<T>({
  caption,
  columns,
  rows,
  keyOf,
  empty,
  loadMore,
  loading,
  selection,
  class: className,
}: Props<T>) {
  const { wrapper, isScrollable } = useScrollable()
  const [moreError, setMoreError] = useState<string>()
  const firstKey = rows?.[0] && keyOf(rows[0])
  // The error of a list must not remain below another one, such as after a change of the filter.
  useEffect(() => setMoreError(undefined), [firstKey])
  if (rows?.length === 0) return <div class="empty card">{empty}</div>
  return (
    <div
      class="table-wrap"
      ref={wrapper}
      {...(isScrollable ? { role: 'region', tabIndex: 0, 'aria-label': caption } : {})}
    >
      <table class={className ? `table ${className}` : 'table'} aria-busy={rows === undefined || loading}>
        <caption class="hidden-text">{caption}</caption>
        <thead>
          <tr>
            {selection && (
              <th class="select-cell">
                <SelectAll rows={rows ?? []} keyOf={keyOf} selection={selection} />
              </th>
            )}
            {columns.map(({ name, right, class: className }) => (
              <th key={name} scope="col" class={[right && 'right', className].filter(Boolean).join(' ')}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows === undefined
            ? ['first placeholder', 'second placeholder'].map((row) => (
                <tr key={row} class="awaited">
                  {selection && <td class="select-cell" />}
                  {columns.map(({ name }) => (
                    <td key={name}>
                      <span class="waiting">waiting here</span>
                    </td>
                  ))}
                </tr>
              ))
            : rows.map((row) => (
                <tr key={keyOf(row)} class={selection?.keys.has(keyOf(row)) ? 'selected' : ''}>
                  {selection && (
                    <td class="select-cell">
                      <label class="select-box">
                        <input
                          type="checkbox"
                          aria-label={t('Select {name}', { name: selection.nameOf(row) })}
                          checked={selection.keys.has(keyOf(row))}
                          onChange={(event) => selectRow(selection, keyOf(row), event.currentTarget.checked)}
                        />
                      </label>
                    </td>
                  )}
                  {columns.map(({ name, right, aside, class: className, cell }) => {
                    const content = cell(row)
                    const kinds = [right && 'right', aside && 'aside', content === EMPTY_CELL && 'nothing', className]
                    return (
                      <td key={name} data-name={name} class={kinds.filter(Boolean).join(' ')}>
                        {content}
                      </td>
                    )
                  })}
                </tr>
              ))}
        </tbody>
      </table>
      {loadMore && (
        <div class="more">
          {moreError !== undefined && <Notice kind="bad">{moreError}</Notice>}
          <SubmitButton type="button" onClick={async () => setMoreError(await loadMore())} busy={loading}>
            {loading ? t('Loading…') : t('Show more')}
          </SubmitButton>
        </div>
      )}
    </div>
  )
}

/** Tells whether an element is too narrow for its content, so that the keyboard must be able to scroll it. */
function useScrollable() {
  const wrapper = useRef<HTMLDivElement>(null)
  const [isScrollable, setIsScrollable] = useState(false)
  useEffect(() => {
    const element = wrapper.current
    if (!element) return
    const observer = new ResizeObserver(() => setIsScrollable(element.scrollWidth > element.clientWidth))
    observer.observe(element)
    observer.observe(element.firstElementChild!)
    return () => observer.disconnect()
  })
  return { wrapper, isScrollable }
}

function selectRow<T>({ keys, onChange }: Selection<T>, key: string, isSelected: boolean) {
  const changedKeys = new Set(keys)
  if (isSelected) changedKeys.add(key)
  else changedKeys.delete(key)
  onChange(changedKeys)
}

/** Selects all loaded rows, or none. */
function SelectAll<T>({ rows, keyOf, selection }: { rows: T[]; keyOf: (row: T) => string; selection: Selection<T> }) {
  const selectedCount = rows.filter((row) => selection.keys.has(keyOf(row))).length
  const isSelected = rows.length > 0 && selectedCount === rows.length
  return (
    <label class="select-box">
      <input
        type="checkbox"
        aria-label={t('Select all rows shown')}
        checked={isSelected}
        indeterminate={selectedCount > 0 && !isSelected}
        onChange={() => selection.onChange(new Set(isSelected ? [] : rows.map(keyOf)))}
      />
    </label>
  )
}
