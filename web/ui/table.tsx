import type { ComponentChildren } from 'preact'
import { SubmitButton } from './submit-button.tsx'

export interface Column<T> {
  name: string
  /** Aligns the column to the right, for numbers. */
  right?: boolean
  /** Hidden on narrow screens. */
  aside?: boolean
  cell: (row: T) => ComponentChildren
}

interface Props<T> {
  caption: string
  columns: Column<T>[]
  rows: T[] | undefined
  keyOf: (row: T) => string
  /** Shown instead of an empty table; should explain what to do next. */
  empty: ComponentChildren
  loadMore?: (() => void) | undefined
  loading?: boolean
}

/** Placeholder of an empty cell; hidden on phones. */
const EMPTY_CELL = '–'

/** A table. On phones each row becomes a card whose cells show their column's name. */
export function Table<T>({ caption, columns, rows, keyOf, empty, loadMore, loading }: Props<T>) {
  if (rows?.length === 0) return <div class="empty card">{empty}</div>
  return (
    <div class="table-wrap">
      <table class="table" aria-busy={rows === undefined || loading}>
        <caption class="hidden-text">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ name, right }) => (
              <th key={name} scope="col" class={right ? 'right' : ''}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows === undefined
            ? ['first placeholder', 'second placeholder'].map((row) => (
                <tr key={row} class="awaited">
                  {columns.map(({ name }) => (
                    <td key={name}>
                      <span class="waiting">waiting here</span>
                    </td>
                  ))}
                </tr>
              ))
            : rows.map((row) => (
                <tr key={keyOf(row)}>
                  {columns.map(({ name, right, aside, cell }) => {
                    const content = cell(row)
                    const kinds = [right && 'right', aside && 'aside', content === EMPTY_CELL && 'nothing']
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
        <p class="more">
          <SubmitButton type="button" onClick={loadMore} busy={loading}>
            {loading ? 'Loading…' : 'Show more'}
          </SubmitButton>
        </p>
      )}
    </div>
  )
}
