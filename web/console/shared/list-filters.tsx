import { setQuery, useAddress } from '../shell/router.tsx'

/** Filters a list by the organisation's own job ID. */
export function JobIdFilter() {
  const { query } = useAddress()
  return (
    <label>
      Your job ID
      <input
        type="search"
        value={query.get('job_id') ?? ''}
        onChange={(event) => setQuery({ job_id: event.currentTarget.value.trim() })}
      />
    </label>
  )
}

/** Shown when no loaded row matches a filter that is applied in the browser; `more` loads further rows, and is undefined if all rows are loaded. */
export function NoMatches({ noun, more }: { noun: string; more: (() => void) | undefined }) {
  return (
    <>
      <p class="soft">
        {more ? 'None of the rows loaded so far matches this filter.' : `No ${noun} matches this filter.`}
      </p>
      {more && (
        <button type="button" onClick={more}>
          Search older rows
        </button>
      )}
    </>
  )
}
