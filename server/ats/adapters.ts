import type { AdapterName, AtsAdapter } from './adapter.ts'
import { ashby } from './ashby/adapter.ts'
import { greenhouse } from './greenhouse/adapter.ts'
import { kombo } from './kombo/adapter.ts'
import { workable } from './workable/adapter.ts'

/** All adapters by name. */
export const adapters: Record<AdapterName, AtsAdapter> = { greenhouse, ashby, workable, kombo }

/** Returns the addresses that the ATS is given for a connection. */
export function endpointUrls(
  adapter: AdapterName,
  connectionId: string,
  publicUrl: string,
): { name: string; url: string }[] {
  return adapters[adapter].endpoints.map(({ name, path }) => ({
    name,
    url: `${publicUrl}/ats/${adapter}${path.replace(':connection_id', connectionId)}`,
  }))
}
