import type { Context } from '../context.ts'
import { createLazySerializers } from '../platform/http/serializers.ts'
import type { App } from '../platform/http/server.ts'
import type { RequestLogger } from '../request-log/request-log.ts'
import { atsConsoleRoutes } from './ats/ats-routes.ts'
import { auditRoutes } from './audit-routes.ts'
import { guardConsoleRoutes } from './auth/guards.ts'
import { sessionRoutes } from './auth/session-routes.ts'
import { exportRoutes } from './candidates/export-routes.ts'
import { candidateReportRoutes } from './candidates/report-routes.ts'
import { candidateListRoutes } from './candidates/routes.ts'
import { channelRoutes } from './channels/channel-routes.ts'
import { templateRoutes } from './channels/template-routes.ts'
import { identityProviderRoutes } from './identity-providers/routes.ts'
import { providerSignInRoutes } from './identity-providers/sign-in-routes.ts'
import { deliveryDetailRoutes, latestEventRoutes } from './lists/log-routes.ts'
import { listRoutes } from './lists/routes.ts'
import { notificationRoutes } from './notifications/routes.ts'
import { catalogueRoutes } from './operator/catalogue-routes.ts'
import { importRoutes } from './operator/import-routes.ts'
import { jobAndEmailRoutes } from './operator/jobs-and-emails-routes.ts'
import { operatorAccountRoutes } from './operator/operator-account-routes.ts'
import { ringRoutes } from './operator/ring-routes.ts'
import { operatorRoutes } from './operator/routes.ts'
import { skillEditorRoutes } from './operator/skill-routes.ts'
import { suppressionRoutes } from './operator/suppression-routes.ts'
import { brandingRoutes } from './organisation/branding-routes.ts'
import { credentialSettingsRoutes } from './organisation/credential-routes.ts'
import { embedOriginRoutes } from './organisation/embed-origin-routes.ts'
import { keyRoutes } from './organisation/key-routes.ts'
import { memberSessionRoutes } from './organisation/member-session-routes.ts'
import { requestLogRoutes } from './organisation/request-log-routes.ts'
import { organisationRoutes } from './organisation/routes.ts'
import { verificationRoutes } from './organisation/verification-routes.ts'
import { phoneRoutes } from './phone/phone-routes.ts'
import { offboardingRoutes } from './privacy/offboarding-routes.ts'
import { privacyRoutes } from './privacy/privacy-routes.ts'
import { itemBankRoutes } from './questions/item-bank-routes.ts'
import { mandateQuestionRoutes } from './questions/mandate-question-routes.ts'
import { ownQuestionRoutes } from './questions/own-question-routes.ts'
import { questionRoutes } from './questions/question-routes.ts'
import { translationRoutes } from './questions/translation-routes.ts'
import { encodeResponses } from './response-encoding.ts'
import { searchRoutes } from './search/routes.ts'
import { secondFactorRoutes } from './second-factors/routes.ts'
import { viewRoutes } from './views/routes.ts'

/** Registers the console's own routes, and the partner API's routes behind the console's guards. */
export function consoleRoutes(
  app: App,
  context: Context,
  requestLogger: RequestLogger,
  partnerRoutes: (app: App, context: Context) => void,
): void {
  guardConsoleRoutes(app, context)
  encodeResponses(app)
  // The response schemas of the console only provide types: `JSON.stringify` is fast enough.
  app.setSerializerCompiler((() => JSON.stringify) as never)
  sessionRoutes(app, context)
  providerSignInRoutes(app, context)
  secondFactorRoutes(app, context)
  identityProviderRoutes(app, context)
  organisationRoutes(app, context)
  memberSessionRoutes(app, context)
  auditRoutes(app, context)
  keyRoutes(app, context)
  embedOriginRoutes(app, context)
  atsConsoleRoutes(app, context)
  templateRoutes(app, context)
  channelRoutes(app, context)
  requestLogRoutes(app, context, requestLogger)
  candidateListRoutes(app, context)
  listRoutes(app, context)
  latestEventRoutes(app, context)
  deliveryDetailRoutes(app, context)
  viewRoutes(app, context)
  searchRoutes(app, context)
  phoneRoutes(app, context)
  verificationRoutes(app, context)
  exportRoutes(app, context)
  candidateReportRoutes(app, context)
  notificationRoutes(app, context)
  credentialSettingsRoutes(app, context)
  itemBankRoutes(app, context)
  questionRoutes(app, context)
  ownQuestionRoutes(app, context)
  mandateQuestionRoutes(app, context)
  translationRoutes(app, context)
  operatorRoutes(app, context)
  operatorAccountRoutes(app, context)
  catalogueRoutes(app, context)
  importRoutes(app, context)
  skillEditorRoutes(app, context)
  jobAndEmailRoutes(app, context, requestLogger)
  suppressionRoutes(app, context)
  ringRoutes(app, context)
  brandingRoutes(app, context)
  privacyRoutes(app, context)
  offboardingRoutes(app, context)
  app.register(
    async (scope) => {
      scope.setSerializerCompiler(createLazySerializers() as never)
      partnerRoutes(scope as App, context)
    },
    { prefix: '/orgs/:org/:mode' },
  )
}
