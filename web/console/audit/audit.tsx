import { Notice } from '../../ui/notice.tsx'
import { useList } from '../shell/loading.ts'
import { usePlace } from '../shell/session.ts'
import { type AuditEntry, AuditTable } from './audit-table.tsx'

export default function Audit() {
  const { org } = usePlace()
  const list = useList<AuditEntry>(`/orgs/${org.org_id}/audit`)
  return (
    <>
      <h1>Audit log</h1>
      {list.refusal ? (
        <Notice kind="bad">{list.refusal.message}</Notice>
      ) : (
        <AuditTable list={list} withOrganisation={false} />
      )}
    </>
  )
}
