import { useEffect, useRef, useState } from 'preact/hooks'
import { useZone } from '../../ui/time.tsx'
import type { Campaign, Mandate } from '../shared/records.ts'
import { api } from '../shell/api.ts'
import { usePlace } from '../shell/session.ts'

const NAMELESS = 'Campaign'
const minute = { month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit' } as const
const started = {
  here: new Intl.DateTimeFormat(undefined, minute),
  india: new Intl.DateTimeFormat('en-IN', { ...minute, timeZone: 'Asia/Kolkata' }),
}

/** A campaign without a name is called after its job. */
export function campaignName({ name }: Pick<Campaign, 'name'>, job: Pick<Mandate, 'title'> | undefined): string {
  return name ?? job?.title ?? NAMELESS
}

/**
 * What these campaigns are called beside each other: where two are alike, the start tells them apart.
 * Those that are only known by their id are read.
 */
export function useCampaignNames(known: Campaign[] | undefined, ids: string[] = []): (campaignId: string) => string {
  const place = usePlace()
  const [zone] = useZone()
  const listed = new Set(known?.map(({ campaign_id }) => campaign_id))
  const unknown = known ? distinct(ids).filter((id) => !listed.has(id)) : []
  const read = useEach<Campaign>(unknown.map((id) => place.at(`/campaigns/${id}`)))
  const campaigns = [...(known ?? []), ...read.values()]
  const jobOf = ({ mandate_id }: Campaign) => place.at(`/mandates/${mandate_id}`)
  const jobs = useEach<Mandate>(distinct(campaigns.filter(({ name }) => !name).map(jobOf)))
  const plain = new Map(campaigns.map((each) => [each.campaign_id, campaignName(each, jobs.get(jobOf(each)))]))
  const times = new Map<string, number>()
  for (const name of plain.values()) times.set(name, (times.get(name) ?? 0) + 1)
  const starts = new Map(campaigns.map(({ campaign_id, starts_at }) => [campaign_id, starts_at]))
  return (campaignId) => {
    const name = plain.get(campaignId) ?? NAMELESS
    const start = starts.get(campaignId)
    return start && times.get(name)! > 1 ? `${name}, ${started[zone].format(new Date(start))}` : name
  }
}

function distinct(texts: string[]): string[] {
  return [...new Set(texts)]
}

/** Each of these, by its path, as soon as it was read; none is read twice. */
function useEach<T>(paths: string[]): Map<string, T> {
  const [found, setFound] = useState(new Map<string, T>())
  const asked = useRef(new Set<string>())
  useEffect(() => {
    for (const path of paths) {
      if (asked.current.has(path)) continue
      asked.current.add(path)
      void api<T>(path).then((answer) => {
        if (answer.ok) setFound((known) => new Map(known).set(path, answer.data))
      })
    }
  }, [paths.join()])
  return found
}
