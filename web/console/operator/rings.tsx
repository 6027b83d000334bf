import type { EndorsementRing } from '../../api-types/console.ts'
import { Badge } from '../../ui/badge.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { useList } from '../shell/loading.ts'
import { Link, setQuery, useAddress } from '../shell/router.tsx'

const STATUSES = ['open', 'dismissed', 'ended']

/** Groups of people who endorse each other, for the operator to look at. */
export default function OperatorRings() {
  const { query } = useAddress()
  const status = query.get('status') ?? 'open'
  const list = useList<EndorsementRing>(`/operator/rings?status=${encodeURIComponent(status)}`)
  return (
    <>
      <h1>Endorsement rings</h1>
      <p class="soft">
        Groups of people who endorse each other more than honest colleagues do. Their endorsements count as weak
        evidence; nothing is rejected. Every view of this page is recorded in the audit log.
      </p>
      <div class="row filters">
        <label>
          Status
          <select value={status} onChange={(event) => setQuery({ status: event.currentTarget.value })}>
            {STATUSES.map((each) => (
              <option key={each} value={each}>
                {each}
              </option>
            ))}
          </select>
        </label>
      </div>
      {list.error && <Notice kind="bad">{list.error.message}</Notice>}
      <Table
        caption="Endorsement rings, newest first"
        rows={list.items}
        keyOf={({ ring_id }) => ring_id}
        loadMore={list.more}
        loading={list.loading}
        empty={<p class="soft">No rings with this status. All endorsements are searched every night.</p>}
        columns={[
          {
            name: 'Ring',
            cell: ({ ring_id, kind, size }) => (
              <Link to={`/operator/rings/${ring_id}`}>
                {kind} of {size} people
              </Link>
            ),
          },
          { name: 'Mode', cell: ({ mode }) => mode.toUpperCase() },
          { name: 'Status', cell: ({ status: state }) => <Badge state={state} /> },
          { name: 'Endorsements', right: true, cell: ({ evidence }) => evidence.endorsements },
          { name: 'Mutual pairs', right: true, cell: ({ evidence }) => evidence.reciprocal_pairs },
          { name: 'Score', right: true, cell: ({ score }) => score },
          { name: 'Found', cell: ({ found_at }) => <Time at={found_at} /> },
          { name: 'Note', cell: ({ note }) => note ?? '–' },
        ]}
      />
    </>
  )
}
