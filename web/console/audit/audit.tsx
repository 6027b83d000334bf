import type { AuditEntry } from '../../api-types/console.ts'
import { Notice } from '../../ui/notice.tsx'
import { useList } from '../shell/loading.ts'
import { setQuery, useAddress } from '../shell/router.tsx'
import { useOrgContext } from '../shell/session.ts'
import { AuditTable } from './audit-table.tsx'

export default function Audit() {
  const { org } = useOrgContext()
  const { query } = useAddress()
  const actor = query.get('actor') === 'operator' ? 'operator' : ''
  const list = useList<AuditEntry>(`/orgs/${org.org_id}/audit${actor && '?actor=operator'}`)
  return (
    <>
      <h1>Audit log</h1>
      <p class="soft">
        The changes and exports of your team, and everything that operators of this server read or changed in your
        organisation. Entries cannot be changed or deleted.
      </p>
      <div class="row filters">
        <label>
          Show
          <select value={actor} onChange={(event) => setQuery({ actor: event.currentTarget.value })}>
            <option value="">All entries</option>
            <option value="operator">Access by operators</option>
          </select>
        </label>
      </div>
      {list.error ? (
        <Notice kind="bad">{list.error.message}</Notice>
      ) : (
        <AuditTable list={list} withOrganisation={false} />
      )}
    </>
  )
}
