import type { ComponentChildren } from 'preact'
import type { AnalyticsOverview } from '../../api-types/partner.ts'
import { richText } from '../../translations/rich-text.ts'
import { displayLocale, t } from '../../translations/translate.ts'
import { BarList, type Tone } from '../../ui/bar-list.tsx'
import { DailyChart } from '../../ui/daily-chart.tsx'
import { StackedBar } from '../../ui/stacked-bar.tsx'
import { Table } from '../../ui/table.tsx'
import { channelName, languageName } from '../shared/labels.ts'
import { Link } from '../shell/router.tsx'
import { useOrgContext } from '../shell/session.ts'
import { type Filters, withQuery } from './filters.tsx'
import { durationText, numberLabel } from './numbers.ts'
import { DROP_OFF_LABELS, resultCount, STAGES } from './overview.ts'

const CHANNEL_COUNT_LABELS = {
  sent: t('Sent'),
  delivered: t('Delivered'),
  read: t('Read'),
  replied: t('Replied'),
  failed: t('Failed'),
} as const

const DAILY_COUNT_LABELS = {
  enrolled: t('Enrolled'),
  completed: t('Completed'),
  declined: t('Declined'),
  failed: t('Failed'),
} as const

/** Returns the stage before another; the last two stages are both parts of the completed results. */
function previousStage(index: number): (typeof STAGES)[number][0] {
  return index >= STAGES.length - 2 ? 'completed' : STAGES[index - 1]![0]
}

/** Returns the counts that are shown of a channel. Most providers of SMS, calls and emails do not report whether a message was read. */
function shownCounts(channel: string, { read }: { read: number }): (keyof typeof CHANNEL_COUNT_LABELS)[] {
  const isReadReported = channel === 'whatsapp' || read > 0
  return ['sent', 'delivered', ...(isReadReported ? (['read'] as const) : []), 'replied', 'failed']
}

/** All charts of the analytics overview. */
export function Charts({ data, filters }: { data: AnalyticsOverview | undefined; filters: Filters }) {
  if (!data) {
    return (
      <div class="charts" aria-busy="true">
        <Chart title={t('Funnel')} wide>
          <div class="waiting chart-waiting">loading</div>
        </Chart>
      </div>
    )
  }
  const { funnel, channels, follow_ups, calls, drop_offs, languages, daily } = data
  const dropOffCount = drop_offs.reduce((total, { candidates }) => total + candidates, 0)
  return (
    <div class="charts">
      <Chart
        title={t('Funnel')}
        description={t(
          'How many enrolled candidates reached each stage. Grey bars are outcomes of those who completed.',
        )}
        wide
      >
        <p class="funnel-head soft small" aria-hidden="true">
          <span class="share">{t('of enrolled')}</span> <span class="share">{t('of previous')}</span>
        </p>
        <BarList
          name={t('Funnel')}
          max={funnel.enrolled}
          bars={STAGES.map(([stage, label], index) => ({
            key: stage,
            label,
            value: funnel[stage],
            tone: (stage === 'qualified' || stage === 'interested' ? 'quiet' : 'good') as Tone,
            number: (
              <CountLink filters={filters} path={`funnel.${stage}`} value={funnel[stage]}>
                <span class="soft share">{percent(funnel[stage], funnel.enrolled)}</span>{' '}
                <span class="soft share">{index > 0 && percent(funnel[stage], funnel[previousStage(index)])}</span>
              </CountLink>
            ),
          }))}
        />
      </Chart>
      <Chart title={t('Day by day')} description={t('Candidates enrolled and results received on each day.')} wide>
        <DailyChart
          name={t('Results day by day: {count} in total', {
            count: resultCount(data).toLocaleString(displayLocale()),
          })}
          lineName={t('Enrolled')}
          series={[
            { name: t('Completed'), tone: 'good' },
            { name: t('Declined'), tone: 'wait' },
            { name: t('Failed'), tone: 'bad' },
          ]}
          days={daily.map(({ date, enrolled, completed, declined, failed }) => ({
            date,
            line: enrolled,
            amounts: [completed, declined, failed],
          }))}
        />
        <DayNumbers daily={daily} filters={filters} />
      </Chart>
      <div class="half-charts">
        <Chart
          title={t('Channels')}
          description={t(
            'First messages and follow-ups per channel. A candidate who replies counts once, on the channel of the first reply.',
          )}
        >
          {channels.length === 0 && <p class="soft">{t('No messages were sent.')}</p>}
          {channels.map(({ channel, ...counts }) => (
            <section key={channel} class="stack-tight" aria-label={channelName(channel)}>
              <h3>{channelName(channel)}</h3>
              <BarList
                name={channelName(channel)}
                bars={shownCounts(channel, counts).map((countName) => ({
                  key: countName,
                  label: CHANNEL_COUNT_LABELS[countName],
                  value: counts[countName],
                  tone: (countName === 'failed' ? 'bad' : countName === 'replied' ? 'good' : 'quiet') as Tone,
                  number: (
                    <CountLink filters={filters} path={`channels.${channel}.${countName}`} value={counts[countName]} />
                  ),
                }))}
              />
            </section>
          ))}
        </Chart>
        <Chart
          title={t('Follow-ups')}
          description={t('Follow-ups sent to candidates, and how many of them were answered.')}
        >
          {follow_ups.length === 0 ? (
            <p class="soft">{t('No follow-ups were sent.')}</p>
          ) : (
            <BarList
              name={t('Follow-ups')}
              bars={follow_ups.map(({ step, sent, replied }) => ({
                key: String(step),
                label: t('Follow-up {number}', { number: step }),
                value: sent,
                part: replied,
                number: <CountLink filters={filters} path={`follow_ups.${step}.sent`} value={sent} />,
                note: richText('{count} answered, {share}', {
                  count: <CountLink filters={filters} path={`follow_ups.${step}.replied`} value={replied} />,
                  share: percent(replied, sent),
                }),
              }))}
            />
          )}
        </Chart>
        <Chart
          title={t('Drop-offs')}
          description={t('Candidates who declined or did not finish, by the last stage they reached.')}
        >
          <BarList
            name={t('Drop-offs')}
            max={dropOffCount}
            bars={drop_offs.map(({ at, candidates }) => ({
              key: at,
              label: DROP_OFF_LABELS[at] ?? at,
              value: candidates,
              tone: 'bad' as Tone,
              number: <CountLink filters={filters} path={`drop_offs.${at}`} value={candidates} />,
            }))}
          />
        </Chart>
        <Chart
          title={t('Languages')}
          description={t('Candidates per language, and how many of them have a completed result.')}
        >
          {languages.length === 0 ? (
            <p class="soft">{t('No candidates yet.')}</p>
          ) : (
            <BarList
              name={t('Languages')}
              bars={languages.map(({ language, candidates, completed }) => ({
                key: language,
                label: languageName(language),
                value: candidates,
                part: completed,
                number: <CountLink filters={filters} path={`languages.${language}.candidates`} value={candidates} />,
                note: richText('{count} completed, {share}', {
                  count: <CountLink filters={filters} path={`languages.${language}.completed`} value={completed} />,
                  share: percent(completed, candidates),
                }),
              }))}
            />
          )}
        </Chart>
        <Chart title={t('Calls')} description={t('Outcomes of the phone calls to candidates.')}>
          {calls.placed === 0 ? (
            <p class="soft">{t('No calls were placed.')}</p>
          ) : (
            <>
              <StackedBar
                shares={(
                  [
                    ['answered', t('Answered'), 'good'],
                    ['no_answer', t('Not answered'), 'quiet'],
                    ['busy', t('Busy'), 'wait'],
                    ['failed', t('Failed'), 'bad'],
                  ] as const
                ).map(([outcome, name, tone]) => ({
                  name,
                  value: calls[outcome],
                  tone,
                  number: <CountLink filters={filters} path={`calls.${outcome}`} value={calls[outcome]} />,
                }))}
              />
              <p class="soft small">
                {richText('{placed} placed · {total} in total · {average} on average', {
                  placed: <CountLink filters={filters} path="calls.placed" value={calls.placed} />,
                  total: (
                    <CountLink
                      filters={filters}
                      path="calls.total_seconds"
                      value={calls.total_seconds}
                      text={durationText}
                    />
                  ),
                  average: durationText(calls.average_seconds),
                })}
              </p>
            </>
          )}
        </Chart>
      </div>
    </div>
  )
}

