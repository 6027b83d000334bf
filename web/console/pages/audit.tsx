import { Notice } from '../../ui/notice.tsx'
import { type AuditEntry, AuditTable } from '../audit-table.tsx'
import { useList } from '../loading.ts'
import { usePlace } from '../session.ts'

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
