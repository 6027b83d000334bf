import type { Context } from '../context.ts'
import type { App } from '../platform/http/server.ts'
import type { AdapterName } from './adapter.ts'
import { ashbyRoutes } from './ashby/routes.ts'
import { greenhouseRoutes } from './greenhouse/routes.ts'
import { komboRoutes } from './kombo/routes.ts'
import { workableRoutes } from './workable/routes.ts'

/** The path below which an ATS calls us, such as /ats/greenhouse. */
export function atsBase(adapter: AdapterName): string {
  return `/ats/${adapter}`
}

/** The routes of each ATS. */
export const atsRoutes: Record<AdapterName, (app: App, context: Context) => void> = {
  greenhouse: greenhouseRoutes,
  ashby: ashbyRoutes,
  workable: workableRoutes,
  kombo: komboRoutes,
}
