import type { CreatedVia } from './records.ts'

/** Where something was made, and so where it can be changed. */
export function MadeBy({ via }: { via: CreatedVia }) {
  return <span class="tag">{via === 'api' ? 'API' : 'Console'}</span>
}

/** Why there is no button to change it. */
export function ReadOnly({ what }: { what: string }) {
  return (
    <p class="notice read-only">
      This {what} was made through the API. It can be read here, but only the system that made it changes it, so that
      the two never disagree.
    </p>
  )
}
