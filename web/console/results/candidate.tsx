import { useEffect, useState } from 'preact/hooks'
import { Notice } from '../../ui/notice.tsx'
import { Time } from '../../ui/time.tsx'
import { Conversation } from '../phone/conversation.tsx'
import { Fact, Facts } from '../shared/description-list.tsx'
import type { Candidate } from '../shared/records.ts'
import { useData } from '../shell/loading.ts'
import { Call } from './call.tsx'
import { LiveResult } from './live-result.tsx'
import { Outcome } from './result-output.tsx'
import './results.css'
import { channelName, languageName, PARTS, whyNothingSent } from '../shared/labels.ts'
import { Link, type Params } from '../shell/router.tsx'
import { usePlace } from '../shell/session.ts'

export default function CandidatePage({ params }: { params: Params }) {
  const place = usePlace()
  const [open, setOpen] = useState(true)
  const { data, refusal } = useData<Candidate>(place.at(`/candidates/${params.candidate_id}`), {
    every: open ? 2000 : undefined,
  })
  useEffect(() => setOpen(data === undefined || data.status === 'pending'), [data?.status])
  if (refusal) return <Notice kind="bad">{refusal.message}</Notice>
  if (!data) return <h1 class="waiting">Somebody's name</h1>
  const ended = data.status !== 'pending'
  const skipped = data.status === 'declined' && data.reason === 'stopped' && data.messages.length === 0
  return (
    <>
      <p>
        <Link to={place.go(`/campaigns/${data.campaign_id}`)}>The campaign</Link>
      </p>
      <div class="page-head">
        <h1>
          {data.name} <Outcome result={data} />
        </h1>
        {place.mode === 'test' && (
          <div class="row">
            <Link class="button" to={place.go(`/phone/${data.candidate_id}`)}>
              Open the phone
            </Link>
            {data.link && (
              <a class="button" href={data.link} target="_blank" rel="noreferrer">
                Personal page
              </a>
            )}
          </div>
        )}
      </div>
      <div class="two-columns">
        <section class="card" aria-label="Conversation">
          <h2>The conversation</h2>
          {data.messages.length === 0 ? (
            <p class="soft">
              {ended ? whyNothingSent(data) : 'Nothing was sent yet.'}{' '}
              {data.next_contact_at && (
                <>
                  The first message goes out <Time at={data.next_contact_at} />.
                </>
              )}
            </p>
          ) : (
            <Conversation messages={data.messages} detailed />
          )}
          {data.status === 'pending' && data.messages.length > 0 && data.next_contact_at && (
            <p class="channel-mark">
              Next follow-up <Time at={data.next_contact_at} />, unless there is a reply
            </p>
          )}
        </section>
        <div class="stack">
          <LiveResult resultId={data.result_id} turn={data.messages.length}>
            <Facts>
              <Fact name="Call">
                <Call phone={data.phone} email={data.email} />
              </Fact>
              <Fact name="Your id">{data.external_candidate_id}</Fact>
              <Fact name="Language">{languageName(data.language)}</Fact>
              <Fact name="Channel">{channelName(data.channel)}</Fact>
              {data.part && (
                <Fact name="Test number">
                  {PARTS[data.part]?.name}:{' '}
                  {skipped ? 'said STOP earlier, which holds for good' : PARTS[data.part]?.about}
                </Fact>
              )}
              {Object.entries(data.metadata).map(([name, value]) => (
                <Fact key={name} name={name}>
                  {value}
                </Fact>
              ))}
              <Fact name="Contacted">
                <Time at={data.started_at} />
              </Fact>
              <Fact name="Ended">
                <Time at={data.completed_at} />
              </Fact>
              <Fact name="Id">
                <code>{data.candidate_id}</code>
              </Fact>
            </Facts>
          </LiveResult>
        </div>
      </div>
    </>
  )
}
