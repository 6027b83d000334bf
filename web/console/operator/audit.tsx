import { Notice } from '../../ui/notice.tsx'
import { type AuditEntry, AuditTable } from '../audit/audit-table.tsx'
import { useList } from '../shell/loading.ts'

export default function OperatorAudit() {
  const list = useList<AuditEntry>('/operator/audit')
  return (
    <>
      <h1>Audit log</h1>
      <p class="soft">
        Every change that operators, people and commands made. Entries are added, never changed or removed.
      </p>
      {list.refusal ? <Notice kind="bad">{list.refusal.message}</Notice> : <AuditTable list={list} withOrganisation />}
    </>
  )
}
