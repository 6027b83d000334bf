import { useEffect, useRef, useState } from 'preact/hooks'
import type { Campaign, Mandate } from '../../api-types/partner.ts'
import { displayLocale, t } from '../../translations/translate.ts'
import { useZone } from '../../ui/time.tsx'
import { api } from '../shell/api.ts'
import { useOrgContext } from '../shell/session.ts'

const DEFAULT_NAME = t('Campaign')
const minuteFormat = { month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit' } as const
const startFormats = {
  here: new Intl.DateTimeFormat(displayLocale(), minuteFormat),
  india: new Intl.DateTimeFormat(displayLocale() ?? 'en-IN', { ...minuteFormat, timeZone: 'Asia/Kolkata' }),
}

/** Returns the name of a campaign; without a name, the title of its job. */
export function campaignName({ name }: Pick<Campaign, 'name'>, job: Pick<Mandate, 'title'> | undefined): string {
  return name ?? job?.title ?? DEFAULT_NAME
}

/**
 * Returns a function that names campaigns. Campaigns with the same name are distinguished by their start time.
 * Campaigns that are given only by ID are loaded.
 */
export function useCampaignNames(
  listedCampaigns: Campaign[] | undefined,
  ids: string[] = [],
): (campaignId: string) => string {
  const context = useOrgContext()
  const [zone] = useZone()
  const listedIds = new Set(listedCampaigns?.map(({ campaign_id }) => campaign_id))
  const missingIds = listedCampaigns ? distinct(ids).filter((id) => !listedIds.has(id)) : []
  const loaded = useObjectsByPath<Campaign>(missingIds.map((id) => context.apiPath(`/campaigns/${id}`)))
  const campaigns = [...(listedCampaigns ?? []), ...loaded.values()]
  const mandatePath = ({ mandate_id }: Campaign) => context.apiPath(`/mandates/${mandate_id}`)
  const jobs = useObjectsByPath<Mandate>(distinct(campaigns.filter(({ name }) => !name).map(mandatePath)))
  const campaignNames = new Map(
    campaigns.map((each) => [each.campaign_id, campaignName(each, jobs.get(mandatePath(each)))]),
  )
  const nameCounts = new Map<string, number>()
  for (const name of campaignNames.values()) nameCounts.set(name, (nameCounts.get(name) ?? 0) + 1)
  const startTimes = new Map(campaigns.map(({ campaign_id, starts_at }) => [campaign_id, starts_at]))
  return (campaignId) => {
    const name = campaignNames.get(campaignId) ?? DEFAULT_NAME
    const start = startTimes.get(campaignId)
    return start && nameCounts.get(name)! > 1 ? `${name}, ${startFormats[zone].format(new Date(start))}` : name
  }
}

function distinct(texts: string[]): string[] {
  return [...new Set(texts)]
}

/** Loads each path once, and returns the loaded objects by path. */
function useObjectsByPath<T>(paths: string[]): Map<string, T> {
  const [found, setFound] = useState(new Map<string, T>())
  const requested = useRef(new Set<string>())
  useEffect(() => {
    for (const path of paths) {
      if (requested.current.has(path)) continue
      requested.current.add(path)
      void api<T>(path).then((response) => {
        if (response.ok) setFound((previous) => new Map(previous).set(path, response.data))
      })
    }
  }, [paths.join()])
  return found
}
