import type { ComponentChildren } from 'preact'
import { Action } from './action.tsx'

export interface Column<T> {
  name: string
  /** Numbers stand under each other. */
  right?: boolean
  /** Left out where there is little room. */
  aside?: boolean
  cell: (row: T) => ComponentChildren
}

interface Props<T> {
  caption: string
  columns: Column<T>[]
  rows: T[] | undefined
  keyOf: (row: T) => string
  /** Shown where there are none: says what to do next. */
  empty: ComponentChildren
  more?: (() => void) | undefined
  loading?: boolean
}

/** What a cell says that has nothing to say; a phone leaves it out. */
const NOTHING = '–'

/** Rows of one kind. On a phone each row becomes a card whose cells carry their column's name. */
export function Table<T>({ caption, columns, rows, keyOf, empty, more, loading }: Props<T>) {
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
            ? ['first awaited', 'second awaited'].map((row) => (
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
                    const shown = cell(row)
                    const kinds = [right && 'right', aside && 'aside', shown === NOTHING && 'nothing']
                    return (
                      <td key={name} data-name={name} class={kinds.filter(Boolean).join(' ')}>
                        {shown}
                      </td>
                    )
                  })}
                </tr>
              ))}
        </tbody>
      </table>
      {more && (
        <p class="more">
          <Action type="button" onClick={more} busy={loading}>
            {loading ? 'Loading…' : 'Show more'}
          </Action>
        </p>
      )}
    </div>
  )
}
