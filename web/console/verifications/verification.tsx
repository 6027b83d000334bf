import { useState } from 'preact/hooks'
import { Badge } from '../../ui/badge.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { Fact, Facts } from '../shared/description-list.tsx'
import { api, type Refusal } from '../shell/api.ts'
import { useData } from '../shell/loading.ts'
import { Link, type Params } from '../shell/router.tsx'
import { usePlace } from '../shell/session.ts'
import type { VerificationRow } from './verifications.tsx'

interface Verification extends VerificationRow {
  student: { externalStudentId: string; name: string; email: string; phone?: string }
  reviewer: {
    name: string
    email: string
    company: string
    sent_at: string | null
    expires_at: string | null
    submitted_at: string | null
  } | null
  outcome: {
    score: number | null
    skills: { skillId: string; name: string; outcome: string; rating?: number; comment?: string }[]
  }
  mails: {
    mail_id: string
    kind: string
    to_address: string
    status: string
    last_error: string | null
    created_at: string
  }[]
}

export default function VerificationPage({ params }: { params: Params }) {
  const place = usePlace()
  const path = place.at(`/verifications/${params.verification_id}`)
  const { data, refusal, set } = useData<Verification>(path)
  const [sent, setSent] = useState<'sent' | Refusal>()
  if (refusal) return <Notice kind="bad">{refusal.message}</Notice>
  if (!data) return <h1 class="waiting">A student's session</h1>
  return (
    <>
      <p>
        <Link to={place.go('/verifications')}>Verification sessions</Link>
      </p>
      <div class="page-head">
        <h1>
          {data.student.name} <Badge state={data.status} />
        </h1>
        {data.status === 'pending_review' && place.may('recruiter') && (
          <button type="button" onClick={() => void resend()}>
            Send the reviewer's mail again
          </button>
        )}
      </div>
      {sent === 'sent' && <Notice kind="good">The mail is on its way again.</Notice>}
      {sent !== undefined && sent !== 'sent' && <Notice kind="bad">{sent.message}</Notice>}
      <Facts>
        <Fact name="Student">
          {data.student.email} · {data.student.externalStudentId}
        </Fact>
        <Fact name="Method">{data.method ?? 'not chosen yet'}</Fact>
        {data.reviewer && (
          <Fact name="Reviewer">
            {data.reviewer.name}, {data.reviewer.company} ({data.reviewer.email}), asked{' '}
            <Time at={data.reviewer.sent_at} />
          </Fact>
        )}
        {data.outcome.score !== null && <Fact name="Score">{data.outcome.score} %</Fact>}
        <Fact name="Opened">
          <Time at={data.created_at} />
        </Fact>
        <Fact name="Ended">
          <Time at={data.completed_at} />
        </Fact>
      </Facts>
      <h2>Skills</h2>
      <Table
        caption="Skills and their outcome"
        rows={data.outcome.skills}
        keyOf={({ skillId }) => skillId}
        empty={<p class="soft">The student has not chosen skills yet.</p>}
        columns={[
          { name: 'Skill', cell: ({ name }) => name },
          { name: 'Outcome', cell: ({ outcome }) => <Badge state={outcome} /> },
          { name: 'Rating', right: true, cell: ({ rating }) => rating ?? '–' },
          { name: 'Comment', cell: ({ comment }) => comment ?? '–' },
        ]}
      />
      <h2>Mails</h2>
      <Table
        caption="Mails about this session"
        rows={data.mails}
        keyOf={({ mail_id }) => mail_id}
        empty={<p class="soft">No mail was sent for this session.</p>}
        columns={[
          { name: 'When', cell: ({ created_at }) => <Time at={created_at} /> },
          {
            name: 'Mail',
            cell: ({ mail_id, kind }) =>
              place.session.kind === 'operator' ? (
                <Link to={`/operator/mails/${mail_id}`}>{kind.replaceAll('_', ' ')}</Link>
              ) : (
                kind.replaceAll('_', ' ')
              ),
          },
          { name: 'To', cell: ({ to_address }) => to_address },
          { name: 'Status', cell: ({ status }) => <Badge state={status} /> },
          { name: 'Last error', cell: ({ last_error }) => last_error ?? '–' },
        ]}
      />
    </>
  )

  async function resend() {
    const answer = await api<Verification>(`${path}/resend`, { body: {} })
    if (answer.ok) set(answer.data)
    setSent(answer.ok ? 'sent' : answer.refusal)
  }
}
