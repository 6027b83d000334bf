import type { AdapterName, AtsAdapter } from './adapter.ts'
import { ashby } from './ashby/adapter.ts'
import { greenhouse } from './greenhouse/adapter.ts'
import { workable } from './workable/adapter.ts'

/** All adapters by name. */
export const adapters: Record<AdapterName, AtsAdapter> = { greenhouse, ashby, workable }

/** Returns the addresses that the ATS is given. */
export function endpointUrls(adapter: AdapterName, publicUrl: string): { name: string; url: string }[] {
  return adapters[adapter].endpoints.map(({ name, path }) => ({ name, url: `${publicUrl}/ats/${adapter}${path}` }))
}
