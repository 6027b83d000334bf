import { useState } from 'preact/hooks'
import type { EndorsementRingDetails } from '../../api-types/console.ts'
import { t } from '../../translations/translate.ts'
import { Badge } from '../../ui/badge.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { DescriptionItem, DescriptionList } from '../shared/description-list.tsx'
import { type ApiError, api } from '../shell/api.ts'
import { useData } from '../shell/loading.ts'
import { Link, type Params } from '../shell/router.tsx'
import { ringName } from './ring-name.ts'

const RELATION_NAMES: Record<string, string> = {
  manager: t('manager'),
  mentor: t('mentor'),
  peer: t('peer'),
  client: t('client'),
  faculty: t('faculty'),
}

const FACT_NAMES: Record<string, string> = {
  company_domain: t('company domain'),
  other_domain: t('other domain'),
  no_website: t('no website'),
  free_mail: t('free mail'),
  disposable_mail: t('disposable mail'),
  saw_the_work: t('saw the work'),
  peer_relation: t('peer relation'),
  quick_answer: t('quick answer'),
  mutual: t('mutual'),
  many_endorsements: t('many endorsements'),
  same_network: t('same network'),
  same_device: t('same device'),
  reviewer_is_student: t('reviewer is student'),
  ring: t('ring'),
}

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
        <Link to="/operator/rings">{t('Endorsement rings')}</Link>
      </p>
      <h1>
        {ringName(data)} <Badge state={data.status} />
      </h1>
      <DescriptionList>
        <DescriptionItem name={t('Members')}>{data.members.join(', ')}</DescriptionItem>
        <DescriptionItem name={t('Endorsements')}>
          {t('{count} between members; {expected} expected by chance', {
            count: evidence.endorsements,
            expected: evidence.expected_endorsements,
          })}
        </DescriptionItem>
        <DescriptionItem name={t('Mutual pairs')}>
          {t('{pairs} pairs endorsed each other; the shortest cycle has {people} people', {
            pairs: evidence.reciprocal_pairs,
            people: evidence.shortest_cycle,
          })}
        </DescriptionItem>
        <DescriptionItem name={t('Share from members')}>
          {t('{percent} % of all endorsements that members received', {
            percent: Math.round(evidence.inside_share * 100),
          })}
        </DescriptionItem>
        <DescriptionItem name={t('By manager, mentor, client or teacher')}>
          {t('{count} endorsements', { count: evidence.superior_relations })}
        </DescriptionItem>
        <DescriptionItem name={t('Mailboxes')}>
          {t('{count} endorsements from free or disposable mailboxes', {
            count: evidence.free_or_disposable_mail,
          })}
        </DescriptionItem>
        <DescriptionItem name={t('Quick answers')}>{evidence.quick_answers}</DescriptionItem>
        <DescriptionItem name={t('Same device or network')}>{evidence.same_device_or_network}</DescriptionItem>
        <DescriptionItem name={t('Score')}>{data.score}</DescriptionItem>
        <DescriptionItem name={t('Found')}>
          <Time at={data.found_at} />
        </DescriptionItem>
      </DescriptionList>
      <h2>{t('Note')}</h2>
      {result === 'stored' && <Notice kind="good">{t('The note is stored.')}</Notice>}
      {result !== undefined && result !== 'stored' && <Notice kind="bad">{result.message}</Notice>}
      <form class="stack-tight" onSubmit={(event) => void store(event)}>
        <label>
          {t('Note for other operators')}
          <textarea
            rows={3}
            maxLength={2000}
            value={draft ?? data.note ?? ''}
            onInput={(event) => setDraft(event.currentTarget.value)}
          />
        </label>
        <div class="row">
          <button type="submit" class="primary">
            {t('Store the note')}
          </button>
          {data.status === 'open' && (
            <button type="button" onClick={() => void store(undefined, 'dismissed')}>
              {t('Dismiss as harmless')}
            </button>
          )}
          {data.status === 'dismissed' && (
            <button type="button" onClick={() => void store(undefined, 'open')}>
              {t('Reopen')}
            </button>
          )}
        </div>
      </form>
      <h2>{t('Endorsements between members')}</h2>
      <Table
        caption={t('Endorsements between members, oldest first')}
        rows={data.endorsements}
        keyOf={({ verification_id }) => verification_id}
        empty={<p class="soft">{t('No endorsements.')}</p>}
        columns={[
          { name: t('Reviewer'), cell: ({ reviewer }) => reviewer },
          { name: t('Student'), cell: ({ student }) => student },
          { name: t('As'), cell: ({ endorsement_type }) => RELATION_NAMES[endorsement_type] ?? endorsement_type },
          {
            name: t('Facts'),
            cell: ({ facts }) => facts.map((fact) => FACT_NAMES[fact] ?? fact.replaceAll('_', ' ')).join(', '),
          },
          {
            name: t('Verification'),
            cell: ({ verification_id, org_id }) => (
              <Link to={`/${org_id}/${data.mode}/verifications/${verification_id}`}>{verification_id}</Link>
            ),
          },
          { name: t('When'), cell: ({ endorsed_at }) => <Time at={endorsed_at} /> },
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
