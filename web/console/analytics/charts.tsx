import type { ComponentChildren } from 'preact'
import { Bars, type Tone } from '../../ui/chart-bars.tsx'
import { Days } from '../../ui/chart-days.tsx'
import { Shares } from '../../ui/chart-shares.tsx'
import { Table } from '../../ui/table.tsx'
import { channelName, languageName } from '../shared/labels.ts'
import { Link } from '../shell/router.tsx'
import { usePlace } from '../shell/session.ts'
import { type Filters, withQuery } from './filters.tsx'
import { durationText, numberWords } from './numbers.ts'
import { DROP_OFFS, endsIn, type Overview, STAGES } from './overview.ts'

/** Everything of an overview, each number beside its picture. */
export function Pictures({ data, filters }: { data: Overview | undefined; filters: Filters }) {
  if (!data) {
    return (
      <div class="pictures" aria-busy="true">
        <Picture title="Funnel" wide>
          <div class="waiting picture-waiting">waiting</div>
        </Picture>
      </div>
    )
  }
  const { funnel, channels, follow_ups, calls, drop_offs, languages, daily } = data
  const ends = drop_offs.reduce((total, { candidates }) => total + candidates, 0)
  return (
    <div class="pictures">
      <Picture title="Funnel" about="How many of those enrolled came how far." wide>
        <Bars
          name="Funnel"
          most={funnel.enrolled}
          bars={STAGES.map(([stage, label]) => ({
            key: stage,
            label,
            value: funnel[stage],
            tone: (stage === 'qualified' || stage === 'interested' ? 'quiet' : 'good') as Tone,
            number: (
              <Behind filters={filters} path={`funnel.${stage}`} value={funnel[stage]}>
                <span class="soft share">{percent(funnel[stage], funnel.enrolled)}</span>
              </Behind>
            ),
          }))}
        />
      </Picture>
      <Picture title="Day by day" about="Who was enrolled on each day, and whose result came on it." wide>
        <Days
          name={`Results day by day: ${endsIn(data).toLocaleString()} in all`}
          line="Enrolled"
          series={[
            { name: 'Completed', tone: 'good' },
            { name: 'Declined', tone: 'wait' },
            { name: 'Failed', tone: 'bad' },
          ]}
          days={daily.map(({ date, enrolled, completed, declined, failed }) => ({
            date,
            line: enrolled,
            amounts: [completed, declined, failed],
          }))}
        />
        <DayNumbers daily={daily} filters={filters} />
      </Picture>
      <div class="half-pictures">
        <Picture title="Channels" about="First messages and follow-ups; a candidate's replies count once.">
          {channels.length === 0 && <p class="soft">Nothing was sent.</p>}
          {channels.map(({ channel, ...counts }) => (
            <section key={channel} class="stack-tight" aria-label={channelName(channel)}>
              <h3>{channelName(channel)}</h3>
              <Bars
                name={channelName(channel)}
                bars={(['sent', 'delivered', 'read', 'replied', 'failed'] as const).map((what) => ({
                  key: what,
                  label: capital(what),
                  value: counts[what],
                  tone: (what === 'failed' ? 'bad' : what === 'replied' ? 'good' : 'quiet') as Tone,
                  number: <Behind filters={filters} path={`channels.${channel}.${what}`} value={counts[what]} />,
                }))}
              />
            </section>
          ))}
        </Picture>
        <Picture title="Follow-ups" about="Sent, and how many of them were answered.">
          {follow_ups.length === 0 ? (
            <p class="soft">No follow-up was due.</p>
          ) : (
            <Bars
              name="Follow-ups"
              bars={follow_ups.map(({ step, sent, replied }) => ({
                key: String(step),
                label: `Follow-up ${step}`,
                value: sent,
                part: replied,
                number: <Behind filters={filters} path={`follow_ups.${step}.sent`} value={sent} />,
                note: (
                  <>
                    <Behind filters={filters} path={`follow_ups.${step}.replied`} value={replied} /> answered,{' '}
                    {percent(replied, sent)}
                  </>
                ),
              }))}
            />
          )}
        </Picture>
        <Picture title="Drop-offs" about="Where those who declined or failed were lost.">
          <Bars
            name="Drop-offs"
            most={ends}
            bars={drop_offs.map(({ at, candidates }) => ({
              key: at,
              label: DROP_OFFS[at] ?? at,
              value: candidates,
              tone: 'bad' as Tone,
              number: <Behind filters={filters} path={`drop_offs.${at}`} value={candidates} />,
            }))}
          />
        </Picture>
        <Picture title="Languages" about="Candidates in each; the darker part completed.">
          {languages.length === 0 ? (
            <p class="soft">Nobody yet.</p>
          ) : (
            <Bars
              name="Languages"
              bars={languages.map(({ language, candidates, completed }) => ({
                key: language,
                label: languageName(language),
                value: candidates,
                part: completed,
                number: <Behind filters={filters} path={`languages.${language}.candidates`} value={candidates} />,
                note: (
                  <>
                    <Behind filters={filters} path={`languages.${language}.completed`} value={completed} /> completed,{' '}
                    {percent(completed, candidates)}
                  </>
                ),
              }))}
            />
          )}
        </Picture>
        <Picture title="Calls" about="What became of each call that was placed.">
          {calls.placed === 0 ? (
            <p class="soft">No call was placed.</p>
          ) : (
            <>
              <Shares
                shares={(
                  [
                    ['answered', 'Answered', 'good'],
                    ['no_answer', 'Not answered', 'quiet'],
                    ['busy', 'Busy', 'wait'],
                    ['failed', 'Failed', 'bad'],
                  ] as const
                ).map(([outcome, name, tone]) => ({
                  name,
                  value: calls[outcome],
                  tone,
                  number: <Behind filters={filters} path={`calls.${outcome}`} value={calls[outcome]} />,
                }))}
              />
              <p class="soft small">
                <Behind filters={filters} path="calls.placed" value={calls.placed} /> placed ·{' '}
                <Behind filters={filters} path="calls.total_seconds" value={calls.total_seconds} text={durationText} />{' '}
                in all · {durationText(calls.average_seconds)} on average
              </p>
            </>
          )}
        </Picture>
      </div>
    </div>
  )
}

