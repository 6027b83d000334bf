import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { displayLocale, t } from '../../translations/translate.ts'
import type { List } from '../shell/loading.ts'
import { setQuery, useAddress } from '../shell/router.tsx'
import { capitalise } from './capitalise.ts'

/** Filters a list by the organisation's own job ID. */
export function JobIdFilter() {
  const { query } = useAddress()
  return (
    <label>
      {t('Your job ID')}
      <input
        type="search"
        value={query.get('job_id') ?? ''}
        onChange={(event) => setQuery({ job_id: event.currentTarget.value.trim() })}
      />
    </label>
  )
}

const DEBOUNCE_MS = 250

interface SearchFilterProps {
  label: string
  placeholder?: string
  /** The query parameter. */
  name?: string
}

/** Searches a list on the server while the user types. */
export function SearchFilter({ label, placeholder, name = 'q' }: SearchFilterProps) {
  const { query } = useAddress()
  const value = query.get(name) ?? ''
  const [text, setText] = useState(value)
  const sent = useRef(value)
  useEffect(() => {
    if (value !== sent.current) setText(value) // changed elsewhere, for example by “Back” or a saved view
    sent.current = value
  }, [value])
  useEffect(() => {
    if (text.trim() === sent.current) return
    const timer = setTimeout(() => {
      sent.current = text.trim()
      setQuery({ [name]: text.trim() })
    }, DEBOUNCE_MS)
    return () => clearTimeout(timer)
  }, [text])
  return (
    <label class="search-filter">
      {label}
      <input
        type="search"
        data-list-search
        placeholder={placeholder}
        maxLength={200}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
    </label>
  )
}

interface SelectFilterProps {
  name: string
  label: string
  /** Label of the option without a filter, such as “All statuses”; undefined if a value is always chosen. */
  allLabel?: string
  options: readonly (readonly [string, string])[]
}

/** Filters or sorts a list by one of a few values. */
export function SelectFilter({ name, label, allLabel, options }: SelectFilterProps) {
  const { query } = useAddress()
  const value = query.get(name) ?? ''
  const isKnown = !value || options.some(([each]) => each === value)
  return (
    <label>
      {label}
      <select value={value} onChange={(event) => setQuery({ [name]: event.currentTarget.value })}>
        {allLabel && <option value="">{allLabel}</option>}
        {!isKnown && <option value={value}>{value}</option>}
        {options.map(([each, text]) => (
          <option key={each} value={each}>
            {capitalise(text)}
          </option>
        ))}
      </select>
    </label>
  )
}

interface MoreFiltersProps {
  /** The query parameters of the filters. */
  names: readonly string[]
  children: ComponentChildren
}

/** Filters that phones show behind a button, so that the list starts on the first screen. */
export function MoreFilters({ names, children }: MoreFiltersProps) {
  const { query } = useAddress()
  const [isOpen, setIsOpen] = useState(false)
  const activeCount = names.filter((name) => query.get(name)).length
  return (
    <>
      <button type="button" class="filter-toggle" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
        {activeCount > 0 ? t('Filters ({count})', { count: activeCount }) : t('Filters')}
      </button>
      <div class={isOpen ? 'more-filters open' : 'more-filters'}>{children}</div>
    </>
  )
}

interface ListCountProps {
  list: Pick<List<unknown>, 'items' | 'total' | 'isMore' | 'isIncomplete'>
  /** The noun in singular and plural. */
  nouns: readonly [string, string]
}

/** The number of rows that match the filters. */
export function ListCount({ list: { items, total, isMore, isIncomplete }, nouns }: ListCountProps) {
  if (total === undefined || !items) return <p class="soft small list-count">{'\u00a0'}</p>
  const values = {
    shown: items.length.toLocaleString(displayLocale()),
    total: total.toLocaleString(displayLocale()),
    noun: nouns[total === 1 ? 0 : 1],
  }
  return (
    <p class="soft small list-count" aria-live="polite">
      {items.length < total
        ? t(isMore ? '{shown} of more than {total} {noun}' : '{shown} of {total} {noun}', values)
        : `${values.total} ${values.noun}`}
      {isIncomplete && <>. {t('Recent changes are being added; the list updates by itself.')}</>}
    </p>
  )
}

/** Returns the API query of a list: the given parameters of the address, and the page size. */
export function listQueryString(query: URLSearchParams, names: readonly string[], limit: number): string {
  const parameters = new URLSearchParams({ limit: String(limit) })
  for (const name of names) {
    const value = query.get(name)
    if (value) parameters.set(name, value)
  }
  return parameters.toString()
}
