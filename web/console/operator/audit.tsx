import { useContext } from 'preact/hooks'
import type { AuditEntry } from '../../api-types/console.ts'
import { t } from '../../translations/translate.ts'
import { Notice } from '../../ui/notice.tsx'
import { AUDIT_FILTERS, AUDIT_PAGE_SIZE, AuditFilters, AuditTable } from '../audit/audit-table.tsx'
import { listQueryString } from '../shared/list-filters.tsx'
import { useList } from '../shell/loading.ts'
import { useAddress } from '../shell/router.tsx'
import { SessionContext } from '../shell/session.ts'

export default function OperatorAudit() {
  const session = useContext(SessionContext)
  const { query } = useAddress()
  const list = useList<AuditEntry>(
    `/operator/audit?${listQueryString(query, [...AUDIT_FILTERS, 'org_id'], AUDIT_PAGE_SIZE)}`,
  )
  const names = new Map(session?.organisations.map(({ org_id, name }) => [org_id, name]))
  return (
    <>
      <h1>{t('Audit log of all organisations')}</h1>
      <p class="soft">
        {t(
          'Changes, exports and failed sign-ins, and reads by operators. Entries cannot be changed or deleted; to verify this, run npx attestry audit verify.',
        )}
      </p>
      <AuditFilters />
      {list.error ? (
        <Notice kind="bad">{list.error.message}</Notice>
      ) : (
        <AuditTable list={list} withOrganisation organisationName={(orgId) => names.get(orgId) ?? orgId} />
      )}
    </>
  )
}
