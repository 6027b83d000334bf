import type { KeyLimitUsage } from '../../api-types/console.ts'
import { richText } from '../../translations/rich-text.ts'
import { displayLocale, t } from '../../translations/translate.ts'
import { BarList } from '../../ui/bar-list.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Time } from '../../ui/time.tsx'
import { useData } from '../shell/loading.ts'

const LIMIT_NAMES: Record<string, string> = {
  key: t('All calls'),
  recruiter: t('Calls per recruiter'),
  reads: t('Reads'),
  skillsSearch: t('Skill search'),
  skillsLookup: t('Skill lookup'),
  skillsMatch: t('Skill match, extract'),
  skillRequests: t('Skill requests'),
  workflowWrites: t('Workflow changes'),
  mandateWrites: t('Job changes'),
  campaignWrites: t('Campaign changes'),
  itemWrites: t('Question bank changes'),
}

const POLL_INTERVAL_MS = 2000

/** The current usage of a key's limits. */
export function KeyLimits({ path }: { path: string }) {
  const { data, error } = useData<KeyLimitUsage>(path, { pollMs: POLL_INTERVAL_MS })
  if (error) return <Notice kind="bad">{error.message}</Notice>
  if (!data) return <p class="waiting">Limits of this key</p>
  const withoutUsage = data.buckets.filter(({ minute_used }) => minute_used === null)
  return (
    <>
      {data.cooldown_until && (
        <Notice kind="bad">
          {richText('This key is in cooldown until {time}.', { time: <Time at={data.cooldown_until} /> })}
        </Notice>
      )}
      <p class="soft small">
        {t(
          'Each bar shows the calls in the current minute and the limit per minute. The other limits are in smaller text.',
        )}
      </p>
      <BarList
        name={t('Calls in the current minute')}
        max={100}
        bars={[
          ...data.buckets.flatMap(({ name, minute_used, per_minute, per_second, burst, per_day }) =>
            minute_used === null
              ? []
              : [
                  {
                    key: name,
                    label: LIMIT_NAMES[name] ?? name,
                    value: (100 * minute_used) / per_minute,
                    tone: minute_used >= per_minute ? ('bad' as const) : ('good' as const),
                    number: `${minute_used} / ${per_minute}`,
                    note:
                      per_day === null
                        ? t('{perSecond} per second, bursts of {burst}', { perSecond: per_second, burst })
                        : t('{perSecond} per second, bursts of {burst}, {perDay} per day', {
                            perSecond: per_second,
                            burst,
                            perDay: per_day.toLocaleString(displayLocale()),
                          }),
                  },
                ],
          ),
          {
            key: 'people',
            label: t('People enrolled today (IST)'),
            value: (100 * data.people_today) / data.people_per_day,
            tone: data.people_today >= data.people_per_day ? ('bad' as const) : ('good' as const),
            number: `${data.people_today.toLocaleString(displayLocale())} / ${data.people_per_day.toLocaleString(displayLocale())}`,
            note: t('different people contacted'),
          },
        ]}
      />
      {withoutUsage.map(({ name, per_second, burst, per_minute }) => (
        <p key={name} class="soft small">
          {t('{name}: {perSecond} per second, bursts of {burst}, {perMinute} per minute.', {
            name: LIMIT_NAMES[name] ?? name,
            perSecond: per_second,
            burst,
            perMinute: per_minute,
          })}
        </p>
      ))}
    </>
  )
}
