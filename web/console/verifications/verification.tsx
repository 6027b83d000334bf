import { useState } from 'preact/hooks'
import type { VerificationDetails } from '../../api-types/console.ts'
import type { ProofFileContent, SkillAssessment, SkillOutcome } from '../../api-types/verification.ts'
import { richText } from '../../translations/rich-text.ts'
import { t } from '../../translations/translate.ts'
import { Badge } from '../../ui/badge.tsx'
import { Notice } from '../../ui/notice.tsx'
import { ProofFile } from '../../ui/proof-file.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { describeQuestions } from '../results/verdict-texts.ts'
import { Confirm } from '../shared/confirm.tsx'
import { DescriptionItem, DescriptionList } from '../shared/description-list.tsx'
import { channelName, emailReasonText, VERIFICATION_METHOD_NAMES } from '../shared/labels.ts'
import { type ApiError, api } from '../shell/api.ts'
import { useData } from '../shell/loading.ts'
import { Link, type Params, ParentLink } from '../shell/router.tsx'
import { useOrgContext } from '../shell/session.ts'

const EVIDENCE_COLUMN: Column<SkillOutcome> = {
  name: t('Last attempt'),
  cell: ({ assessment }) => (assessment ? assessmentText(assessment) : '–'),
}
const REVIEW_COLUMNS: Column<SkillOutcome>[] = [
  { name: t('Rating'), right: true, cell: ({ rating }) => rating ?? '–' },
  { name: t('Comment'), cell: ({ comment }) => comment ?? '–' },
]

/** Returns the evidence of an attempt, such as "5 of 5 correct, 99 % certain; public questions, asked in Hindi". */
function assessmentText({ summary, evidence, total, unpilotedQuestions }: SkillAssessment): string {
  if (!evidence) return summary
  const { itemSource, language } = evidence
  const questions = { item_source: itemSource, language, items: total, unpiloted_items: unpilotedQuestions }
  return `${summary}; ${describeQuestions({ ...questions, median_seconds: null })}`
}

const KIND_NAMES: Record<string, string> = {
  review_request: t('review request'),
  review_reminder: t('review reminder'),
  review_outcome: t('review outcome'),
  confirmation_code: t('confirmation code'),
  notice: t('notice'),
}

/** Returns the name of the kind of an email or message. */
function kindName(kind: string): string {
  return KIND_NAMES[kind] ?? kind.replaceAll('_', ' ')
}