interface PictureProps {
  title: string
  about?: string
  wide?: boolean
  children: ComponentChildren
}

function Picture({ title, about, wide, children }: PictureProps) {
  return (
    <section class={`card stack ${wide ? 'wide-picture' : ''}`} aria-label={title}>
      <div>
        <h2>{title}</h2>
        {about && <p class="soft small">{about}</p>}
      </div>
      {children}
    </section>
  )
}

interface BehindProps {
  filters: Filters
  /** Of the number in the overview. */
  path: string
  value: number
  text?: (value: number) => string
  children?: ComponentChildren
}

/** A number, and the way to the candidates that it was counted from. */
function Behind({ filters, path, value, text = (amount) => amount.toLocaleString(), children }: BehindProps) {
  const place = usePlace()
  return (
    <>
      {value === 0 ? (
        <span class="soft">{text(0)}</span>
      ) : (
        <Link to={place.go(withQuery('/analytics/candidates', { counted: path, ...filters }))}>
          <span class="hidden-text">{numberWords(path).name}: </span>
          {text(value)}
        </Link>
      )}{' '}
      {children}
    </>
  )
}

function DayNumbers({ daily, filters }: { daily: Overview['daily']; filters: Filters }) {
  const busy = daily.filter(({ enrolled, completed, declined, failed }) => enrolled + completed + declined + failed > 0)
  if (busy.length === 0) return null
  return (
    <details>
      <summary>The numbers of each day</summary>
      <div class="details-body">
        <Table
          caption="Day by day"
          rows={[...busy].reverse()}
          keyOf={({ date }) => date}
          empty={null}
          columns={[
            { name: 'Day', cell: ({ date }) => date },
            ...(['enrolled', 'completed', 'declined', 'failed'] as const).map((what) => ({
              name: capital(what),
              right: true,
              cell: (day: Overview['daily'][number]) => (
                <Behind filters={filters} path={`daily.${day.date}.${what}`} value={day[what]} />
              ),
            })),
          ]}
        />
      </div>
    </details>
  )
}

function percent(part: number, whole: number): string {
  return whole === 0 ? '' : `${Math.round((100 * part) / whole)} %`
}

function capital(word: string): string {
  return word[0]!.toUpperCase() + word.slice(1)
}
