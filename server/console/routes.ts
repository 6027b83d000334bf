import type { Context } from '../context.ts'
import type { App } from '../platform/http.ts'
import { catalogueRoutes } from './catalogue-routes.ts'
import { exportRoutes } from './export-routes.ts'
import { guardConsoleRoutes } from './front-door.ts'
import { importRoutes } from './import-routes.ts'
import { keyRoutes } from './key-routes.ts'
import { operatorRoutes } from './operator-routes.ts'
import { organisationRoutes } from './organisation-routes.ts'
import { peopleRoutes } from './people-routes.ts'
import { phoneRoutes } from './phone-routes.ts'
import type { RequestLog } from './request-log.ts'
import { requestLogRoutes } from './request-log-routes.ts'
import { sessionRoutes } from './session-routes.ts'
import { verificationRoutes } from './verification-routes.ts'
import { workRoutes } from './work-routes.ts'

/** What the console's page calls: routes of its own, and behind the same front door the partner API's, for a person at work. */
export function consoleRoutes(
  app: App,
  context: Context,
  log: RequestLog,
  partnerRoutes: (app: App, context: Context) => void,
): void {
  guardConsoleRoutes(app, context)
  sessionRoutes(app, context)
  organisationRoutes(app, context)
  keyRoutes(app, context)
  requestLogRoutes(app, context, log)
  peopleRoutes(app, context)
  phoneRoutes(app, context)
  verificationRoutes(app, context)
  exportRoutes(app, context)
  operatorRoutes(app, context)
  catalogueRoutes(app, context)
  importRoutes(app, context)
  workRoutes(app, context, log)
  app.register(async (scope) => partnerRoutes(scope as App, context), { prefix: '/orgs/:org/:mode' })
}