interface ChartProps {
  title: string
  description?: string
  wide?: boolean
  children: ComponentChildren
}

function Chart({ title, description, wide, children }: ChartProps) {
  return (
    <section class={`card stack ${wide ? 'wide-chart' : ''}`} aria-label={title}>
      <div>
        <h2>{title}</h2>
        {description && <p class="soft small">{description}</p>}
      </div>
      {children}
    </section>
  )
}

interface CountLinkProps {
  filters: Filters
  /** Path of the number in the analytics overview, such as `funnel.enrolled`. */
  path: string
  value: number
  text?: (value: number) => string
  children?: ComponentChildren
}

/** A number that links to the list of the candidates it counts. */
function CountLink({
  filters,
  path,
  value,
  text = (amount) => amount.toLocaleString(displayLocale()),
  children,
}: CountLinkProps) {
  const context = useOrgContext()
  return (
    <>
      {value === 0 ? (
        <span class="soft">{text(0)}</span>
      ) : (
        <Link
          class="count-link"
          to={context.pagePath(withQuery('/analytics/candidates', { counted: path, ...filters }))}
        >
          <span class="hidden-text">{numberLabel(path).name}: </span>
          {text(value)}
        </Link>
      )}{' '}
      {children}
    </>
  )
}

function DayNumbers({ daily, filters }: { daily: AnalyticsOverview['daily']; filters: Filters }) {
  const activeDays = daily.filter(
    ({ enrolled, completed, declined, failed }) => enrolled + completed + declined + failed > 0,
  )
  if (activeDays.length === 0) return null
  return (
    <details>
      <summary>{t('Numbers per day')}</summary>
      <div class="details-body">
        <Table
          caption={t('Day by day')}
          rows={[...activeDays].reverse()}
          keyOf={({ date }) => date}
          empty={null}
          columns={[
            { name: t('Day'), cell: ({ date }) => date },
            ...(['enrolled', 'completed', 'declined', 'failed'] as const).map((countName) => ({
              name: DAILY_COUNT_LABELS[countName],
              right: true,
              cell: (day: AnalyticsOverview['daily'][number]) => (
                <CountLink filters={filters} path={`daily.${day.date}.${countName}`} value={day[countName]} />
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
