import type { AuditEntry } from '../../api-types/console.ts'
import { t } from '../../translations/translate.ts'
import { Notice } from '../../ui/notice.tsx'
import { listQueryString } from '../shared/list-filters.tsx'
import { useList } from '../shell/loading.ts'
import { useAddress } from '../shell/router.tsx'
import { useOrgContext } from '../shell/session.ts'
import { AUDIT_FILTERS, AUDIT_PAGE_SIZE, AuditFilters, AuditTable } from './audit-table.tsx'

export default function Audit() {
  const { org } = useOrgContext()
  const { query } = useAddress()
  const filter = listQueryString(query, AUDIT_FILTERS, AUDIT_PAGE_SIZE)
  const list = useList<AuditEntry>(`/orgs/${org.org_id}/audit?${filter}`)
  const exportQuery = filter.replace(/limit=\d+&?/, '')
  return (
    <>
      <div class="page-head">
        <h1>{t('Audit log')}</h1>
        <a
          class="button"
          href={`/console/api/orgs/${org.org_id}/export/audit.csv?${exportQuery}`}
          download="audit-log.csv"
        >
          {t('Export CSV')}
        </a>
      </div>
      <p class="soft">
        {t(
          'The changes and exports of your team, and everything that operators of this server read or changed in your organisation. Entries cannot be changed or deleted.',
        )}
      </p>
      <AuditFilters />
      {list.error ? (
        <Notice kind="bad">{list.error.message}</Notice>
      ) : (
        <AuditTable list={list} withOrganisation={false} />
      )}
    </>
  )
}
