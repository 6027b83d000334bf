import { useState } from 'preact/hooks'
import type { EndorsementRingDetails } from '../../api-types/console.ts'
import { Badge } from '../../ui/badge.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { DescriptionItem, DescriptionList } from '../shared/description-list.tsx'
import { type ApiError, api } from '../shell/api.ts'
import { useData } from '../shell/loading.ts'
import { Link, type Params } from '../shell/router.tsx'

/** One ring: its members without addresses, the evidence, the endorsements, and the operator's note. */
export default function OperatorRing({ params }: { params: Params }) {
  const path = `/operator/rings/${params.ring_id}`
  const { data, error, set } = useData<EndorsementRingDetails>(path)
  const [draft, setDraft] = useState<string>()
  const [result, setResult] = useState<'stored' | ApiError>()
  if (error) return <Notice kind="bad">{error.message}</Notice>
  if (!data) return <h1 class="waiting">Endorsement ring</h1>
  const { evidence } = data
  return (
    <>
      <p>
        <Link to="/operator/rings">Endorsement rings</Link>
      </p>
      <h1>
        {data.kind} of {data.size} people <Badge state={data.status} />
      </h1>
      <DescriptionList>
        <DescriptionItem name="Members">{data.members.join(', ')}</DescriptionItem>
        <DescriptionItem name="Endorsements">
          {evidence.endorsements} between members; {evidence.expected_endorsements} expected by chance
        </DescriptionItem>
        <DescriptionItem name="Mutual pairs">
          {evidence.reciprocal_pairs} pairs endorsed each other; the shortest cycle has {evidence.shortest_cycle} people
        </DescriptionItem>
        <DescriptionItem name="Share from members">
          {Math.round(evidence.inside_share * 100)} % of all endorsements that members received
        </DescriptionItem>
        <DescriptionItem name="By manager, mentor, client or teacher">
          {evidence.superior_relations} endorsements
        </DescriptionItem>
        <DescriptionItem name="Mailboxes">
          {evidence.free_or_disposable_mail} endorsements from free or disposable mailboxes
        </DescriptionItem>
        <DescriptionItem name="Quick answers">{evidence.quick_answers}</DescriptionItem>
        <DescriptionItem name="Same device or network">{evidence.same_device_or_network}</DescriptionItem>
        <DescriptionItem name="Score">{data.score}</DescriptionItem>
        <DescriptionItem name="Found">
          <Time at={data.found_at} />
        </DescriptionItem>
      </DescriptionList>
      <h2>Note</h2>
      {result === 'stored' && <Notice kind="good">The note is stored.</Notice>}
      {result !== undefined && result !== 'stored' && <Notice kind="bad">{result.message}</Notice>}
      <form class="stack-tight" onSubmit={(event) => void store(event)}>
        <label>
          Note for other operators
          <textarea
            rows={3}
            maxLength={2000}
            value={draft ?? data.note ?? ''}
            onInput={(event) => setDraft(event.currentTarget.value)}
          />
        </label>
        <div class="row">
          <button type="submit" class="primary">
            Store the note
          </button>
          {data.status === 'open' && (
            <button type="button" onClick={() => void store(undefined, 'dismissed')}>
              Dismiss as harmless
            </button>
          )}
          {data.status === 'dismissed' && (
            <button type="button" onClick={() => void store(undefined, 'open')}>
              Reopen
            </button>
          )}
        </div>
      </form>
      <h2>Endorsements between members</h2>
      <Table
        caption="Endorsements between members, oldest first"
        rows={data.endorsements}
        keyOf={({ verification_id }) => verification_id}
        empty={<p class="soft">No endorsements.</p>}
        columns={[
          { name: 'Reviewer', cell: ({ reviewer }) => reviewer },
          { name: 'Student', cell: ({ student }) => student },
          { name: 'As', cell: ({ endorsement_type }) => endorsement_type },
          { name: 'Facts', cell: ({ facts }) => facts.join(', ').replaceAll('_', ' ') },
          {
            name: 'Verification',
            cell: ({ verification_id, org_id }) => (
              <Link to={`/${org_id}/${data.mode}/verifications/${verification_id}`}>{verification_id}</Link>
            ),
          },
          { name: 'When', cell: ({ endorsed_at }) => <Time at={endorsed_at} /> },
        ]}
      />
    </>
  )

  async function store(event?: Event, status?: 'open' | 'dismissed') {
    event?.preventDefault()
    const body = { note: draft ?? data?.note ?? '', ...(status ? { status } : {}) }
    const response = await api<EndorsementRingDetails>(path, { method: 'PUT', body })
    if (response.ok) set(response.data)
    setResult(response.ok ? 'stored' : response.error)
  }
}
