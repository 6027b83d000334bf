import { Bars } from '../../ui/chart-bars.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Time } from '../../ui/time.tsx'
import { useData } from '../shell/loading.ts'

interface Limits {
  cooldown_until: string | null
  buckets: {
    name: string
    per_second: number
    burst: number
    per_minute: number
    per_day: number | null
    /** Not counted for the limits of the whole key and of one recruiter. */
    minute_used: number | null
    minute_resets_in: number | null
  }[]
  people_per_day: number
  people_today: number
}

const NAMES: Record<string, string> = {
  key: 'All calls together',
  recruiter: 'Calls for one recruiter',
  reads: 'Reads',
  skillsSearch: 'Skill search',
  skillsLookup: 'Skill lookup',
  skillsMatch: 'Skill match, extract',
  skillRequests: 'Skill requests',
  workflowWrites: 'Workflow changes',
  mandateWrites: 'Mandate changes',
  campaignWrites: 'Campaign changes',
}

/** How much of a key's limits is used at this moment. */
export function KeyLimits({ path }: { path: string }) {
  const { data, refusal } = useData<Limits>(path, { every: 2000 })
  if (refusal) return <Notice kind="bad">{refusal.message}</Notice>
  if (!data) return <p class="waiting">The limits of this key</p>
  const whole = data.buckets.filter(({ minute_used }) => minute_used === null)
  return (
    <>
      {data.cooldown_until && (
        <Notice kind="bad">
          In cooldown until <Time at={data.cooldown_until} />.
        </Notice>
      )}
      <p class="soft small">
        Calls in this minute, of those allowed. A day's limit stands beside it where there is one.
      </p>
      <Bars
        name="Calls in this minute"
        most={100}
        bars={[
          ...data.buckets.flatMap(({ name, minute_used, per_minute, per_second, burst, per_day }) =>
            minute_used === null
              ? []
              : [
                  {
                    key: name,
                    label: NAMES[name] ?? name,
                    value: (100 * minute_used) / per_minute,
                    tone: minute_used >= per_minute ? ('bad' as const) : ('good' as const),
                    number: `${minute_used} / ${per_minute}`,
                    note: `${per_second} a second, ${burst} at once${per_day === null ? '' : `, ${per_day.toLocaleString()} a day`}`,
                  },
                ],
          ),
          {
            key: 'people',
            label: 'People today (IST)',
            value: (100 * data.people_today) / data.people_per_day,
            tone: data.people_today >= data.people_per_day ? ('bad' as const) : ('good' as const),
            number: `${data.people_today.toLocaleString()} / ${data.people_per_day.toLocaleString()}`,
            note: 'different people contacted',
          },
        ]}
      />
      {whole.map(({ name, per_second, burst, per_minute }) => (
        <p key={name} class="soft small">
          {NAMES[name] ?? name}: {per_second} a second, {burst} at once, {per_minute} a minute.
        </p>
      ))}
    </>
  )
}
