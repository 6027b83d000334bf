import type { AuditEntry } from '../../api-types/console.ts'
import { Notice } from '../../ui/notice.tsx'
import { useList } from '../shell/loading.ts'
import { useOrgContext } from '../shell/session.ts'
import { AuditTable } from './audit-table.tsx'

export default function Audit() {
  const { org } = useOrgContext()
  const list = useList<AuditEntry>(`/orgs/${org.org_id}/audit`)
  return (
    <>
      <h1>Audit log</h1>
      {list.error ? (
        <Notice kind="bad">{list.error.message}</Notice>
      ) : (
        <AuditTable list={list} withOrganisation={false} />
      )}
    </>
  )
}
