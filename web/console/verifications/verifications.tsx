import { Badge } from '../../ui/badge.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { useList } from '../shell/loading.ts'
import { Link, setQuery, useAddress } from '../shell/router.tsx'
import { usePlace } from '../shell/session.ts'

export interface VerificationRow {
  verification_id: string
  external_student_id: string
  student_name: string
  status: string
  method: string | null
  skills: number
  created_at: string
  completed_at: string | null
  expires_at: string
}

const STATUSES = ['open', 'pending_review', 'in_assessment', 'completed', 'declined', 'failed', 'expired']

export default function Verifications() {
  const place = usePlace()
  const { query } = useAddress()
  const status = query.get('status') ?? ''
  const list = useList<VerificationRow>(place.at(`/verifications${status ? `?status=${status}` : ''}`))
  return (
    <>
      <h1>Verification sessions</h1>
      <div class="row filters">
        <label>
          Status
          <select value={status} onChange={(event) => setQuery({ status: event.currentTarget.value })}>
            <option value="">Every status</option>
            {STATUSES.map((each) => (
              <option key={each} value={each}>
                {each.replaceAll('_', ' ')}
              </option>
            ))}
          </select>
        </label>
      </div>
      {list.refusal && <Notice kind="bad">{list.refusal.message}</Notice>}
      <Table
        caption="Verification sessions, newest first"
        rows={list.items}
        keyOf={({ verification_id }) => verification_id}
        more={list.more}
        loading={list.loading}
        empty={
          <>
            <h2>No session</h2>
            <p class="soft">
              A partner's server opens a session for a student with <code>POST /api/v1/verify</code> and a session key.
            </p>
            {place.may('owner') && <Link to={place.go('/keys')}>Make a session key</Link>}
          </>
        }
        columns={[
          {
            name: 'Student',
            cell: ({ verification_id, student_name }) => (
              <Link to={place.go(`/verifications/${verification_id}`)}>{student_name}</Link>
            ),
          },
          { name: 'Status', cell: ({ status: state }) => <Badge state={state} /> },
          { name: 'Method', cell: ({ method }) => method ?? '–' },
          { name: 'Skills', right: true, cell: ({ skills }) => skills },
          { name: 'Opened', cell: ({ created_at }) => <Time at={created_at} /> },
          { name: 'Ended', cell: ({ completed_at }) => <Time at={completed_at} /> },
        ]}
      />
    </>
  )
}