export default function VerificationPage({ params }: { params: Params }) {
  const context = useOrgContext()
  const path = context.apiPath(`/verifications/${params.verification_id}`)
  const { data, error, set } = useData<VerificationDetails>(path)
  const [resendResult, setResendResult] = useState<'sent' | ApiError>()
  const [isWithdrawing, setIsWithdrawing] = useState(false)
  const [reason, setReason] = useState('')
  if (error) return <Notice kind="bad">{error.message}</Notice>
  if (!data) return <h1 class="waiting">A verification</h1>
  return (
    <>
      <p>
        <ParentLink to={context.pagePath('/verifications')}>{t('Verifications')}</ParentLink>
      </p>
      <div class="page-head">
        <h1>
          {data.student.name} <Badge state={data.status} />
        </h1>
        {data.status === 'pending_review' && context.can('recruiter') && (
          <button type="button" onClick={() => void resend()}>
            {t('Resend the review request')}
          </button>
        )}
        {data.withdrawable && context.can('owner') && (
          <button type="button" onClick={() => setIsWithdrawing(true)}>
            {t('Withdraw the endorsement')}
          </button>
        )}
      </div>
      {resendResult === 'sent' && <Notice kind="good">{t('The review request will be sent again.')}</Notice>}
      {resendResult !== undefined && resendResult !== 'sent' && <Notice kind="bad">{resendResult.message}</Notice>}
      <DescriptionList>
        <DescriptionItem name={t('Student')}>
          {data.student.email} · {data.student.externalStudentId}
        </DescriptionItem>
        <DescriptionItem name={t('Method')}>
          {data.method ? VERIFICATION_METHOD_NAMES[data.method] : t('not chosen yet')}
        </DescriptionItem>
        {data.reviewer && (
          <DescriptionItem name={t('Reviewer')}>
            {richText('{name}, {company} ({addresses}), email sent {time}', {
              name: data.reviewer.name,
              company: data.reviewer.company,
              addresses: [data.reviewer.email, data.reviewer.phone].filter(Boolean).join(', '),
              time: <Time at={data.reviewer.sent_at} />,
            })}
          </DescriptionItem>
        )}
        {data.outcome.declineReason && !data.outcome.withdrawnAt && (
          <DescriptionItem name={t('Reason of the reviewer')}>{data.outcome.declineReason}</DescriptionItem>
        )}
        {data.outcome.withdrawnAt && (
          <DescriptionItem name={t('Withdrawn')}>
            {richText(
              data.outcome.withdrawnBy === 'reviewer'
                ? '{time} by the reviewer: {reason}'
                : data.outcome.withdrawnBy === 'operator'
                  ? '{time} by the operator: {reason}'
                  : '{time} by the organisation: {reason}',
              { time: <Time at={data.outcome.withdrawnAt} />, reason: data.outcome.declineReason },
            )}
          </DescriptionItem>
        )}
        {data.outcome.score !== null && <DescriptionItem name={t('Score')}>{data.outcome.score} %</DescriptionItem>}
        <DescriptionItem name={t('Created')}>
          <Time at={data.created_at} />
        </DescriptionItem>
        <DescriptionItem name={t('Ended')}>
          <Time at={data.completed_at} />
        </DescriptionItem>
      </DescriptionList>
      {data.outcome.evidenceLevel && (
        <>
          <h2>{richText('Evidence {badge}', { badge: <Badge state={data.outcome.evidenceLevel} /> })}</h2>
          <p class="soft">
            {t('How well the endorsement supports the skills. Nothing is rejected because of its level.')}
          </p>
          <ul aria-label={t('Reasons for the level')}>
            {data.outcome.reasons?.map(({ code, effect, text }) => (
              <li key={code}>
                {text}
                {effect === 'neutral' ? '' : ` ${effect === 'supports' ? t('(supports it)') : t('(weakens it)')}`}
              </li>
            ))}
          </ul>
        </>
      )}
      <h2>{t('Skills')}</h2>
      <Table
        caption={t('Skills and their outcome')}
        rows={data.outcome.skills}
        keyOf={({ skillId }) => skillId}
        empty={<p class="soft">{t('The student has not chosen any skills yet.')}</p>}
        columns={[
          { name: t('Skill'), cell: ({ name }) => name },
          { name: t('Outcome'), cell: ({ outcome }) => <Badge state={outcome} /> },
          ...(data.method === 'assessment' ? [EVIDENCE_COLUMN] : REVIEW_COLUMNS),
        ]}
      />
      {data.files.length > 0 && (
        <>
          <h2>{t('Files')}</h2>
          <p class="soft">{t('Photos and documents that the student attached, shown to the reviewer.')}</p>
          <ul>
            {data.files.map((file) => (
              <li key={file.fileId}>
                <ProofFile
                  file={file}
                  load={() => loadFile(file.fileId)}
                  texts={{ show: t('Show'), download: t('Download') }}
                />
              </li>
            ))}
          </ul>
        </>
      )}
      <h2>{t('Emails')}</h2>
      <Table
        caption={t('Emails of this verification')}
        rows={data.mails}
        keyOf={({ mail_id }) => mail_id}
        empty={<p class="soft">{t('No emails were sent for this verification.')}</p>}
        columns={[
          { name: t('When'), cell: ({ created_at }) => <Time at={created_at} /> },
          {
            name: t('Email'),
            class: 'short-text',
            cell: ({ mail_id, kind }) =>
              context.session.kind === 'operator' ? (
                <Link to={`/operator/mails/${mail_id}`}>{kindName(kind)}</Link>
              ) : (
                kindName(kind)
              ),
          },
          { name: t('To##recipient'), cell: ({ to_address }) => to_address },
          { name: t('Status'), cell: ({ status }) => <Badge state={status} /> },
          {
            name: t('Reason or last error'),
            cell: (email) => emailReasonText(email) ?? email.last_error ?? '–',
          },
        ]}
      />
      {data.messages.length > 0 && (
        <>
          <h2>{t('Messages to the phone of the reviewer')}</h2>
          {context.mode === 'test' && <p class="soft">{t('TEST messages are shown here and reach no phone.')}</p>}
          <Table
            caption={t('WhatsApp and SMS messages of this verification')}
            rows={data.messages}
            keyOf={({ message_id }) => message_id}
            empty={null}
            columns={[
              { name: t('When'), cell: ({ created_at }) => <Time at={created_at} /> },
              { name: t('Message'), cell: ({ kind }) => kindName(kind) },
              { name: t('Channel'), cell: ({ channel }) => channelName(channel) },
              { name: t('Status'), cell: ({ state }) => <Badge state={state} /> },
              { name: t('Text or reason'), cell: ({ text, reason }) => text ?? reason ?? '–' },
            ]}
          />
        </>
      )}
      {isWithdrawing && (
        <Confirm
          title={t('Withdraw the endorsement?')}
          action={t('Withdraw endorsement')}
          onClose={() => setIsWithdrawing(false)}
          act={async () => {
            const response = await api<VerificationDetails>(`${path}/withdraw`, { body: { reason } })
            if (response.ok) set(response.data)
            return response
          }}
          onDone={() => setReason('')}
        >
          <p>
            {t(
              'The skills are no longer endorsed, and credentials based on the endorsement are revoked at once. The student gets an email with the reason. This cannot be undone.',
            )}
          </p>
          <label>
            {t('Reason')}
            <textarea maxLength={500} value={reason} onInput={(event) => setReason(event.currentTarget.value)} />
          </label>
        </Confirm>
      )}
    </>
  )

  async function loadFile(fileId: string): Promise<ProofFileContent | string> {
    const response = await api<ProofFileContent>(`${path}/files/${fileId}`)
    return response.ok ? response.data : response.error.message
  }

  async function resend() {
    const response = await api<VerificationDetails>(`${path}/resend`, { body: {} })
    if (response.ok) set(response.data)
    setResendResult(response.ok ? 'sent' : response.error)
  }
}
