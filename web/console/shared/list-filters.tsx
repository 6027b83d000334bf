import { setQuery, useAddress } from '../shell/router.tsx'

/** Lists what belongs to the job that a partner knows by this id. */
export function JobIdFilter() {
  const { query } = useAddress()
  return (
    <label>
      Your job id
      <input
        type="search"
        value={query.get('job_id') ?? ''}
        onChange={(event) => setQuery({ job_id: event.currentTarget.value.trim() })}
      />
    </label>
  )
}

/** Said where a list that is filtered here has more rows than were read. */
export function NoneFits({ what, more }: { what: string; more: (() => void) | undefined }) {
  return (
    <>
      <p class="soft">
        No {what} fits this filter{more ? ' among the newest' : ''}.
      </p>
      {more && (
        <button type="button" onClick={more}>
          Look further
        </button>
      )}
    </>
  )
}
