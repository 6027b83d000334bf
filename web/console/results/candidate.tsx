import { useEffect, useState } from 'preact/hooks'
import type { CandidateConversation } from '../../api-types/console.ts'
import { richText } from '../../translations/rich-text.ts'
import { t } from '../../translations/translate.ts'
import { Notice } from '../../ui/notice.tsx'
import { Time } from '../../ui/time.tsx'
import { Conversation } from '../phone/conversation.tsx'
import { ActionMenu, type MenuItem } from '../shared/action-menu.tsx'
import { Confirm } from '../shared/confirm.tsx'
import { DescriptionItem, DescriptionList } from '../shared/description-list.tsx'
import { api } from '../shell/api.ts'
import { useData } from '../shell/loading.ts'
import { ContactLinks } from './call.tsx'
import { CandidateWork, useCandidateWork } from './candidate-work.tsx'
import { LiveResult } from './live-result.tsx'
import { Outcome } from './result-output.tsx'
import { reportPdfUrl, ShareReport } from './share-report.tsx'
import { Qualified } from './verdict.tsx'
import './results.css'
import { channelName, languageName, noMessageSentText, PERSONAS } from '../shared/labels.ts'
import { Link, type Params } from '../shell/router.tsx'
import { useOrgContext } from '../shell/session.ts'

const POLL_INTERVAL_MS = 2000

export default function CandidatePage({ params }: { params: Params }) {
  const context = useOrgContext()
  const [isPending, setIsPending] = useState(true)
  const [isRevoking, setIsRevoking] = useState(false)
  const [isRevoked, setIsRevoked] = useState(false)
  const { data, error, reload } = useData<CandidateConversation>(
    context.apiPath(`/candidates/${params.candidate_id}`),
    {
      pollMs: isPending ? POLL_INTERVAL_MS : undefined,
    },
  )
  const work = useCandidateWork(params.candidate_id)
  useEffect(() => setIsPending(data === undefined || data.status === 'pending'), [data?.status])
  useEffect(() => {
    if (data && work.data && data.status !== work.data.status) void work.reload() // load the verdict
  }, [data?.status, work.data?.status])
  if (error) return <Notice kind="bad">{error.message}</Notice>
  if (!data || !(work.data || work.error)) return <h1 class="waiting">Candidate</h1>
  const hasEnded = data.status !== 'pending'
  const optedOutEarlier = data.status === 'declined' && data.reason === 'stopped' && data.messages.length === 0
  return (
    <>
      <p>
        <Link to={context.pagePath(`/campaigns/${data.campaign_id}`)}>{work.data?.campaign_name || t('Campaign')}</Link>
      </p>
      <div class="page-head">
        <h1>
          {data.name}{' '}
          {data.status === 'completed' && work.data?.status === 'completed' ? (
            <Qualified status="completed" qualified={work.data.output.qualified} />
          ) : (
            <Outcome result={data} />
          )}
        </h1>
        <div class="row">
          {context.mode === 'test' && (
            <Link class="button" to={context.pagePath(`/phone/${data.candidate_id}`)}>
              {t('Open phone')}
            </Link>
          )}
          {!data.erased && <ShareReport candidateId={data.candidate_id} name={data.name} />}
          <ActionMenu label={t('More##menu')} groups={menuGroups(data)} />
        </div>
      </div>
      {isRevoked && (
        <Notice kind="good">
          {t('The link was revoked and does not work any more.')}{' '}
          {hasEnded
            ? t('The conversation has ended: the candidate gets a new link only if another message is sent.')
            : t('The candidate gets a new link with the next message.')}
        </Notice>
      )}
      <div class="two-columns side-first">
        <div class="stack">
          <CandidateWork work={work} />
          <LiveResult resultId={data.result_id} messageCount={data.messages.length}>
            <DescriptionList>
              <DescriptionItem name={t('Contact')}>
                <ContactLinks phone={data.phone} email={data.email} />
              </DescriptionItem>
              <DescriptionItem name={t('Your ID')}>{data.external_candidate_id}</DescriptionItem>
              <DescriptionItem name={t('Language')}>{languageName(data.language)}</DescriptionItem>
              <DescriptionItem name={t('Channel')}>{channelName(data.channel)}</DescriptionItem>
              {data.part && (
                <DescriptionItem name={t('Test number')}>
                  {PERSONAS[data.part]?.name}:{' '}
                  {optedOutEarlier ? t('opted out in an earlier campaign') : PERSONAS[data.part]?.description}
                </DescriptionItem>
              )}
              {Object.entries(data.metadata).map(([name, value]) => (
                <DescriptionItem key={name} name={name}>
                  {value}
                </DescriptionItem>
              ))}
              <DescriptionItem name={t('Contacted')}>
                <Time at={data.started_at} />
              </DescriptionItem>
              <DescriptionItem name={t('Ended')}>
                <Time at={data.completed_at} />
              </DescriptionItem>
              <DescriptionItem name="ID">
                <code>{data.candidate_id}</code>
              </DescriptionItem>
            </DescriptionList>
          </LiveResult>
        </div>
        <section class="card" aria-label={t('Conversation')}>
          <h2>{t('Conversation')}</h2>
          {data.messages.length === 0 ? (
            <p class="soft">
              {hasEnded ? noMessageSentText(data) : t('No message has been sent yet.')}{' '}
              {data.next_contact_at &&
                richText('The first message is scheduled for {time}.', { time: <Time at={data.next_contact_at} /> })}
            </p>
          ) : (
            <Conversation messages={data.messages} detailed />
          )}
          {data.status === 'pending' && data.messages.length > 0 && data.next_contact_at && (
            <p class="channel-mark">
              {richText('Next follow-up: {time}, unless the candidate replies', {
                time: <Time at={data.next_contact_at} />,
              })}
            </p>
          )}
        </section>
      </div>
      {isRevoking && (
        <Confirm
          title={t('Revoke the link of {name}?', { name: data.name })}
          action={t('Revoke link')}
          onClose={() => setIsRevoking(false)}
          act={() =>
            api(context.apiPath(`/campaigns/${data.campaign_id}/candidates/${data.candidate_id}/revoke-link`), {
              method: 'POST',
            })
          }
          onDone={() => {
            setIsRevoked(true)
            void reload()
          }}
        >
          <p>
            {t(
              'Revoke the link if another person has it. The links in all earlier messages stop working immediately, including the opt-out links in emails. The candidate gets a new link with the next message. This cannot be undone.',
            )}
          </p>
        </Confirm>
      )}
    </>
  )

  function menuGroups({ candidate_id, erased, link }: CandidateConversation): MenuItem[][] {
    return [
      [
        ...(erased ? [] : [{ name: t('Report as PDF'), href: reportPdfUrl(context, candidate_id) }]),
        ...(context.mode === 'test' && link ? [{ name: t('Open candidate page'), href: link }] : []),
      ],
      erased || !context.can('recruiter')
        ? []
        : [{ name: t('Revoke link'), danger: true, act: () => setIsRevoking(true) }],
    ]
  }
}
