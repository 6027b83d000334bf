import type { AuditEntry } from '../../api-types/console.ts'
import { Notice } from '../../ui/notice.tsx'
import { AuditTable } from '../audit/audit-table.tsx'
import { useList } from '../shell/loading.ts'

export default function OperatorAudit() {
  const list = useList<AuditEntry>('/operator/audit')
  return (
    <>
      <h1>Audit log of all organisations</h1>
      <p class="soft">
        Changes, exports and failed sign-ins, and reads by operators. Entries cannot be changed or deleted; to verify
        this, run npx attestry audit verify.
      </p>
      {list.error ? <Notice kind="bad">{list.error.message}</Notice> : <AuditTable list={list} withOrganisation />}
    </>
  )
}
