import type { EndorsementRing } from '../../api-types/console.ts'
import { t } from '../../translations/translate.ts'
import { Badge, stateText } from '../../ui/badge.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { MODE_NAMES } from '../shared/labels.ts'
import { useList } from '../shell/loading.ts'
import { Link, setQuery, useAddress } from '../shell/router.tsx'
import { ringName } from './ring-name.ts'

const STATUSES = ['open', 'dismissed', 'ended']

/** Groups of people who endorse each other, for the operator to look at. */
export default function OperatorRings() {
  const { query } = useAddress()
  const status = query.get('status') ?? 'open'
  const list = useList<EndorsementRing>(`/operator/rings?status=${encodeURIComponent(status)}`)
  return (
    <>
      <h1>{t('Endorsement rings')}</h1>
      <p class="soft">
        {t(
          'Groups of people who endorse each other more than honest colleagues do. Their endorsements count as weak evidence; nothing is rejected. Every view of this page is recorded in the audit log.',
        )}
      </p>
      <div class="row filters">
        <label>
          {t('Status')}
          <select value={status} onChange={(event) => setQuery({ status: event.currentTarget.value })}>
            {STATUSES.map((each) => (
              <option key={each} value={each}>
                {stateText(each)}
              </option>
            ))}
          </select>
        </label>
      </div>
      {list.error && <Notice kind="bad">{list.error.message}</Notice>}
      <Table
        caption={t('Endorsement rings, newest first')}
        rows={list.items}
        keyOf={({ ring_id }) => ring_id}
        loadMore={list.more}
        loading={list.loading}
        empty={<p class="soft">{t('No rings with this status. All endorsements are searched every night.')}</p>}
        columns={[
          {
            name: t('Ring'),
            cell: ({ ring_id, kind, size }) => (
              <Link to={`/operator/rings/${ring_id}`}>{ringName({ kind, size })}</Link>
            ),
          },
          { name: t('Mode'), cell: ({ mode }) => MODE_NAMES[mode].toUpperCase() },
          { name: t('Status'), cell: ({ status: state }) => <Badge state={state} /> },
          { name: t('Endorsements'), right: true, cell: ({ evidence }) => evidence.endorsements },
          { name: t('Mutual pairs'), right: true, cell: ({ evidence }) => evidence.reciprocal_pairs },
          { name: t('Score'), right: true, cell: ({ score }) => score },
          { name: t('Found'), cell: ({ found_at }) => <Time at={found_at} /> },
          { name: t('Note'), cell: ({ note }) => note ?? '–' },
        ]}
      />
    </>
  )
}
