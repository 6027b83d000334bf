import { useEffect, useState } from 'preact/hooks'
import { Action } from '../../ui/action.tsx'
import { Badge } from '../../ui/badge.tsx'
import { Notice } from '../../ui/notice.tsx'
import { useCampaignNames } from '../campaigns/campaign-names.ts'
import { LiveResult } from '../results/live-result.tsx'
import { PARTS } from '../shared/labels.ts'
import type { Campaign, Candidate, Page, Handset as Phone } from '../shared/records.ts'
import { useData, useList } from '../shell/loading.ts'
import { Link, navigate, type Params, setQuery, useAddress } from '../shell/router.tsx'
import { usePlace } from '../shell/session.ts'
import { Handset, initials } from './handset.tsx'
import './phone.css'

/** Shown while the list is read again on the way from one phone to the next. */
let kept: { path: string; items: Phone[] } | undefined

/** The simulator: pick somebody, read what arrives, answer, and watch the result. */
export default function PhonePage({ params }: { params: Params }) {
  const place = usePlace()
  const { query } = useAddress()
  const campaignId = query.get('campaign_id') ?? ''
  const q = query.get('q') ?? ''
  const filter = new URLSearchParams({ ...(campaignId ? { campaign_id: campaignId } : {}), ...(q ? { q } : {}) })
  const path = place.at(`/phone?${filter}`)
  const list = useList<Phone>(place.mode === 'test' ? path : undefined, { every: 3000 })
  const campaigns = useData<Page<Campaign>>(place.at('/campaigns?limit=100'))
  const nameOf = useCampaignNames(campaigns.data?.items)
  const items = list.items ?? (kept?.path === path ? kept.items : undefined)
  if (list.items) kept = { path, items: list.items }
  const search = filter.toString()
  const to = (id: string) => place.go(`/phone/${id}${search ? `?${search}` : ''}`)
  const id = params.candidate_id
  useEffect(() => {
    if (id || !items || !matchMedia('(min-width: 60rem)').matches) return
    const first = items.find(({ part, status }) => part === null && status === 'pending') ?? items[0]
    if (first) navigate(to(first.candidate_id), { replace: true })
  }, [id, items === undefined])

  if (place.mode === 'live') {
    return (
      <div class="card empty">
        <h1>The phone is there in TEST</h1>
        <p class="soft">In LIVE, real people answer on their own phones.</p>
      </div>
    )
  }
  return (
    <>
      <div class="page-head">
        <h1>Phone</h1>
        {id && (
          <Link class="button phones-back" to={place.go(`/phone${search ? `?${search}` : ''}`)}>
            All phones
          </Link>
        )}
      </div>
      <p class="soft">
        In TEST every message lands here. Pick somebody, answer as they would, and watch the result change.
      </p>
      {list.refusal && <Notice kind="bad">{list.refusal.message}</Notice>}
      {items?.length === 0 && !search ? (
        <div class="card empty">
          <h2>No phone has rung yet</h2>
          <p class="soft">Start a campaign in TEST; each of its candidates has a phone here.</p>
          <Link class="button primary" to={place.go('/first-campaign')}>
            Run a first campaign
          </Link>
        </div>
      ) : (
        <div class={`phones ${id ? 'picked' : ''}`}>
          <aside class="stack-tight phones-list" aria-label="Phones">
            <div class="row filters">
              <label>
                Find
                <input
                  type="search"
                  placeholder="Name, number or id"
                  value={q}
                  onInput={(event) => setQuery({ q: event.currentTarget.value })}
                />
              </label>
              <label>
                Campaign
                <select value={campaignId} onChange={(event) => setQuery({ campaign_id: event.currentTarget.value })}>
                  <option value="">Every campaign</option>
                  {(campaigns.data?.items ?? []).map((campaign) => (
                    <option key={campaign.campaign_id} value={campaign.campaign_id}>
                      {nameOf(campaign.campaign_id)}
                    </option>
                  ))}
                </select>
              </label>
            </div>
            <ul class="card people">
              {items === undefined
                ? [1, 2, 3, 4].map((each) => (
                    <li key={each}>
                      <span class="person">
                        <span class="waiting">Somebody who waits</span>
                      </span>
                    </li>
                  ))
                : items.map((phone) => (
                    <li key={phone.candidate_id}>
                      <Link class="person" to={to(phone.candidate_id)} current={phone.candidate_id === id}>
                        <span class="avatar" aria-hidden="true">
                          {initials(phone.name)}
                        </span>
                        <span class="person-words">
                          <span class="row between">
                            <strong>{phone.name}</strong>
                            {phone.status === 'pending' && !phone.part ? (
                              <span class="badge wait">you answer</span>
                            ) : (
                              <Badge state={phone.status} />
                            )}
                          </span>
                          <span class="soft small last-words">
                            {phone.part ? `${PARTS[phone.part]?.name}: ` : ''}
                            {phone.last?.text ?? 'nothing arrived yet'}
                          </span>
                        </span>
                      </Link>
                    </li>
                  ))}
              {items?.length === 0 && <li class="soft person">Nobody fits.</li>}
            </ul>
            {list.more && (
              <Action type="button" onClick={list.more} busy={list.loading}>
                Show more
              </Action>
            )}
          </aside>
          {id ? (
            <Picked key={id} candidateId={id} onChange={() => void list.reload()} />
          ) : (
            <p class="soft pick">Pick somebody from the list.</p>
          )}
        </div>
      )}
    </>
  )
}

function Picked({ candidateId, onChange }: { candidateId: string; onChange: () => void }) {
  const place = usePlace()
  const [candidate, setCandidate] = useState<Candidate>()
  return (
    <>
      <Handset
        candidateId={candidateId}
        onCandidate={(next) => {
          if (candidate) onChange()
          setCandidate(next)
        }}
      />
      <div class="stack">
        {candidate && (
          <>
            <LiveResult resultId={candidate.result_id} turn={candidate.messages.length} />
            <p class="row small">
              <Link to={place.go(`/candidates/${candidate.candidate_id}`)}>Every message with its state</Link>
              {candidate.link && (
                <a href={candidate.link} target="_blank" rel="noreferrer">
                  Personal page
                </a>
              )}
            </p>
          </>
        )}
      </div>
    </>
  )
}
