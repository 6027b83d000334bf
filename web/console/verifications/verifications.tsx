import type { VerificationSummary } from '../../api-types/console.ts'
import { Badge } from '../../ui/badge.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { VERIFICATION_METHOD_NAMES } from '../shared/labels.ts'
import { ListCount, listQueryString, SearchFilter } from '../shared/list-filters.tsx'
import { useList } from '../shell/loading.ts'
import { Link, setQuery, useAddress } from '../shell/router.tsx'
import { useOrgContext } from '../shell/session.ts'

const STATUSES = ['open', 'pending_review', 'in_assessment', 'completed', 'declined', 'failed', 'expired']

const PAGE_SIZE = 50

export default function Verifications() {
  const context = useOrgContext()
  const { query } = useAddress()
  const status = query.get('status') ?? ''
  const list = useList<VerificationSummary>(
    context.apiPath(`/verifications?${listQueryString(query, ['status', 'q'], PAGE_SIZE)}`),
  )
  return (
    <>
      <h1>Verifications</h1>
      <div class="row filters">
        <SearchFilter label="Search" placeholder="Your student ID or verification ID" />
        <label>
          Status
          <select value={status} onChange={(event) => setQuery({ status: event.currentTarget.value })}>
            <option value="">All statuses</option>
            {STATUSES.map((each) => (
              <option key={each} value={each}>
                {each.replaceAll('_', ' ')}
              </option>
            ))}
          </select>
        </label>
      </div>
      <ListCount list={list} nouns={['verification', 'verifications']} />
      {list.error && <Notice kind="bad">{list.error.message}</Notice>}
      <Table
        caption="Verifications, newest first"
        rows={list.items}
        keyOf={({ verification_id }) => verification_id}
        loadMore={list.more}
        loading={list.loading}
        empty={
          status || query.get('q') ? (
            <p class="soft">No verifications match these filters.</p>
          ) : (
            <>
              <h2>No verifications</h2>
              <p class="soft">
                Your server starts a verification for a student with <code>POST /api/v1/verify</code> and a session key.
              </p>
              {context.mode === 'test' && <TestAddresses />}
              {context.can('owner') && <Link to={context.pagePath('/keys')}>Create a session key</Link>}
            </>
          )
        }
        columns={[
          {
            name: 'Student',
            cell: ({ verification_id, student_name }) => (
              <Link to={context.pagePath(`/verifications/${verification_id}`)}>{student_name}</Link>
            ),
          },
          { name: 'Status', cell: ({ status: state }) => <Badge state={state} /> },
          { name: 'Method', cell: ({ method }) => (method ? VERIFICATION_METHOD_NAMES[method] : '–') },
          { name: 'Skills', right: true, cell: ({ skills }) => skills },
          { name: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
          { name: 'Ended', cell: ({ completed_at }) => <Time at={completed_at} /> },
        ]}
      />
    </>
  )
}

/** The addresses that simulate students and reviewers in TEST mode. */
function TestAddresses() {
  return (
    <p class="soft">
      To try it without a person, use an address of <code>test.attestry.example</code>. Students <code>pass@</code>,{' '}
      <code>fail@</code> and <code>inconclusive@</code> get questions whose right option is first. Reviewers{' '}
      <code>endorse@</code>, <code>refuse@</code> and <code>silent@</code> act automatically within seconds.
    </p>
  )
}
