import { useEffect, useState } from 'preact/hooks'
import type { CandidateConversation, SimulatorPhone as Phone } from '../../api-types/console.ts'
import { t } from '../../translations/translate.ts'
import { Badge } from '../../ui/badge.tsx'
import { Notice } from '../../ui/notice.tsx'
import { SubmitButton } from '../../ui/submit-button.tsx'
import { LiveResult } from '../results/live-result.tsx'
import { PERSONAS } from '../shared/labels.ts'
import { RecordPicker } from '../shared/record-picker.tsx'
import { useList } from '../shell/loading.ts'
import { Link, navigate, type Params, setQuery, useAddress } from '../shell/router.tsx'
import { useOrgContext } from '../shell/session.ts'
import { initials, SimulatorPhone } from './simulator-phone.tsx'
import './phone.css'

const POLL_INTERVAL_MS = 3000

/** The last loaded list of phones, shown while it is reloaded after the user switched to another phone. */
let cachedList: { path: string; items: Phone[] } | undefined

/** The simulator phone: choose a candidate, read the messages, answer, and watch the result. */
export default function PhonePage({ params }: { params: Params }) {
  const context = useOrgContext()
  const { query } = useAddress()
  const campaignId = query.get('campaign_id') ?? ''
  const searchText = query.get('q') ?? ''
  const filter = new URLSearchParams({
    ...(campaignId ? { campaign_id: campaignId } : {}),
    ...(searchText ? { q: searchText } : {}),
  })
  const path = context.apiPath(`/phone?${filter}`)
  const list = useList<Phone>(context.mode === 'test' ? path : undefined, { pollMs: POLL_INTERVAL_MS })
  const items = list.items ?? (cachedList?.path === path ? cachedList.items : undefined)
  if (list.items) cachedList = { path, items: list.items }
  const queryString = filter.toString()
  const phonePath = (id: string) => context.pagePath(`/phone/${id}${queryString ? `?${queryString}` : ''}`)
  const candidateId = params.candidate_id
  useEffect(() => {
    if (candidateId || !items || !matchMedia('(min-width: 60rem)').matches) return
    const defaultPhone = items.find(({ part, status }) => part === null && status === 'pending') ?? items[0]
    if (defaultPhone) navigate(phonePath(defaultPhone.candidate_id), { replace: true })
  }, [candidateId, items === undefined])

  if (context.mode === 'live') {
    return (
      <div class="card empty">
        <h1>{t('The simulator phone is available in test mode')}</h1>
        <p class="soft">{t('In live mode, real candidates answer on their own phones.')}</p>
      </div>
    )
  }
  return (
    <>
      <div class="page-head">
        <h1>{t('Simulator phone')}</h1>
        {candidateId && (
          <Link class="button phones-back" to={context.pagePath(`/phone${queryString ? `?${queryString}` : ''}`)}>
            {t('All simulator phones')}
          </Link>
        )}
      </div>
      <p class="soft">
        {t(
          'In test mode, all messages to candidates arrive here. Choose a candidate, answer for them, and watch their result change.',
        )}
      </p>
      {list.error && <Notice kind="bad">{list.error.message}</Notice>}
      {items?.length === 0 && !queryString ? (
        <div class="card empty">
          <h2>{t('No candidates yet')}</h2>
          <p class="soft">{t('Start a campaign in test mode; each candidate gets a simulator phone here.')}</p>
          <Link class="button primary" to={context.pagePath('/first-campaign')}>
            {t('Run a first campaign')}
          </Link>
        </div>
      ) : (
        <div class={`phones ${candidateId ? 'has-selection' : ''}`}>
          <aside class="stack-tight phones-list" aria-label={t('Simulator phones')}>
            <div class="row filters">
              <label>
                {t('Search')}
                <input
                  type="search"
                  placeholder={t('Name, number or ID')}
                  value={searchText}
                  onInput={(event) => setQuery({ q: event.currentTarget.value })}
                />
              </label>
              <RecordPicker
                id="phone-campaign"
                kind="campaign"
                label={t('Campaign')}
                placeholder={t('All campaigns')}
                value={campaignId || undefined}
                onChoose={(id) => setQuery({ campaign_id: id })}
              />
            </div>
            <ul class="card people">
              {items === undefined
                ? [1, 2, 3, 4].map((each) => (
                    <li key={each}>
                      <span class="person">
                        <span class="waiting">Candidate</span>
                      </span>
                    </li>
                  ))
                : items.map((phone) => (
                    <li key={phone.candidate_id}>
                      <Link
                        class="person"
                        to={phonePath(phone.candidate_id)}
                        current={phone.candidate_id === candidateId}
                      >
                        <span class="avatar" aria-hidden="true">
                          {initials(phone.name)}
                        </span>
                        <span class="person-text">
                          <span class="row between">
                            <strong>{phone.name}</strong>
                            {phone.status === 'pending' && !phone.part ? (
                              <span class="badge wait">{t('your turn')}</span>
                            ) : (
                              <Badge state={phone.status} />
                            )}
                          </span>
                          <span class="soft small last-message">
                            {phone.part ? `${PERSONAS[phone.part]?.name}: ` : ''}
                            {phone.last?.text ?? t('no messages yet')}
                          </span>
                        </span>
                      </Link>
                    </li>
                  ))}
              {items?.length === 0 && <li class="soft person">{t('No candidate matches this search.')}</li>}
            </ul>
            {list.more && (
              <SubmitButton type="button" onClick={list.more} busy={list.loading}>
                {t('Show more')}
              </SubmitButton>
            )}
          </aside>
          {candidateId ? (
            <SelectedPhone key={candidateId} candidateId={candidateId} onChange={() => void list.reload()} />
          ) : (
            <p class="soft no-selection">{t('Choose a candidate from the list.')}</p>
          )}
        </div>
      )}
    </>
  )
}

function SelectedPhone({ candidateId, onChange }: { candidateId: string; onChange: () => void }) {
  const context = useOrgContext()
  const [candidate, setCandidate] = useState<CandidateConversation>()
  return (
    <>
      <SimulatorPhone
        candidateId={candidateId}
        onCandidate={(next) => {
          if (candidate) onChange()
          setCandidate(next)
        }}
      />
      <div class="stack">
        {candidate && (
          <>
            <LiveResult resultId={candidate.result_id} messageCount={candidate.messages.length} />
            <p class="row small">
              <Link to={context.pagePath(`/candidates/${candidate.candidate_id}`)}>{t('View delivery status')}</Link>
              {candidate.link && (
                <a href={candidate.link} target="_blank" rel="noreferrer">
                  {t('Open candidate page')}
                </a>
              )}
            </p>
          </>
        )}
      </div>
    </>
  )
}
